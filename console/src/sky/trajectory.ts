import { api } from "../data/api.ts";
import type { Point } from "./motion.ts";

/** The states of bodies during an N-body run, at evenly spread times of the universe. */
export interface Trajectory {
  job: string;
  /** The version of the universe that the run started from. */
  version: number;
  ids: readonly string[];
  /** The time of the first state, the time between two, and their number. */
  start: number;
  step: number;
  count: number;
  /** Six numbers for each body, for each time: position and velocity in the reference frame, in AU and days. */
  states: Float32Array;
  /** The largest error of a body during the run, in degrees of its orbit. */
  errorDegrees: number | undefined;
}

const PAGE = 10_000;
const NUMBERS = 6;

/** Read the trajectory of an N-body job that is done. */
export async function loadTrajectory(universe: string, job: string, signal?: AbortSignal): Promise<Trajectory> {
  const path = { universe_id: universe, job_id: job };
  const described = await api.get("/api/universes/{universe_id}/jobs/{job_id}", { path, signal });
  const template = "/api/universes/{universe_id}/jobs/{job_id}/trajectory";
  const layout = await api.get(template, { path, query: { limit: 1 }, signal });
  const states = new Float32Array(layout.count * layout.ids.length * NUMBERS);
  for (let first = 0; first < layout.count; first += PAGE) {
    const query = { first, limit: PAGE, format: "float32" as const };
    const bytes = await api.getBytes(template, { path, query, signal });
    states.set(new Float32Array(bytes), first * layout.ids.length * NUMBERS);
  }
  const errors = Object.values(layout.error ?? {}).flatMap((one) => one?.degrees ?? []);
  return {
    job,
    version: described.version,
    ids: layout.ids,
    start: (described.summary?.time ?? 0) + layout.firstDay,
    step: layout.stepDays,
    count: layout.count,
    states,
    errorDegrees: errors.length ? Math.max(...errors) : undefined,
  };
}

/** Return whether a trajectory has states before and after a time. */
export function coversTime({ start, step, count }: Trajectory, time: number): boolean {
  const place = (time - start) / step;
  return place >= 0 && place <= count - 1;
}

/**
 * Write the position of a body of a trajectory into `out`, in the scene of the API, by cubic interpolation between
 * two states. Return false outside of the run, and for a body that has merged into another.
 */
export function interpolate(trajectory: Trajectory, body: number, time: number, out: Point): boolean {
  if (!coversTime(trajectory, time)) return false;
  const { ids, step, count, states } = trajectory;
  const place = (time - trajectory.start) / step;
  const before = Math.min(Math.floor(place), Math.max(count - 2, 0));
  const s = place - before;
  const at = (before * ids.length + body) * NUMBERS;
  const next = count > 1 ? at + ids.length * NUMBERS : at;
  const [h00, h10, h01, h11] = [
    (1 + 2 * s) * (1 - s) ** 2,
    s * (1 - s) ** 2 * step,
    s * s * (3 - 2 * s),
    s * s * (s - 1) * step,
  ];
  for (const [axis, target] of [0, 2, 1].entries()) {
    const value = (from: number, offset: number) => states[from + offset + axis] ?? Number.NaN;
    out[target] = h00 * value(at, 0) + h10 * value(at, 3) + h01 * value(next, 0) + h11 * value(next, 3);
  }
  return Number.isFinite(out[0] + out[1] + out[2]);
}
