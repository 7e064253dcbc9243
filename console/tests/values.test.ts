import { expect, test } from "vitest";
import { describePlanetMass, formatQuantity } from "../src/universes/value_origins.ts";

test("values of every kind are shown as text", () => {
  expect(formatQuantity(365.256363, "d")).toBe("365.256 d");
  expect(formatQuantity(5.9722e24, "kg")).toBe("5.9722e+24 kg");
  expect(formatQuantity([-0.1842715553, 0.9644459641, 1.063355e-8], "AU")).toBe("-0.184272, 0.964446, 1.0634e-8 AU");
  expect(formatQuantity(true, "")).toBe("true");
  expect(formatQuantity(null, "d")).toBe("unknown");
});

test("masses of planets are also in Earth or Jupiter masses, those of stars are not", () => {
  expect(describePlanetMass(2.0784146e-6)).toBe("0.692 Earth masses");
  expect(describePlanetMass(3.003489e-6)).toBe("1 Earth mass");
  expect(describePlanetMass(5.149e-5)).toBe("17.1 Earth masses");
  expect(describePlanetMass(9.5459e-4)).toBe("1 Jupiter mass");
  expect(describePlanetMass(0.0898)).toBeUndefined();
  expect(describePlanetMass(0)).toBeUndefined();
  expect(describePlanetMass(null)).toBeUndefined();
});
