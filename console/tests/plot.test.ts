import { expect, test } from "vitest";
import { alignCurves, type Curve, findExtremes, formatNumber, makeColors, readValue } from "../src/jobs/curves.ts";

const RISING: Curve = { name: "b", isPoints: false, x: [0, 2, 4], y: [1, null, 3] };
const DOTS: Curve = { name: "c", isPoints: true, x: [1, 2], y: [-7, 9] };

test("curves with times of their own are put on one axis, and a gap stays a gap", () => {
  const { times, values } = alignCurves([RISING, DOTS]);
  expect(times).toEqual([0, 1, 2, 4]);
  expect(values).toEqual([
    [1, undefined, null, 3],
    [undefined, -7, 9, undefined],
  ]);
});

test("the value at a time is the last one before it, unless the curve has a gap or has not begun", () => {
  const [rising = [], dots = []] = alignCurves([RISING, DOTS]).values;
  expect(readValue(rising, 1)).toBe(1);
  expect(readValue(rising, 2)).toBeNull();
  expect(readValue(dots, 0)).toBeNull();
  expect(readValue(dots, 3)).toBe(9);
});

test("extremes leave out gaps, and a curve of gaps has none", () => {
  expect(findExtremes(RISING)).toEqual([1, 3]);
  expect(findExtremes({ ...RISING, y: [null, null, null] })).toBeUndefined();
});

test("every curve has a colour of its own, darker on a light ground", () => {
  expect(new Set(makeColors(24, true)).size).toBe(24);
  expect(makeColors(1, false)[0]).toMatch(/^oklch\(0\.5 /);
  expect(makeColors(0, false)).toEqual([]);
});

test("numbers of any size are short", () => {
  expect(formatNumber(123.456789)).toBe("123.46");
  expect(formatNumber(-0.0000012)).toBe("-1.2e-6");
  expect(formatNumber(0)).toBe("0");
  expect(formatNumber(null)).toBe("");
});
