import { expect, test, vi } from "vitest";
import { type Body, type Cast, chooseBodies, sortByOrbit } from "../src/sky/bodies.ts";
import { formatClock, formatDate, fromDate, toDate } from "../src/sky/dates.ts";
import { computePeriod, KEPLER, parseElements, WORDS } from "../src/sky/elements.ts";
import { computePosition, type Point, solveKepler } from "../src/sky/motion.ts";
import { makeSkyState, writeSkyState } from "../src/sky/sky_state.ts";
import { chooseSpeed, SPEEDS } from "../src/sky/speeds.ts";
import { skyTexts } from "../src/sky/strings.ts";
import { chooseSystem, findSystemsAtOnePlace, hideOtherSystems } from "../src/sky/systems.ts";
import { interpolate, type Trajectory } from "../src/sky/trajectory.ts";

const HEADER = 64;
const J2000 = 2451545;

/** Return a binary of bodies that stand still at (index + 1, 0, 0) from their parents. */
function makeBinary(parents: readonly number[]): ArrayBuffer {
  const ids = new TextEncoder().encode(JSON.stringify(parents.map((_, index) => `b${index}`)));
  const buffer = new ArrayBuffer(HEADER + parents.length * WORDS * 4 + ids.length);
  const view = new DataView(buffer);
  view.setUint32(0, 0x4c454255, true);
  view.setUint32(4, 1, true);
  view.setUint32(8, parents.length, true);
  view.setBigUint64(16, 7n, true);
  view.setUint32(24, ids.length, true);
  view.setUint32(28, WORDS * 4, true);
  view.setFloat64(48, 1 / 64, true);
  for (const [index, parent] of parents.entries()) {
    view.setInt32(HEADER + index * WORDS * 4 + 12, parent, true);
    view.setFloat32(HEADER + index * WORDS * 4 + 44, index + 1, true);
  }
  new Uint8Array(buffer).set(ids, HEADER + parents.length * WORDS * 4);
  return buffer;
}

test("positions are sums along the parents, and a ring of parents counts each member once", () => {
  const elements = parseElements(makeBinary([-1, 0, 1, 4, 5, 3, 5]));
  expect(elements.version).toBe(7);
  expect([...elements.hierarchy.depths]).toEqual([0, 1, 2, 0, 0, 0, 1]);
  expect([...elements.hierarchy.rings].sort()).toEqual([3, 4, 5]);
  const xs = elements.ids.map((_, index) => computePosition(elements, index, 0)[0]);
  expect(xs).toEqual([1, 3, 6, 15, 15, 15, 22]);
});

test("every orbit has its period, however slow it is and whichever way it goes, and sets the speed", () => {
  const periods = [Number.POSITIVE_INFINITY, 365.25, 1e9, -1e9];
  const buffer = makeBinary(periods.map((_, index) => (index ? 0 : -1)));
  const view = new DataView(buffer);
  for (const [index, period] of periods.entries()) {
    view.setBigInt64(HEADER + index * WORDS * 4, BigInt(Math.round(2 ** 64 / 64 / period)), true);
    view.setUint32(HEADER + index * WORDS * 4 + 56, KEPLER, true);
  }
  const elements = parseElements(buffer);
  expect(computePeriod(elements, 0)).toBeUndefined();
  expect(computePeriod(elements, 1)).toBeCloseTo(365.25, 6);
  expect((computePeriod(elements, 2) ?? 0) / 1e9).toBeCloseTo(1, 6);
  expect((computePeriod(elements, 3) ?? 0) / 1e9).toBeCloseTo(1, 6);
  const bodies = [{ depth: 1, index: 2 } as Body];
  expect(chooseSpeed(elements, { bodies } as unknown as Cast)).toBe(SPEEDS.at(-1));
});

test("a reply that is not a binary of orbits is refused", () => {
  expect(() => parseElements(new ArrayBuffer(10))).toThrow("cannot be read");
  expect(() => parseElements(makeBinary([-1]).slice(0, -1))).toThrow("cannot be read");
});

test("Kepler's equation holds for every anomaly and eccentricity below 1", () => {
  for (const e of [0, 0.1, 0.7, 0.967, 0.99, 0.999]) {
    for (let mean = -Math.PI; mean <= Math.PI; mean += 0.01) {
      const anomaly = solveKepler(mean, e);
      expect(Math.abs(anomaly - e * Math.sin(anomaly) - mean)).toBeLessThan(1e-12);
    }
  }
});

test("a trajectory is interpolated within its run, with the axes of the scene", () => {
  const [count, step] = [50, 0.1];
  const states = new Float32Array(count * 12).fill(Number.NaN);
  for (let at = 0; at < count; at += 1) {
    const angle = at * step;
    states.set([Math.cos(angle), Math.sin(angle), 0.5, -Math.sin(angle), Math.cos(angle), 0], at * 12);
  }
  const run: Trajectory = { job: "j", version: 1, ids: ["a", "b"], start: 10, step, count, states, errorDegrees: 0 };
  const out: Point = [0, 0, 0];
  for (let time = 10; time < 14.9; time += 0.013) {
    expect(interpolate(run, 0, time, out)).toBe(true);
    expect(Math.hypot(out[0] - Math.cos(time - 10), out[1] - 0.5, out[2] - Math.sin(time - 10))).toBeLessThan(1e-6);
  }
  expect(interpolate(run, 0, 9.99, out)).toBe(false);
  expect(interpolate(run, 0, 14.91, out)).toBe(false);
  expect(interpolate(run, 1, 12, out)).toBe(false);
});

test("dates and times of a universe are converted into each other", () => {
  expect(formatDate(toDate(0, J2000))).toBe("2000-01-01");
  expect(formatClock(toDate(0, J2000))).toBe("12:00");
  for (const text of ["1800-01-01", "2026-11-17", "2200-12-31", "0044-03-15", "-0099-07-12"]) {
    const time = fromDate(text, J2000);
    expect(time).toBeDefined();
    expect(formatDate(toDate(time ?? 0, J2000))).toBe(text);
  }
  for (const text of ["", "yesterday", "2026-02-30", "2026-13-01", "17.11.2026"]) {
    expect(fromDate(text, J2000)).toBeUndefined();
  }
});

test("an address restores a view, and nonsense in it is left out", () => {
  vi.stubGlobal("matchMedia", () => ({ matches: false }));
  const text = "t=9814.5&speed=20&body=earth&follow=sun&view=0.1%2C0.2%2C3&log=1&real=1&orbits=0";
  const written = new URLSearchParams();
  writeSkyState(makeSkyState(new URLSearchParams(text)), written);
  expect(written.toString()).toBe(text);
  const state = makeSkyState(new URLSearchParams("t=abc&view=1,2,-3&speed=Infinity"));
  expect([state.time.value, state.camera.value, state.speed.value]).toEqual([undefined, undefined, undefined]);
  vi.unstubAllGlobals();
});

test("the zone of a cool star is called that of the lower limit of the formula, not of another star", () => {
  expect(skyTexts.zoneOf(2600)).toContain("computed for 2600 K, the lower limit of the formula");
});

test("the list of bodies has stars first, then planets by distance, each with its moons", () => {
  const buffer = makeBinary([-1, 0, 0, 2, 0]);
  const sizes = [0, 5, 1, 0.01, 0.4];
  for (const [index, size] of sizes.entries()) {
    new DataView(buffer).setFloat32(HEADER + index * WORDS * 4 + 16, size, true);
  }
  const bodies = [0, 1, 3, 2, 4].map((index) => ({ index, parent: [-1, 0, 0, 2, 0][index] }) as Body);
  expect(sortByOrbit(parseElements(buffer), bodies).map((body) => body.index)).toEqual([0, 4, 2, 3, 1]);
});

test("of systems at the same place only that of the selected body is drawn", () => {
  const parents = [-1, 0, -1, -1, 3, 4];
  expect(findSystemsAtOnePlace(parseElements(makeBinary(parents)))).toEqual([]);
  expect(findSystemsAtOnePlace(parseElements(makeBinary([])))).toEqual([]);
  const buffer = makeBinary(parents);
  for (const root of [0, 2, 3]) new DataView(buffer).setFloat32(HEADER + root * WORDS * 4 + 44, 0, true);
  const elements = parseElements(buffer);
  const systems = findSystemsAtOnePlace(elements);
  expect(systems).toEqual([0, 2, 3]);
  expect([undefined, "b5", "b2", "elsewhere"].map((id) => chooseSystem(elements, systems, id))).toEqual([0, 3, 2, 0]);
  hideOtherSystems(elements, systems, 3);
  expect(chooseBodies(elements).sort()).toEqual([3, 4, 5]);
});
