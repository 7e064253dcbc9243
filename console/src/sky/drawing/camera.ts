import type { Cast } from "../bodies.ts";
import { CONIC, type Elements, getFlags, getParent, getRadius, KEPLER, WORDS } from "../elements.ts";
import type { Point } from "../motion.ts";

/** Where the camera is: turned about the pole of the orbits, raised above their plane, and its distance. */
export interface CameraState {
  yaw: number;
  pitch: number;
  distance: number;
}

const FIELD_OF_VIEW = (36 * Math.PI) / 180;
const MARGIN = 1.16;
/** The height of the time bar, which the middle of the picture avoids. */
const BAR_HEIGHT = 72;
export const DEFAULT_YAW = -0.45;
export const DEFAULT_PITCH = 0.6;
export const TOP_PITCH = Math.PI / 2;

/** The frame of the picture: unit vectors in the scene of the API, right-handed once Z is mirrored. */
export interface Frame {
  first: Point;
  second: Point;
  pole: Point;
}

/** What the shaders and the labels need to place a point on the screen. */
export interface Lens {
  /** Row-major: a point of the scene to right, up and towards the camera. */
  rotation: readonly number[];
  focalX: number;
  focalY: number;
  distance: number;
  width: number;
  height: number;
  logStart: number;
  logReach: number;
  /** How far the middle of the picture is above that of the canvas, in half heights. */
  lift: number;
}

/** Return the pole of the orbits: the mean direction of their angular momenta, or up. */
export function computeFrame(elements: Elements, cast: Cast): Frame {
  const pole: Point = [0, 0, 0];
  for (const body of cast.bodies) {
    if (body.depth !== 1 || !(getFlags(elements, body.index) & KEPLER)) continue;
    const at = body.index * WORDS;
    const f = (place: number) => elements.floats[at + place] ?? 0;
    // The scene mirrors the reference frame, so that the product is turned around.
    const normal: Point = [f(6) * f(8) - f(5) * f(9), f(4) * f(9) - f(6) * f(7), f(5) * f(7) - f(4) * f(8)];
    const size = Math.hypot(...normal);
    if (size > 0) for (let axis = 0; axis < 3; axis += 1) pole[axis] = (pole[axis] ?? 0) + (normal[axis] ?? 0) / size;
  }
  const size = Math.hypot(...pole);
  const up: Point = size > 0.5 ? [pole[0] / size, pole[1] / size, pole[2] / size] : [0, 1, 0];
  // The first axis is that of the reference frame as far as possible.
  const first: Point = Math.abs(up[0]) < 0.9 ? [1 - up[0] * up[0], -up[0] * up[1], -up[0] * up[2]] : [0, 0, 1];
  const length = Math.hypot(...first);
  for (let axis = 0; axis < 3; axis += 1) first[axis] = (first[axis] ?? 0) / length;
  const second: Point = [
    first[1] * up[2] - first[2] * up[1],
    first[2] * up[0] - first[0] * up[2],
    first[0] * up[1] - first[1] * up[0],
  ];
  return { first, second, pole: up };
}

/** Return the nearest and the farthest distance of the orbits about a body, or about its parent for a lone one. */
export function computeReach(elements: Elements, cast: Cast, focus: number): { nearest: number; farthest: number } {
  let nearest = Number.POSITIVE_INFINITY;
  let farthest = 0;
  for (const index of listChildren(elements, cast, focus)) {
    const at = index * WORDS;
    const f = (place: number) => elements.floats[at + place] ?? 0;
    const orbit = elements.exact.get(index);
    let near = orbit?.kind === CONIC ? (orbit.values[0] ?? 0) : 0;
    let far = near;
    if (!orbit) {
      const size = Math.max(Math.hypot(f(4), f(5), f(6)), Math.hypot(f(7), f(8), f(9)));
      const e = 1 - f(10);
      near = size * (1 - e);
      far = e < 0.6 ? size * (1 + e) : near * 2; // a comet far out does not make everything else small
    }
    if (near > 0) nearest = Math.min(nearest, near);
    farthest = Math.max(farthest, far);
  }
  if (farthest > 0 && Number.isFinite(nearest)) return { nearest, farthest };
  const parent = focus < 0 ? -1 : getParent(elements, focus);
  if (parent >= 0 && !elements.hierarchy.rings.has(focus)) return computeReach(elements, cast, parent);
  const own = (focus < 0 ? 0 : getRadius(elements, focus)) || 1;
  return { nearest: own, farthest: own * 12 };
}

/** Return the bodies whose parent a body is: the important ones, or else all. */
function listChildren(elements: Elements, cast: Cast, parent: number): number[] {
  const important = cast.bodies.filter((body) => body.parent === parent).map((body) => body.index);
  if (important.length || !elements.hierarchy.childCounts[parent]) return important;
  return elements.ids.flatMap((_, index) => (getParent(elements, index) === parent ? [index] : []));
}

/** Return the distance from which a circle of this radius fits the screen. */
export function fitDistance(reach: number): number {
  return (reach * MARGIN) / Math.tan(FIELD_OF_VIEW / 2);
}

export function makeLens(
  frame: Frame,
  state: CameraState,
  width: number,
  height: number,
  log: { start: number; reach: number } | undefined,
): Lens {
  const { first, second, pole } = frame;
  const [cy, sy, cp, sp] = [Math.cos(state.yaw), Math.sin(state.yaw), Math.cos(state.pitch), Math.sin(state.pitch)];
  const mix = (a: number, b: number, c: number): Point => [
    first[0] * a + second[0] * b + pole[0] * c,
    first[1] * a + second[1] * b + pole[1] * c,
    first[2] * a + second[2] * b + pole[2] * c,
  ];
  // The camera looks from the south of the picture, raised by the pitch.
  const right = mix(cy, sy, 0);
  const up = mix(-sy * sp, cy * sp, cp);
  const back = mix(sy * cp, -cy * cp, sp);
  const focal = 1 / Math.tan(FIELD_OF_VIEW / 2);
  const aspect = width / height;
  return {
    rotation: [...right, ...up, ...back],
    focalX: aspect < 1 ? focal : focal / aspect,
    focalY: aspect < 1 ? focal * aspect : focal,
    distance: state.distance,
    width,
    height,
    lift: BAR_HEIGHT / Math.max(height, 2 * BAR_HEIGHT) / 2,
    logStart: log?.start ?? 0,
    logReach: log ? log.reach / Math.log(1 + log.reach / log.start) : 0,
  };
}

/** Return a point, relative to the followed body, as the picture scales its distance. */
export function mapRadius(lens: Lens, [x, y, z]: Readonly<Point>): Point {
  if (!lens.logStart) return [x, y, z];
  const r = Math.hypot(x, y, z);
  if (r === 0) return [0, 0, 0];
  const scale = (lens.logReach * Math.log1p(r / lens.logStart)) / r;
  return [x * scale, y * scale, z * scale];
}

/** Return the place of a point on the screen in pixels, and its distance from the camera; behind it if negative. */
export function project(lens: Lens, point: Readonly<Point>): { x: number; y: number; depth: number } {
  const [x, y, z] = mapRadius(lens, point);
  const r = lens.rotation as readonly [number, number, number, number, number, number, number, number, number];
  const depth = lens.distance - (r[6] * x + r[7] * y + r[8] * z);
  const across = (r[0] * x + r[1] * y + r[2] * z) * lens.focalX;
  const up = (r[3] * x + r[4] * y + r[5] * z) * lens.focalY;
  return { x: (1 + across / depth) * (lens.width / 2), y: (1 - lens.lift - up / depth) * (lens.height / 2), depth };
}

/** Return the pixels of a unit of length at a distance from the camera. */
export function pixelsPerUnit(lens: Lens, depth: number): number {
  return (lens.focalY / depth) * (lens.height / 2);
}
