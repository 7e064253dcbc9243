import { expect, test } from "vitest";
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
