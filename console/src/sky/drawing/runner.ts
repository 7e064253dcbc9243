import { effect, signal } from "@preact/signals";
import type { Cast } from "../bodies.ts";
import type { Elements } from "../elements.ts";
import { computePosition, type Point } from "../motion.ts";
import { chooseScale, type Scale } from "../scale_bar.tsx";
import type { SkyData } from "../sky_data.ts";
import type { SkyState } from "../sky_state.ts";
import { chooseSpeed } from "../speeds.ts";
import type { Trajectory } from "../trajectory.ts";
import {
  type CameraState,
  computeFrame,
  computeReach,
  DEFAULT_PITCH,
  DEFAULT_YAW,
  type Frame,
  fitDistance,
  type Lens,
  makeLens,
  pixelsPerUnit,
  project,
  TOP_PITCH,
} from "./camera.ts";
import { Labels, type Place } from "./labels.ts";
import { SkyScene, type Zone } from "./scene.ts";
import { Tracker } from "./tracker.ts";

const LOG_FROM_RATIO = 30;
const PICK_PIXELS = 12;
const SAMPLES = 240;

/** Draws a sky: keeps the camera, plays the time, places the labels, finds what was clicked. */
export class SkyRunner {
  private readonly scene: SkyScene;
  private readonly labels: Labels;
  private readonly stops: (() => void)[] = [];
  private elements: Elements | undefined;
  private cast: Cast | undefined;
  private tracker: Tracker | undefined;
  private frame: Frame = { first: [1, 0, 0], second: [0, 0, 1], pole: [0, 1, 0] };
  private trajectory: Trajectory | undefined;
  private zone: Zone | undefined;
  /** How clearly the habitable zone is drawn, from 0 to 1. */
  readonly zoneStrength = signal(0);
  /** How long a distance is on the screen; undefined if distances are logarithmic. */
  readonly scale = signal<Scale | undefined>(undefined);
  private focus = -1;
  private reach = { nearest: 1, farthest: 1 };
  private width = 1;
  private height = 1;
  private frameRequest = 0;
  private lastFrame = 0;
  private readonly scriptTimes: number[] = [];
  private frames = 0;

  /** Throw an error if the browser cannot draw in three dimensions. */
  constructor(
    private readonly host: HTMLElement,
    parts: { canvas: HTMLCanvasElement; labels: HTMLElement; ring: HTMLElement },
    private readonly state: SkyState,
    private readonly onSelect: (id: string) => void,
  ) {
    this.scene = new SkyScene(parts.canvas, () => this.requestFrame());
    this.labels = new Labels(parts.labels, parts.ring, onSelect);
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(host);
    this.stops.push(() => observer.disconnect());
    this.stops.push(
      effect(() => {
        for (const one of Object.values(state)) void one.value;
        this.requestFrame();
      }),
      effect(() => this.follow(state.followed.value)),
    );
    this.resize();
  }

  /** Show the data of a version. The camera and the time stay, unless they were never set. */
  setData({ elements, cast }: SkyData): void {
    const { state } = this;
    const isSameUniverseTime = this.elements !== undefined && state.time.peek() === this.elements.time;
    this.elements = elements;
    this.cast = cast;
    this.frame = computeFrame(elements, cast);
    if (state.time.peek() === undefined || (isSameUniverseTime && !state.isPlaying.peek())) {
      state.time.value = elements.time;
    }
    this.focus = this.findFocus(state.followed.peek());
    this.reach = computeReach(elements, cast, this.focus);
    if (state.speed.peek() === undefined) state.speed.value = chooseSpeed(elements, cast);
    if (state.isLog.peek() === undefined) {
      state.isLog.value = this.reach.farthest / this.reach.nearest > LOG_FROM_RATIO;
    }
    if (state.camera.peek() === undefined) state.camera.value = this.makeHomeCamera();
    this.tracker = new Tracker(elements, cast, this.focus, this.trajectory);
    this.scene.setBodies(elements, cast, this.tracker);
    this.labels.setBodies(cast);
    this.requestFrame();
  }

  setZone(zone: Zone | undefined): void {
    this.zone = zone;
    this.scene.setZone(zone, this.frame.first, this.frame.second);
    this.requestFrame();
  }

  /** Move bodies as an N-body run computed it, or as their elements say. */
  setTrajectory(trajectory: Trajectory | undefined): void {
    const { elements, cast } = this;
    this.trajectory = trajectory;
    if (!elements || !cast) return;
    this.tracker = new Tracker(elements, cast, this.focus, trajectory);
    this.scene.setTracker(this.tracker, cast);
    this.requestFrame();
  }

  private findFocus(id: string | undefined): number {
    const found = id === undefined ? undefined : this.elements?.indexOf.get(id);
    return found ?? this.cast?.bodies[0]?.index ?? -1;
  }

  private makeHomeCamera(): CameraState {
    return { yaw: DEFAULT_YAW, pitch: DEFAULT_PITCH, distance: fitDistance(this.reach.farthest) };
  }

  /** Keep a body in the middle; undefined is the most important one. */
  private follow(id: string | undefined): void {
    const { elements, cast, state } = this;
    if (!elements || !cast) return;
    const focus = this.findFocus(id);
    if (focus === this.focus) return;
    this.focus = focus;
    this.reach = computeReach(elements, cast, focus);
    this.tracker = new Tracker(elements, cast, focus, this.trajectory);
    this.scene.setTracker(this.tracker, cast);
    const camera = state.camera.peek();
    if (camera) state.camera.value = { ...camera, distance: fitDistance(this.reach.farthest) };
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.host;
    this.width = Math.max(clientWidth, 1);
    this.height = Math.max(clientHeight, 1);
    this.scene.setSize(this.width, this.height, Math.min(devicePixelRatio, 2));
    this.requestFrame();
  }

  private requestFrame(): void {
    if (!this.frameRequest) this.frameRequest = requestAnimationFrame((now) => this.drawFrame(now));
  }

  private drawFrame(now: number): void {
    this.frameRequest = 0;
    const { state } = this;
    const time = state.time.peek();
    if (!this.tracker || time === undefined) return;
    const started = performance.now();
    if (state.isPlaying.peek()) {
      const elapsed = this.lastFrame ? Math.min(now - this.lastFrame, 250) : 0;
      this.lastFrame = now;
      state.time.value = time + (elapsed / 1_000) * (state.speed.peek() ?? 0);
      this.requestFrame();
    } else {
      this.lastFrame = 0;
    }
    this.draw(state.time.peek() ?? time);
    this.frames += 1;
    this.scriptTimes[this.frames % SAMPLES] = performance.now() - started;
  }

  private draw(time: number): void {
    const { state, tracker } = this;
    const lens = this.makeLens();
    if (!tracker || !lens) return;
    tracker.update(time);
    this.zoneStrength.value = this.computeZoneStrength(lens);
    this.updateScale(lens);
    const isReal = state.isReal.peek() && !state.isLog.peek();
    this.scene.draw(time, lens, this.focus, {
      isReal,
      hasOrbits: state.hasOrbits.peek(),
      hasTrails: state.hasTrails.peek(),
      speed: state.speed.peek() ?? 1,
      zoneStrength: this.zoneStrength.value,
    });
    const selected = state.selected.peek();
    this.labels.place(tracker, this.focus, lens, isReal, state.hasLabels.peek(), selected);
    if (selected !== undefined && !this.labels.places.has(selected)) this.markPoint(selected, time, lens);
  }

  private updateScale(lens: Lens): void {
    const next = lens.logStart ? undefined : chooseScale(pixelsPerUnit(lens, lens.distance));
    const now = this.scale.peek();
    if (next?.length !== now?.length || Math.abs((next?.pixels ?? 0) - (now?.pixels ?? 0)) > 0.5)
      this.scale.value = next;
  }

  /** Draw the ring about a selected body that has neither a disc nor a name. */
  private markPoint(id: string, time: number, lens: Lens): void {
    const { elements } = this;
    const index = elements?.indexOf.get(id);
    if (!elements || index === undefined) return;
    const [x, y, z] = computePosition(elements, index, time);
    const centre = computePosition(elements, this.focus, time);
    const place = project(lens, [x - centre[0], y - centre[1], z - centre[2]]);
    if (place.depth > 0) this.labels.placeRing({ ...place, radius: 2 });
  }

  /** From within, a zone would be a veil over everything. */
  private computeZoneStrength(lens: Lens): number {
    if (!this.zone || !this.state.hasZone.peek()) return 0;
    const part = lens.distance / this.zone.limits[3];
    return Math.round(Math.min(Math.max((part - 0.25) / 0.5, 0), 1) * 20) / 20;
  }

  private makeLens(): Lens | undefined {
    const camera = this.state.camera.peek();
    if (!camera) return undefined;
    const { nearest, farthest } = this.reach;
    const log = this.state.isLog.peek() ? { start: nearest * 0.4, reach: farthest } : undefined;
    return makeLens(this.frame, camera, this.width, this.height, log);
  }

  /** Turn the camera by angles, in radians. */
  turn(yaw: number, pitch: number): void {
    const camera = this.state.camera.peek();
    if (!camera) return;
    const raised = Math.min(Math.max(camera.pitch + pitch, -TOP_PITCH), TOP_PITCH);
    this.state.camera.value = { ...camera, yaw: (camera.yaw + yaw) % (2 * Math.PI), pitch: raised };
  }

  /** Multiply the distance of the camera by a factor. */
  zoom(factor: number): void {
    const camera = this.state.camera.peek();
    if (!camera || !this.cast) return;
    const body = this.cast.byIndex.get(this.focus);
    const least = Math.max((body?.radius ?? 0) * 2.5, fitDistance(this.reach.nearest) / 1_000);
    const most = fitDistance(this.reach.farthest) * 1_000;
    const distance = Math.min(Math.max(camera.distance * factor, least), most);
    this.state.camera.value = { ...camera, distance };
  }

  showTop(): void {
    const camera = this.state.camera.peek() ?? this.makeHomeCamera();
    this.state.camera.value = { ...camera, yaw: 0, pitch: TOP_PITCH };
  }

  /** Return to the first view. */
  showAll(): void {
    this.state.followed.value = undefined;
    this.state.camera.value = this.makeHomeCamera();
  }

  /** Select the body at a place on the screen, if there is one. */
  async selectAt(x: number, y: number): Promise<void> {
    let best: string | undefined;
    let nearest = PICK_PIXELS;
    for (const [id, place] of this.labels.places) {
      const distance = Math.max(Math.hypot(place.x - x, place.y - y) - place.radius, 0);
      if (distance < nearest) {
        nearest = distance;
        best = id;
      }
    }
    if (best === undefined) {
      const index = await this.scene.pick(x, y, this.width, this.height);
      best = this.elements?.ids[index];
    }
    if (best !== undefined) this.onSelect(best);
  }

  /** Return the picture as a PNG. */
  screenshot(): Promise<Blob | null> {
    this.draw(this.state.time.peek() ?? 0);
    return new Promise((resolve) => this.scene.canvas.toBlob(resolve, "image/png"));
  }

  /** Return the bodies and orbits as a binary glTF model, or null before there are any. */
  async makeModel(): Promise<Blob | null> {
    const { elements, cast, tracker, focus } = this;
    const time = this.state.time.peek();
    if (!elements || !cast || !tracker || time === undefined) return null;
    const { makeModel } = await import("./model_export.ts");
    tracker.update(time);
    const read = (index: number, out: Point) => tracker.read(index, out);
    return makeModel({ elements, cast, time, focus, reach: this.reach.farthest, orbits: this.scene.drawnOrbits, read });
  }

  /** Return where the picture draws a position relative to the followed body, in pixels; for tests. */
  project(position: Readonly<Point>): { x: number; y: number; depth: number } | undefined {
    const lens = this.makeLens();
    return lens && project(lens, position);
  }

  /** Return the positions relative to the followed body that the shaders compute, by id; for tests. */
  readPositions(): Record<string, Point> {
    const { elements, tracker } = this;
    const lens = this.makeLens();
    const time = this.state.time.peek() ?? 0;
    if (!elements || !tracker || !lens) return {};
    tracker.update(time);
    const read = this.scene.readPositions(time, lens, this.focus);
    const at = (place: number) => read[place] ?? 0;
    return Object.fromEntries(
      elements.ids.map((id, index) => [id, [at(index * 3), at(index * 3 + 1), at(index * 3 + 2)]]),
    );
  }

  /** Return where the bodies of the last frame are on the screen, by id. */
  readPlaces(): Record<string, Place> {
    return Object.fromEntries(this.labels.places);
  }

  /** Return what is shown, and the script time of the last frames in milliseconds; for tests and benchmarks. */
  readStatistics() {
    const { elements, frames, scriptTimes } = this;
    const followed = elements?.ids[this.focus];
    return {
      version: elements?.version,
      bodies: elements?.count ?? 0,
      followed,
      frames,
      scriptTimes: [...scriptTimes],
    };
  }

  dispose(): void {
    cancelAnimationFrame(this.frameRequest);
    for (const stop of this.stops) stop();
    this.scene.dispose();
  }
}
