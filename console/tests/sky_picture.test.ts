import { RawShaderMaterial } from "three";
import { expect, test } from "vitest";
import type { Body, Cast } from "../src/sky/bodies.ts";
import { type Frame, fitDistance, makeLens, mapRadius, pixelsPerUnit, project } from "../src/sky/drawing/camera.ts";
import { chooseCrowding, fillOrbits, listOrbitPoints, makeOrbitGeometry } from "../src/sky/drawing/orbit_lines.ts";
import type { Tracker } from "../src/sky/drawing/tracker.ts";
import { Trails } from "../src/sky/drawing/trails.ts";
import { type Elements, KEPLER, WORDS } from "../src/sky/elements.ts";
import type { Point } from "../src/sky/motion.ts";
import { readExportedState } from "../src/universes/file_import.tsx";

const FRAME: Frame = { first: [1, 0, 0], second: [0, 0, 1], pole: [0, 1, 0] };
const FROM_ABOVE = { yaw: 0, pitch: Math.PI / 2, distance: 10 };

function makeBody(given: Partial<Body>): Body {
  return {
    index: 0,
    id: "b",
    name: "b",
    type: "planet",
    color: "#ff8040",
    parent: -1,
    depth: 0,
    hasChildren: false,
    radius: 0,
    rank: 0,
    ...given,
  };
}

test("a point of the plane is as far from the middle as its distance says, logarithmic or not", () => {
  const lens = makeLens(FRAME, FROM_ABOVE, 800, 600, undefined);
  const middle = project(lens, [0, 0, 0]);
  const right = project(lens, [1, 0, 0]);
  expect(right.x - middle.x).toBeCloseTo(pixelsPerUnit(lens, 10), 6);
  expect(right.y).toBeCloseTo(middle.y, 6);
  expect(project(lens, [0, 11, 0]).depth).toBeLessThan(0);
  const log = makeLens(FRAME, FROM_ABOVE, 800, 600, { start: 0.1, reach: 5 });
  expect(Math.hypot(...mapRadius(log, [3, 0, 4]))).toBeCloseTo(5, 6);
  expect(Math.hypot(...mapRadius(log, [0.3, 0, 0.4]))).toBeGreaterThan(0.5);
  expect(mapRadius(log, [0, 0, 0])).toEqual([0, 0, 0]);
});

test("a circle that fits is inside the picture, also of a phone", () => {
  for (const [width, height] of [
    [1000, 600],
    [390, 500],
  ] as const) {
    const lens = makeLens(FRAME, { ...FROM_ABOVE, distance: fitDistance(2) }, width, height, undefined);
    for (const point of [
      [2, 0, 0],
      [0, 0, 2],
      [-2, 0, 0],
    ] as Point[]) {
      const { x, y } = project(lens, point);
      expect(x > 0 && x < width && y > 0 && y < height).toBe(true);
    }
  }
});

/** Elements of one ellipse: P and Q are its half axes, the focus is the origin. */
function makeEllipse(a: number, e: number): Elements {
  const words = new Uint32Array(WORDS);
  const floats = new Float32Array(words.buffer);
  floats.set([a, 0, 0, 0, 0, a * Math.sqrt(1 - e * e), 1 - e], 4);
  words[14] = KEPLER;
  const integers = new Int32Array(words.buffer);
  integers[3] = -1;
  return { count: 1, words, floats, integers, exact: new Map(), ids: ["b"] } as unknown as Elements;
}

test("the points of an orbit are on its ellipse", () => {
  const [a, e] = [3, 0.6];
  const { attributes } = makeOrbitGeometry(1);
  const cast = { bodies: [makeBody({})] } as unknown as Cast;
  fillOrbits(attributes, makeEllipse(a, e), cast);
  const points = listOrbitPoints(attributes, 0);
  const radii = points.map(([x, y, z]) => Math.hypot(x, y, z));
  expect(Math.min(...radii)).toBeCloseTo(a * (1 - e), 5);
  expect(Math.max(...radii)).toBeCloseTo(a * (1 + e), 5);
  for (const [x, , z] of points) expect(((x + a * e) / a) ** 2 + (z / (a * 0.8)) ** 2).toBeCloseTo(1, 5);
});

test("a trail is where a body was, seen from the followed one, and starts anew after a jump", () => {
  const places: Record<number, Point> = { 0: [5, 0, 0], 1: [6, 0, 0] };
  const tracker = {
    read: (index: number, out: Point) => {
      for (let axis = 0; axis < 3; axis += 1) out[axis] = places[index]?.[axis] ?? 0;
      return true;
    },
  } as unknown as Tracker;
  const trails = new Trails(new RawShaderMaterial());
  trails.setBodies([makeBody({ index: 1 })]);
  const read = () => trails.lines.geometry.getAttribute("place").array as Float32Array;
  const last = read().length - 3;
  trails.update(tracker, 0, 0, 1);
  expect([read()[0], read()[last]]).toEqual([1, 1]);
  places[1] = [7, 0, 0];
  trails.update(tracker, 0, 0.5, 1);
  expect([read()[last - 3], read()[last]]).toEqual([1, 2]);
  trails.update(tracker, 0, 900, 1);
  expect(new Set(read().filter((_, at) => at % 3 === 0))).toEqual(new Set([2]));
});

test("the state of an exported universe is distinguished from a table", () => {
  const state = { stars: {} };
  expect(readExportedState([JSON.stringify({ id: "u", state })])).toEqual(state);
  expect(readExportedState([JSON.stringify(state)])).toEqual(state);
  expect(readExportedState(["name,parent\nSun,\n"])).toBeUndefined();
  expect(readExportedState(["null"])).toBeUndefined();
  expect(readExportedState([JSON.stringify(state), JSON.stringify(state)])).toBeUndefined();
});

test("the points of a line crowd at its body as closely as wanted", () => {
  for (const first of [2e-3, 1e-4, 1e-5, 1e-6]) {
    const k = chooseCrowding(first);
    expect(Math.sinh(k / 240) / Math.sinh(k) / first).toBeCloseTo(1, 2);
  }
  expect(chooseCrowding(0.1)).toBeGreaterThan(0);
});
