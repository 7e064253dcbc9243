import { expect, test } from "vitest";
import source from "../src/styles/tokens.css?raw";

const TEXTS = ["ink", "quiet", "accent", "yes", "no", "maybe", "waiting"];
const SURFACES = ["ground", "sheet", "well"];
const WASHES = ["accent", "yes", "no", "maybe", "waiting"];

/** Return the colours of a theme by their names. */
function readColours(theme: "light" | "dark"): Map<string, string> {
  const pairs = source.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g);
  return new Map([...pairs].map(([, name = "", light = "", dark = ""]) => [name, theme === "light" ? light : dark]));
}

/** Return the relative luminance of a colour as WCAG 2 defines it. */
function computeLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((place) => {
    const value = Number.parseInt(colour.slice(place, place + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function computeContrast(one: string, other: string): number {
  const [low = 0, high = 0] = [computeLuminance(one), computeLuminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Return the pairs of names whose contrast is too low. */
function findFaint(theme: "light" | "dark", pairs: readonly (readonly [string, string])[], least: number): string[] {
  const colours = readColours(theme);
  return pairs
    .map(([one, other]) => ({ one, other, value: computeContrast(colours.get(one) ?? "", colours.get(other) ?? "") }))
    .filter(({ value }) => !(value >= least))
    .map(({ one, other, value }) => `${one} on ${other}: ${value.toFixed(2)}`);
}

test.each(["light", "dark"] as const)("texts and edges of controls have enough contrast in the %s theme", (theme) => {
  const onSurfaces = TEXTS.flatMap((name) => SURFACES.map((surface) => [name, surface] as const));
  const onWashes = WASHES.flatMap((name) => [[name, `${name}-wash`] as const, ["ink", `${name}-wash`] as const]);
  const onColours = [["on-accent", "accent"] as const];
  expect(computeContrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(findFaint(theme, [...onSurfaces, ...onWashes, ...onColours], 4.5)).toEqual([]);
  const edges = ["edge", "accent"].flatMap((name) => SURFACES.map((surface) => [name, surface] as const));
  expect(findFaint(theme, edges, 3)).toEqual([]);
});
