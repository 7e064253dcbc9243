import { expect, test } from "vitest";
import { formatValue } from "../src/universe/values.ts";

test("values of every kind are shown as text", () => {
  expect(formatValue(365.256363, "d")).toBe("365.256 d");
  expect(formatValue(5.9722e24, "kg")).toBe("5.9722e+24 kg");
  expect(formatValue([-0.1842715553, 0.9644459641, 1.063355e-8], "AU")).toBe("-0.184272, 0.964446, 1.0634e-8 AU");
  expect(formatValue(true, "")).toBe("true");
  expect(formatValue(null, "d")).toBe("unknown");
});
