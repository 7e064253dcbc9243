/** A curve, or points, over time. */
export interface Curve {
  name: string;
  isPoints: boolean;
  x: readonly number[];
  /** Null is a gap. */
  y: readonly (number | null)[];
}

/** All curves at all times of any of them: undefined where a curve has no value of its own. */
export interface Aligned {
  times: number[];
  values: (number | null | undefined)[][];
}

/** Return the curves at the same times, in order. */
export function alignCurves(curves: readonly Curve[]): Aligned {
  const times = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
  const places = new Map(times.map((time, place) => [time, place]));
  const values = curves.map((curve) => {
    const row = new Array<number | null | undefined>(times.length).fill(undefined);
    for (const [index, time] of curve.x.entries()) row[places.get(time) ?? 0] = curve.y[index];
    return row;
  });
  return { times, values };
}

/** Return the value of a curve at a place or the last one before it, unless it is in a gap or before the curve. */
export function readValue(row: readonly (number | null | undefined)[], place: number): number | null {
  for (let at = place; at >= 0; at -= 1) {
    const value = row[at];
    if (value !== undefined) return value;
  }
  return null;
}

/** Return the least and the greatest value of a curve, or undefined if it has none. */
export function findExtremes(curve: Curve): [number, number] | undefined {
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of curve.y) {
    if (value === null) continue;
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  return least <= greatest ? [least, greatest] : undefined;
}

/** Return colours that differ from each other on a light or a dark ground, from warm to cold. */
export function makeColors(count: number, isDark: boolean): string[] {
  const [lightness, chroma] = isDark ? [0.8, 0.13] : [0.5, 0.15];
  return Array.from({ length: count }, (_, index) => {
    const hue = 35 + (count > 1 ? (index / (count - 1)) * 265 : 215);
    return `oklch(${lightness} ${chroma} ${hue.toFixed(0)})`;
  });
}

/** Return a number in at most five digits. */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined) return "";
  const size = Math.abs(value);
  return value === 0 || (size >= 1e-3 && size < 1e6)
    ? String(Number(value.toPrecision(5)))
    : value.toExponential(3).replace(/\.?0+e/, "e");
}
