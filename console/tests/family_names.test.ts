import { expect, it } from "vitest";
import { getFamilyName } from "../src/family_names.ts";

it.each([
  ["Julien de Wit", "de Wit"],
  ["Jan van der Berg", "van der Berg"],
  ["de Wit, Julien", "de Wit"],
  ["Michaël Gillon", "Gillon"],
  ["Émeline Bolmont", "Bolmont"],
  ["NASA Exoplanet Science Institute", "NASA Exoplanet Science Institute"],
  ["Planck Collaboration", "Planck Collaboration"],
  ["Uraniborg", "Uraniborg"],
  ["", ""],
])("the family name of %j is %j", (name, family) => {
  expect(getFamilyName(name)).toBe(family);
});
