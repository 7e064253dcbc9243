import { type Signal, signal } from "@preact/signals";
import type { CameraState } from "./drawing/camera.ts";

/** What a person sees and does in a sky. The page makes one; the sky, its bars and the side panel share it. */
export interface SkyState {
  /** The time that is shown, in the unit of the universe; undefined until the universe is loaded. */
  time: Signal<number | undefined>;
  isPlaying: Signal<boolean>;
  /** Units of time that pass in a second; undefined until the universe is loaded. */
  speed: Signal<number | undefined>;
  /** The ids of the selected and of the followed body. */
  selected: Signal<string | undefined>;
  followed: Signal<string | undefined>;
  /** Undefined: chosen by the universe. */
  camera: Signal<CameraState | undefined>;
  isLog: Signal<boolean | undefined>;
  isReal: Signal<boolean>;
  hasOrbits: Signal<boolean>;
  hasTrails: Signal<boolean>;
  hasLabels: Signal<boolean>;
  hasZone: Signal<boolean>;
}

function readNumber(text: string | null): number | undefined {
  const value = text === null || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function readCamera(text: string | null): CameraState | undefined {
  const [yaw, pitch, distance] = (text ?? "").split(",").map(Number);
  if (yaw === undefined || pitch === undefined || distance === undefined) return undefined;
  if (![yaw, pitch, distance].every(Number.isFinite) || distance <= 0) return undefined;
  return { yaw, pitch: Math.min(Math.max(pitch, -Math.PI / 2), Math.PI / 2), distance };
}

/** Make the state that an address describes. */
export function makeSkyState(query: URLSearchParams = new URLSearchParams()): SkyState {
  const time = readNumber(query.get("t"));
  const isStill = time !== undefined || matchMedia("(prefers-reduced-motion: reduce)").matches;
  return {
    time: signal(time),
    isPlaying: signal(!isStill),
    speed: signal(readNumber(query.get("speed"))),
    selected: signal(query.get("body") ?? undefined),
    followed: signal(query.get("follow") ?? undefined),
    camera: signal(readCamera(query.get("view"))),
    isLog: signal(query.has("log") ? query.get("log") === "1" : undefined),
    isReal: signal(query.get("real") === "1"),
    hasOrbits: signal(query.get("orbits") !== "0"),
    hasTrails: signal(query.get("trails") === "1"),
    hasLabels: signal(query.get("labels") !== "0"),
    hasZone: signal(query.get("zone") !== "0"),
  };
}

/** Write the state into the parameters of an address; others stay. */
export function writeSkyState(state: SkyState, query: URLSearchParams): void {
  const set = (name: string, value: string | undefined) => {
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  };
  const camera = state.camera.value;
  const shorten = (value: number, digits = 5) => String(Number(value.toPrecision(digits)));
  set("t", state.time.value === undefined ? undefined : shorten(state.time.value, 12));
  set("speed", state.speed.value === undefined ? undefined : shorten(state.speed.value));
  set("body", state.selected.value);
  set("follow", state.followed.value);
  set("view", camera && [camera.yaw, camera.pitch, camera.distance].map((value) => shorten(value)).join(","));
  set("log", state.isLog.value === undefined ? undefined : state.isLog.value ? "1" : "0");
  set("real", state.isReal.value ? "1" : undefined);
  set("trails", state.hasTrails.value ? "1" : undefined);
  set("orbits", state.hasOrbits.value ? undefined : "0");
  set("labels", state.hasLabels.value ? undefined : "0");
  set("zone", state.hasZone.value ? undefined : "0");
}
