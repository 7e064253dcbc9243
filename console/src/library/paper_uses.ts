import type { BodyUse } from "../data/api_types.ts";
import { universeTexts } from "../universes/strings.ts";
import { libraryTexts } from "./strings.ts";

const ORBIT = /^(?:kepler\.|orbit|semiMajorAxis$|eccentricity$)/;
const UNIT = /(?:Kg|Km|Kelvin|Solar|Gyr|Days|Pc)$/;

/** Return the uses of each universe. */
export function groupByUniverse(uses: readonly BodyUse[]): [string, BodyUse[]][] {
  const groups = new Map<string, BodyUse[]>();
  for (const use of uses) groups.set(use.universe_id, [...(groups.get(use.universe_id) ?? []), use]);
  return [...groups];
}

/** Return the names of the bodies that take the same values from a paper, by these values in words. */
export function groupByFields(uses: readonly BodyUse[]): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const use of uses) {
    const fields = [...new Set(use.fields.map(summarizeField))].join(", ");
    groups.set(fields, [...(groups.get(fields) ?? []), use.body]);
  }
  return [...groups];
}

const LABELS: Record<string, string> = universeTexts.universe.fields;

/** Return a field of a body within a sentence: all elements of an orbit are its orbit, and units are left out. */
function summarizeField(field: string): string {
  if (ORBIT.test(field)) return libraryTexts.paper.orbit;
  const name = field.replace(/^physical\./, "").replace(UNIT, "");
  const label = LABELS[name] ?? LABELS[field];
  if (label) return label.charAt(0).toLowerCase() + label.slice(1);
  return name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
