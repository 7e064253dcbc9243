import type { ReadonlySignal } from "@preact/signals";
import { KM_PER_AU } from "./bodies.ts";
import { skyTexts } from "./strings.ts";

const WANTED_PIXELS = 110;
const STEPS = [1, 2, 5];

/** A length that is easy to read, and how many pixels it takes. */
export interface Scale {
  length: number;
  pixels: number;
}

/** Return the longest of 1, 2 or 5 times a power of ten that fits the bar. */
export function chooseScale(pixelsPerUnit: number): Scale | undefined {
  const longest = WANTED_PIXELS / pixelsPerUnit;
  if (!(longest > 0) || !Number.isFinite(longest)) return undefined;
  const power = 10 ** Math.floor(Math.log10(longest));
  const length = power * (STEPS.findLast((step) => step * power <= longest) ?? 1);
  return { length, pixels: length * pixelsPerUnit };
}

/** Return a length in words: in AU, or in km if it is small. */
export function formatLength(length: number, isAstronomical: boolean): string {
  const round = (value: number) => Number(value.toPrecision(2)).toLocaleString("en", { maximumSignificantDigits: 2 });
  if (!isAstronomical) return skyTexts.units(round(length));
  return length >= 1e-3 ? `${round(length)} AU` : `${round(length * KM_PER_AU)} km`;
}

/** How long a distance is on the screen, at the followed body. */
export function ScaleBar({
  scale,
  isAstronomical,
}: {
  scale: ReadonlySignal<Scale | undefined>;
  isAstronomical: boolean;
}) {
  const shown = scale.value;
  if (!shown) return null;
  return (
    <span class="scale-bar">
      <span class="scale-bar-line" style={{ width: `${shown.pixels.toFixed(1)}px` }} aria-hidden="true" />
      {skyTexts.scale(formatLength(shown.length, isAstronomical))}
    </span>
  );
}
