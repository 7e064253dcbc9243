import type { Cast } from "./bodies.ts";
import { computePeriod, type Elements, getFlags, KEPLER } from "./elements.ts";

/** Speeds that a person can choose, in units of time for a second. */
export const SPEEDS = [0.01, 0.04, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 365.25, 3652.5] as const;
const SECONDS_PER_ORBIT = 12;

/** Return a speed at which the orbits about the roots are well seen. */
export function chooseSpeed(elements: Elements, cast: Cast): number {
  const periods = cast.bodies
    .filter((body) => body.depth === 1 && getFlags(elements, body.index) & KEPLER)
    .flatMap((body) => computePeriod(elements, body.index) ?? [])
    .sort((a, b) => a - b);
  const typical = periods[Math.floor(periods.length / 4)];
  if (typical === undefined) return 1;
  const wanted = typical / SECONDS_PER_ORBIT;
  return SPEEDS.reduce((best, one) =>
    Math.abs(Math.log(one / wanted)) < Math.abs(Math.log(best / wanted)) ? one : best,
  );
}
