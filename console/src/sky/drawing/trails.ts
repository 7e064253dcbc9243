import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, LineSegments, type RawShaderMaterial } from "three";
import type { Body } from "../bodies.ts";
import type { Point } from "../motion.ts";
import type { Tracker } from "./tracker.ts";

const MOST_BODIES = 64;
const POINTS = 120;
/** How many seconds of the animation a trail covers. */
const SECONDS = 4;
/** A jump of more seconds than this starts new trails. */
const JUMP = 1;

/** The paths of the most important bodies in the last seconds, as seen from the followed body. */
export class Trails {
  readonly lines: LineSegments<BufferGeometry, RawShaderMaterial>;
  private bodies: readonly Body[] = [];
  private places = new BufferAttribute(new Float32Array(), 3);
  private focus = -1;
  private head = Number.NaN;
  private stored = Number.NaN;

  constructor(material: RawShaderMaterial) {
    this.lines = new LineSegments(new BufferGeometry(), material);
  }

  setBodies(bodies: readonly Body[]): void {
    this.bodies = bodies.slice(0, MOST_BODIES);
    const count = this.bodies.length * POINTS;
    const ages = new Float32Array(count);
    const tints = new Float32Array(count * 3);
    const index: number[] = [];
    const color = new Color();
    for (const [number, body] of this.bodies.entries()) {
      color.setStyle(body.color, "srgb-linear");
      for (let point = 0; point < POINTS; point += 1) {
        const at = number * POINTS + point;
        ages[at] = point / (POINTS - 1);
        color.toArray(tints, at * 3);
        if (point + 1 < POINTS) index.push(at, at + 1);
      }
    }
    this.places = new BufferAttribute(new Float32Array(count * 3), 3);
    this.places.setUsage(DynamicDrawUsage);
    this.lines.geometry.dispose();
    const geometry = new BufferGeometry();
    geometry.setIndex(index);
    geometry.setAttribute("place", this.places);
    geometry.setAttribute("age", new BufferAttribute(ages, 1));
    geometry.setAttribute("tint", new BufferAttribute(tints, 3));
    this.lines.geometry = geometry;
    this.focus = -1;
  }

  /** Move the heads to the positions of the tracker, and keep where they were. */
  update(tracker: Tracker, focus: number, time: number, speed: number): void {
    const pace = Math.abs(speed) || 1;
    const isNew = focus !== this.focus || !(Math.abs(time - this.head) <= JUMP * pace);
    const isDue = Math.abs(time - this.stored) >= (SECONDS / POINTS) * pace;
    if (!isNew && time === this.head) return;
    const centre: Point = [0, 0, 0];
    const place: Point = [0, 0, 0];
    tracker.read(focus, centre);
    const values = this.places.array as Float32Array;
    for (const [number, body] of this.bodies.entries()) {
      tracker.read(body.index, place);
      const first = number * POINTS * 3;
      const last = first + (POINTS - 1) * 3;
      if (isDue && !isNew) values.copyWithin(first, first + 3, last + 3);
      for (let axis = 0; axis < 3; axis += 1) {
        const value = (place[axis] ?? 0) - (centre[axis] ?? 0);
        if (isNew) for (let at = first + axis; at < last; at += 3) values[at] = value;
        values[last + axis] = value;
      }
    }
    if (isNew || isDue) this.stored = time;
    this.focus = focus;
    this.head = time;
    this.places.needsUpdate = true;
  }
}
