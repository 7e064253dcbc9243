import { expect, test } from "vitest";
import { now, readNow, readServerClock } from "../src/times.ts";

test("the present is that of the server if the clock of the browser is wrong", () => {
  const hour = 3_600_000;
  const server = Date.now() - hour;
  readServerClock(new Response(null, { headers: { Date: new Date(server).toUTCString() } }));
  expect(Math.abs(readNow() - server)).toBeLessThan(60_000);
  expect(readNow()).toBeGreaterThanOrEqual(now.value);
});
