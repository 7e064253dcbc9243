import { expect, test } from "vitest";
import { formatMass } from "../src/story/mass_table.tsx";
import { readStepValues } from "../src/story/step_inputs.tsx";

test("typed numbers are sent as numbers, and other text as it is", () => {
  const marks = { a: { status: "include", reason: "1" } };
  expect(readStepValues({ factor: "2.5", years: " 10. ", strike: 2, marks })).toEqual({
    factor: 2.5,
    years: 10,
    strike: 2,
    marks,
  });
  expect(readStepValues({ factor: "", years: "ten" })).toEqual({ factor: "", years: "ten" });
});

test("a mass is given in Earth or Jupiter masses up to the lightest stars, as beside the picture of a universe", () => {
  expect([9.79e-7, 0.05, 0.0898].map((mass) => formatMass({ mass }))).toEqual([
    "0.326 Earth masses",
    "52.4 Jupiter masses",
    "0.0898 solar masses",
  ]);
});
