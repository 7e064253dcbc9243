import {
  CONIC,
  type Elements,
  EXACT,
  type ExactOrbit,
  FAST,
  getFlags,
  getParent,
  KEPLER,
  LINE,
  WORDS,
} from "./elements.ts";

/** A point in the scene of the API: Y is up, and the picture mirrors Z. */
export type Point = [number, number, number];

const TURN = 2 * Math.PI;
const TWO_32 = 2 ** 32;

/** A time as ticks, which the phases are counted in, and the rest of a tick. */
interface Ticks {
  whole: number;
  rest: number;
}

/** Return a time in ticks. Times that ticks cannot count, some 90,000 years away, become the nearest one. */
export function toTicks(elements: Elements, time: number): Ticks {
  const ticks = Math.min(Math.max((time - elements.origin) / elements.tick, 0), TWO_32 - 1);
  const whole = Math.floor(ticks);
  return { whole, rest: ticks - whole };
}

/** Return the mean anomaly of a body, or the angle of its circle, in turns from -0.5 to 0.5. */
function computeTurns(elements: Elements, index: number, ticks: Ticks): number {
  const { words, integers } = elements;
  const at = index * WORDS;
  const low = words[at] ?? 0;
  const high = words[at + 1] ?? 0;
  const whole = (Math.imul(high, ticks.whole) >>> 0) + (words[at + 2] ?? 0) + (low * ticks.whole) / TWO_32;
  const turns = whole / TWO_32 + ((integers[at + 1] ?? 0) / TWO_32) * ticks.rest;
  return turns - Math.round(turns);
}

/** Return the eccentric anomaly of an ellipse for a mean anomaly within half a turn, in radians. */
export function solveKepler(mean: number, e: number): number {
  let anomaly = mean + 0.85 * e * Math.sign(mean);
  for (let step = 0; step < 12; step += 1) {
    const sine = e * Math.sin(anomaly);
    const slope = 1 - e * Math.cos(anomaly);
    const error = anomaly - sine - mean;
    const change = error / (slope - (error * sine) / (2 * slope));
    anomaly -= change;
    if (Math.abs(change) < 1e-14) break;
  }
  return anomaly;
}

/** Return the position of a body relative to its parent, and the anomaly on its orbit (eccentric, true or angle). */
export function computeOffset(elements: Elements, index: number, time: number, ticks: Ticks, out: Point): number {
  const flags = getFlags(elements, index);
  if (flags & EXACT) {
    const orbit = elements.exact.get(index);
    if (orbit) return computeExactOffset(orbit, time, out);
  }
  const { floats } = elements;
  const at = index * WORDS;
  const turns = computeTurns(elements, index, ticks);
  let anomaly = turns * TURN;
  let along = Math.cos(anomaly);
  if (flags & KEPLER) {
    const closeness = floats[at + 10] ?? 1;
    anomaly = solveKepler(anomaly, 1 - closeness);
    along = closeness - 2 * Math.sin(anomaly / 2) ** 2;
  }
  const across = Math.sin(anomaly);
  for (let axis = 0; axis < 3; axis += 1) {
    out[axis] =
      (floats[at + 4 + axis] ?? 0) * along + (floats[at + 7 + axis] ?? 0) * across + (floats[at + 11 + axis] ?? 0);
  }
  return anomaly;
}

function computeExactOffset({ kind, values: v }: ExactOrbit, time: number, out: Point): number {
  const value = (place: number) => v[place] ?? 0;
  if (kind === LINE) {
    for (let axis = 0; axis < 3; axis += 1) out[axis] = value(axis) + value(3 + axis) * time;
    return 0;
  }
  if (kind === FAST) {
    const turns = value(0) * time + value(1);
    const e = value(11);
    const mean = (turns - Math.round(turns)) * TURN;
    const anomaly = e ? solveKepler(mean, e) : mean;
    for (let axis = 0; axis < 3; axis += 1) {
      out[axis] = value(2 + axis) * (Math.cos(anomaly) - e) + value(5 + axis) * Math.sin(anomaly) + value(8 + axis);
    }
    return anomaly;
  }
  if (kind !== CONIC) return 0;
  const q = value(0);
  const e = value(1);
  const period = value(4);
  let since = time - value(3);
  if (period) since -= Math.round(since / period) * period;
  const x = solveConic((since * value(2)) / (q * Math.sqrt(q)), e);
  const z = (1 - e) * x * x;
  const [c2, c3] = computeStumpff(z);
  const along = q * (1 - x * x * c2);
  const across = Math.sqrt(q) * x * (1 - z * c3);
  for (let axis = 0; axis < 3; axis += 1) out[axis] = value(5 + axis) * along + value(8 + axis) * across;
  return Math.atan2(across * Math.sqrt(q * (1 + e)), along);
}

/**
 * Return the universal anomaly on a conic, in units of √q, for the time since the periapsis in units of √(q³/μ).
 * Its equation is smooth from ellipses over the parabola to hyperbolas.
 */
function solveConic(since: number, e: number): number {
  const t = Math.abs(since);
  const alpha = 1 - e; // q over the semi-major axis
  let low = 0;
  let high = 1;
  while (computeConicTime(high, alpha, e) < t) {
    low = high;
    high *= 2;
  }
  let x = Math.min(t, high);
  for (let step = 0; step < 80; step += 1) {
    const [c2, c3] = computeStumpff(alpha * x * x);
    const error = x + e * x * x * x * c3 - t;
    if (error > 0) high = x;
    else low = x;
    const next = x - error / (1 + e * x * x * c2);
    const chosen = next > low && next < high ? next : (low + high) / 2;
    if (Math.abs(chosen - x) <= 1e-15 * x) break;
    x = chosen;
  }
  return Math.sign(since) * x;
}

function computeConicTime(x: number, alpha: number, e: number): number {
  return x + e * x * x * x * computeStumpff(alpha * x * x)[1];
}

/** Return the second and the third Stumpff function. */
function computeStumpff(z: number): [number, number] {
  if (Math.abs(z) < 0.01) {
    return [
      1 / 2 - z / 24 + (z * z) / 720 - (z * z * z) / 40320 + z ** 4 / 3628800,
      1 / 6 - z / 120 + (z * z) / 5040 - (z * z * z) / 362880 + z ** 4 / 39916800,
    ];
  }
  const root = Math.sqrt(Math.abs(z));
  return z > 0
    ? [(1 - Math.cos(root)) / z, (root - Math.sin(root)) / (z * root)]
    : [(Math.cosh(root) - 1) / -z, (Math.sinh(root) - root) / (-z * root)];
}

/** Return the position of a body: the sum of the offsets along its parents. */
export function computePosition(
  elements: Elements,
  index: number,
  time: number,
  ticks = toTicks(elements, time),
): Point {
  const seen = elements.hierarchy.rings.size ? new Set<number>() : undefined;
  const sum: Point = [0, 0, 0];
  const offset: Point = [0, 0, 0];
  for (let at = index; at >= 0 && !seen?.has(at); at = getParent(elements, at)) {
    seen?.add(at);
    computeOffset(elements, at, time, ticks, offset);
    sum[0] += offset[0];
    sum[1] += offset[1];
    sum[2] += offset[2];
  }
  return sum;
}

/** Return the semi-major axis of an orbit, or the nearest distance of an open one. */
export function computeOrbitSize(elements: Elements, index: number): number {
  const { kind, values } = elements.exact.get(index) ?? {};
  if (kind === CONIC) {
    const [nearest = 0, eccentricity = 0] = values ?? [];
    return eccentricity < 1 ? nearest / (1 - eccentricity) : nearest;
  }
  const [numbers, start] = kind === FAST && values ? [values, 2] : [elements.floats, index * WORDS + 4];
  return Math.hypot(numbers[start] ?? 0, numbers[start + 1] ?? 0, numbers[start + 2] ?? 0);
}
