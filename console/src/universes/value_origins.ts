import type { Tone } from "../common/controls.tsx";
import type { Actor } from "../data/api_types.ts";
import type { Location, Source } from "./shelf_papers.ts";
import { universeTexts } from "./strings.ts";

/** A value of a body, as the API describes its origin. */
export interface Value {
  /** A number, a text, or the numbers of a vector such as a position. */
  value: unknown;
  unit: string;
  status: string;
  /** Who set or claimed the value, and in which version. */
  mark: string;
  sources: string[];
}

/** The origin of one value. */
export interface Origin {
  field: string;
  value: unknown;
  unit: string;
  status: string;
  mark: string;
  sources: (Source & {
    location: Location | null;
    conversion: string | null;
    status: string;
    reason: string | null;
    isChecked: boolean;
    note?: string | null;
  })[];
  command?: {
    version: number;
    author: string | null;
    actor?: Actor | null;
    at: string;
    type: string;
    reason?: string;
  };
  computed?: { how: string; from: { field: string; value: unknown; unit: string; status: string }[] };
  withdrawn?: string;
}

const MAIN = [
  "mass",
  "physical.radiusKm",
  "physical.teffKelvin",
  "physical.luminositySolar",
  "kepler.period",
  "kepler.semiMajorAxis",
  "kepler.eccentricity",
  "kepler.inclination",
  "orbitalDistance",
];

/** Fields that repeat another one for programs that know no true orbits. */
const REPEATED: Record<string, string> = {
  semiMajorAxis: "kepler.semiMajorAxis",
  orbitalDistance: "kepler.semiMajorAxis",
  eccentricity: "kepler.eccentricity",
};

/** Split the values of a body into those that are shown first and the rest, without repeated ones. */
export function splitFields(fields: Record<string, Value>): [[string, Value][], [string, Value][]] {
  const main = MAIN.filter(
    (name) => name in fields && !(name === "orbitalDistance" && "kepler.semiMajorAxis" in fields),
  );
  const isRepeated = (name: string) => {
    const original = fields[REPEATED[name] ?? ""];
    return original !== undefined && original.value === fields[name]?.value;
  };
  const rest = Object.keys(fields).filter((name) => !main.includes(name) && !isRepeated(name));
  const pick = (names: string[]) => names.map((name) => [name, fields[name] as Value] as [string, Value]);
  return [pick(main), pick(rest)];
}

/** Return the numbers of the sources, in the order in which the values name them. */
export function numberSources(fields: Record<string, Value>): Map<string, number> {
  const [main, rest] = splitFields(fields);
  const numbers = new Map<string, number>();
  for (const [, value] of [...main, ...rest]) {
    for (const id of value.sources) if (!numbers.has(id)) numbers.set(id, numbers.size + 1);
  }
  return numbers;
}

/** Return a number, or the numbers of a vector, with at most six digits and a unit. */
export function formatQuantity(value: unknown, unit: string): string {
  if (value === null || value === undefined) return universeTexts.universe.unknown;
  if (typeof value === "string") return value;
  const numbers: unknown[] = Array.isArray(value) ? value : [value];
  const text = numbers.map((one) => (typeof one === "number" ? formatNumber(one) : JSON.stringify(one))).join(", ");
  return unit ? `${text} ${unit}` : text;
}

export const SOLAR_MASSES = "solar masses";
const LIGHTEST_STAR = 0.08;
/** Masses of the planet in a solar mass (nominal values of the IAU, 2015). */
const EARTHS = 332_946.05;
const JUPITERS = 1_047.57;

/** Return a mass in Earth masses, or from a tenth of Jupiter on in Jupiter masses; undefined for stars. */
export function describePlanetMass(solarMasses: unknown): string | undefined {
  if (typeof solarMasses !== "number" || !(solarMasses > 0 && solarMasses < LIGHTEST_STAR)) return undefined;
  const round = (value: number) => formatNumber(Number(value.toPrecision(3)));
  const jupiters = solarMasses * JUPITERS;
  return jupiters >= 0.1
    ? universeTexts.universe.jupiterMasses(round(jupiters))
    : universeTexts.universe.earthMasses(round(solarMasses * EARTHS));
}

function formatNumber(value: number): string {
  const isPlain = value === 0 || (Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6);
  return isPlain ? String(Number(value.toPrecision(6))) : value.toExponential(4).replace(/\.?0+e/, "e");
}

const LABELS: Record<string, string> = universeTexts.universe.fields;

/** Return the name of a field: in words, or as commands write it. */
export function nameField(field: string): string {
  return LABELS[field] ?? field;
}

/** Return the word that marks a value, if it needs one: sourced values have the number of their source. */
export function tagStatus(status: string): { tone: Tone; word: string } | undefined {
  if (status === "unverified claim") return { tone: "maybe", word: universeTexts.universe.unverified };
  if (status === "set") return { tone: "accent", word: universeTexts.universe.set };
  if (status === "without source") return { tone: "neutral", word: universeTexts.universe.unsourced };
  return undefined;
}
