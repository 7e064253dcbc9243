import { BufferAttribute, Color, DynamicDrawUsage, InstancedBufferAttribute, InstancedBufferGeometry } from "three";
import type { Body, Cast } from "../bodies.ts";
import { CONIC, type Elements, FAST, getFlags, KEPLER, LINE, WORDS } from "../elements.ts";
import type { Point } from "../motion.ts";
import { type Lens, mapRadius, pixelsPerUnit, project } from "./camera.ts";
import type { Tracker } from "./tracker.ts";

/** Orbits of more bodies would be a tangle; of a large universe only the first are drawn. */
const MOST_ORBITS = 64;
const MOST_OF_MANY = 16;
const MANY = 400;
const STEPS = 240;
/** Distances of the first points of a line from its body: in sizes of the orbit, and of the smallest radius if logarithmic. */
const FIRST_STEP = 0.002;
const FIRST_LOG_STEP = 0.1;
/** Further points would be nearer than 32 bits tell apart. */
const MOST_CROWDING = 24;
const CIRCLE = 0;
const ELLIPSE = 1;
const OPEN = 2;
/** How far an open orbit is drawn, in distances of its periapsis. */
const OPEN_REACH = 40;

/** A body with the shape of its orbit, its size, and 1 or -1 for the direction of its motion. */
type DrawnOrbit = Body & { kind: number; shape: number; size: number; direction: number };

/** The attributes of one ribbon for each orbit; `centre`, `paint` and the crowding of `conic` change with every frame. */
export interface OrbitAttributes {
  bodies: readonly DrawnOrbit[];
  P: InstancedBufferAttribute;
  Q: InstancedBufferAttribute;
  C: InstancedBufferAttribute;
  conic: InstancedBufferAttribute;
  centre: InstancedBufferAttribute;
  paint: InstancedBufferAttribute;
  geometry: InstancedBufferGeometry;
}

export function makeOrbitGeometry(count: number): { geometry: InstancedBufferGeometry; attributes: OrbitAttributes } {
  const geometry = new InstancedBufferGeometry();
  const strip: number[] = [];
  const index: number[] = [];
  for (let step = 0; step <= STEPS * 2; step += 1) {
    const along = step / STEPS - 1;
    strip.push(along, -1, along, 1);
    const at = step * 2;
    if (step < STEPS * 2) index.push(at, at + 1, at + 2, at + 2, at + 1, at + 3);
  }
  geometry.setIndex(index);
  geometry.setAttribute("strip", new BufferAttribute(new Float32Array(strip), 2));
  const make = (name: string, size: number) => {
    const attribute = new InstancedBufferAttribute(new Float32Array(count * size), size);
    attribute.setUsage(DynamicDrawUsage);
    geometry.setAttribute(name, attribute);
    return attribute;
  };
  const attributes: OrbitAttributes = {
    bodies: [],
    P: make("P", 3),
    Q: make("Q", 3),
    C: make("C", 3),
    conic: make("conic", 4),
    centre: make("centre", 4),
    paint: make("paint", 4),
    geometry,
  };
  return { geometry, attributes };
}

/** Write the shapes of all orbits. Straight paths and bodies that stand still have none. */
export function fillOrbits(attributes: OrbitAttributes, elements: Elements, cast: Cast): void {
  const { P, Q, C, conic, paint } = attributes;
  const bodies: DrawnOrbit[] = [];
  const color = new Color();
  for (const body of cast.bodies) {
    if (bodies.length === (elements.count > MANY ? MOST_OF_MANY : MOST_ORBITS)) break;
    const at = body.index * WORDS;
    const place = bodies.length;
    const f = (offset: number) => elements.floats[at + offset] ?? 0;
    const exact = elements.exact.get(body.index);
    const v = (offset: number) => exact?.values[offset] ?? 0;
    let kind = getFlags(elements, body.index) & KEPLER ? ELLIPSE : CIRCLE;
    let shape = f(10);
    if (exact?.kind === LINE) continue;
    if (exact?.kind === FAST) {
      kind = ELLIPSE;
      shape = 1 - v(11);
      P.setXYZ(place, v(2), v(3), v(4));
      Q.setXYZ(place, v(5), v(6), v(7));
      C.setXYZ(place, v(8), v(9), v(10));
    } else if (exact?.kind === CONIC) {
      const [q, e] = [v(0), v(1)];
      const side = 1 / Math.sqrt(q * (1 + e));
      kind = e < 1 ? ELLIPSE : OPEN;
      const a = e < 1 ? q / (1 - e) : q;
      const b = e < 1 ? a * Math.sqrt(1 - e * e) : q;
      shape = e < 1 ? 1 - e : (1 - e) / (1 + e);
      P.setXYZ(place, v(5) * a, v(6) * a, v(7) * a);
      Q.setXYZ(place, v(8) * side * b, v(9) * side * b, v(10) * side * b);
      C.setXYZ(place, 0, 0, 0);
    } else {
      if (Math.hypot(f(4), f(5), f(6)) === 0) continue;
      P.setXYZ(place, f(4), f(5), f(6));
      Q.setXYZ(place, f(7), f(8), f(9));
      C.setXYZ(place, f(11), f(12), f(13));
    }
    const isBackward = !exact && (elements.integers[at + 1] ?? 0) < 0;
    const density = kind === ELLIPSE ? ((2 - shape) / Math.max(shape, 1e-9)) ** 0.25 : 1;
    const third = kind === OPEN ? Math.sqrt((OPEN_REACH - 1) / (1 - OPEN_REACH * shape)) : density;
    conic.setXYZW(place, kind, shape, third, 1);
    const size = Math.hypot(P.getX(place), P.getY(place), P.getZ(place));
    color.setStyle(body.color, "srgb-linear");
    paint.setXYZW(place, color.r, color.g, color.b, 1);
    bodies.push({ ...body, kind, shape, size, direction: isBackward ? -1 : 1 });
  }
  attributes.bodies = bodies;
  attributes.geometry.instanceCount = bodies.length;
  for (const one of [P, Q, C, conic]) one.needsUpdate = true;
}

/** Return points along an orbit, relative to the parent. */
export function listOrbitPoints({ bodies, P, Q, C, conic }: OrbitAttributes, place: number): Point[] {
  const body = bodies[place];
  const isOpen = body?.kind === OPEN;
  const reach = conic.getZ(place);
  return Array.from({ length: STEPS + 1 }, (_, step): Point => {
    const along = (2 * step) / STEPS - 1;
    let [p, q] = [0, 0];
    if (isOpen) {
      const h = along * reach;
      const size = 1 + (body?.shape ?? 0) * h * h;
      [p, q] = [(1 - h * h) / size, (2 * h) / size];
    } else {
      const angle = along * Math.PI;
      p = body?.kind === ELLIPSE ? body.shape - 2 * Math.sin(angle / 2) ** 2 : Math.cos(angle);
      q = Math.sin(angle);
    }
    const at = (axis: "getX" | "getY" | "getZ") => C[axis](place) + P[axis](place) * p + Q[axis](place) * q;
    return [at("getX"), at("getY"), at("getZ")];
  });
}

/** Move the orbits to their bodies, and fade those that are too small to see. */
export function moveOrbits(attributes: OrbitAttributes, tracker: Tracker, centre: Readonly<Point>, lens: Lens): void {
  const { conic } = attributes;
  const position: Point = [0, 0, 0];
  for (const [place, body] of attributes.bodies.entries()) {
    const slot = tracker.slots.get(body.index) ?? 0;
    const anomaly = tracker.anomalies[slot] ?? 0;
    for (let axis = 0; axis < 3; axis += 1) {
      const at = slot * 3 + axis;
      // A body that an N-body run moves is beside its orbit.
      const beside = (tracker.offsets[at] ?? 0) - (tracker.orbitOffsets[at] ?? 0);
      position[axis] = (tracker.positions[at] ?? 0) - (centre[axis] ?? 0) - beside;
    }
    const parameter = toParameter(body, anomaly, tracker);
    attributes.centre.setXYZW(place, position[0], position[1], position[2], parameter);
    attributes.paint.setW(place, 0.55 * fadeByDistance(tracker, slot, centre, lens));
    let length = Math.PI * body.size;
    if (body.kind === OPEN) {
      const own = Math.sqrt((OPEN_REACH - 1) / (1 - OPEN_REACH * body.shape));
      conic.setZ(place, Math.max(own, Math.abs(parameter) * 1.05));
      length = OPEN_REACH * body.size;
    }
    const usual = FIRST_STEP * body.size;
    const first = lens.logStart ? Math.min(usual, FIRST_LOG_STEP * lens.logStart) : usual;
    conic.setW(place, body.direction * chooseCrowding(first / length));
  }
  conic.needsUpdate = true;
  attributes.centre.needsUpdate = true;
  attributes.paint.needsUpdate = true;
}

/** Return k for the parts sinh(ks) / sinh(k) of a line, so that its first step is a given part of its length. */
export function chooseCrowding(first: number): number {
  const ratio = Math.max(1 / (STEPS * first), 1.1);
  let crowding = Math.log(2 * ratio) + 1;
  for (let turn = 0; turn < 12; turn += 1) crowding = Math.asinh(crowding * ratio);
  return Math.min(Math.max(crowding, 0.5), MOST_CROWDING);
}

/** Return the parameter of the ribbon at the body: its eccentric anomaly, or the tangent of half the true one. */
function toParameter(body: { kind: number; shape: number; index: number }, anomaly: number, tracker: Tracker): number {
  if (body.kind === OPEN) return Math.tan(anomaly / 2);
  if (tracker.isConic(body.index)) {
    return 2 * Math.atan(Math.sqrt(body.shape / (2 - body.shape)) * Math.tan(anomaly / 2));
  }
  return anomaly;
}

/** Return how visible a body is beside its parent, from 0 to 1: the same as in the shaders. */
export function fadeByDistance(tracker: Tracker, slot: number, centre: Readonly<Point>, lens: Lens): number {
  const { positions, offsets, bodies } = tracker;
  if (tracker.isRoot(bodies[slot] ?? -1)) return 1;
  const at: Point = [0, 0, 0];
  const parent: Point = [0, 0, 0];
  for (let axis = 0; axis < 3; axis += 1) {
    at[axis] = (positions[slot * 3 + axis] ?? 0) - (centre[axis] ?? 0);
    parent[axis] = (at[axis] ?? 0) - (offsets[slot * 3 + axis] ?? 0);
  }
  const { depth } = project(lens, at);
  if (depth <= 0) return 0;
  const [ax, ay, az] = mapRadius(lens, at);
  const [bx, by, bz] = mapRadius(lens, parent);
  const apart = Math.hypot(ax - bx, ay - by, az - bz) * pixelsPerUnit(lens, depth);
  const part = Math.min(Math.max((apart - FADE_FROM) / (FADE_TO - FADE_FROM), 0), 1);
  return part * part * (3 - 2 * part);
}

const FADE_FROM = 8;
const FADE_TO = 18;
