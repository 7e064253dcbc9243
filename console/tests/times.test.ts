import { expect, test } from "vitest";
import { formatAge, formatDuration, formatWhen, now, readNow, readServerClock } from "../src/data/times.ts";

test("the present is that of the server if the clock of the browser is wrong", () => {
  const hour = 3_600_000;
  const server = Date.now() - hour;
  readServerClock(new Response(null, { headers: { Date: new Date(server).toUTCString() } }));
  expect(Math.abs(readNow() - server)).toBeLessThan(60_000);
  expect(readNow()).toBeGreaterThanOrEqual(now.value);
});

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test("an age is in the largest unit of which it has one", () => {
  const ages = [-1, MINUTE - 1, MINUTE, HOUR - 1, HOUR, DAY - 1, DAY, 2 * DAY].map((age) => formatAge(0, age));
  expect(ages).toEqual(["<1 min", "<1 min", "1 min", "59 min", "1 h", "23 h", "1 day", "2 days"]);
});

test("a time of yesterday and of today is named by its day, also at midnight", () => {
  const midnight = new Date(2026, 2, 12).getTime();
  const names = [-DAY - 1, -DAY, -1, 0, DAY - 1].map((since) => formatWhen(midnight + since, midnight + HOUR));
  expect(names).toEqual(["10 Mar 2026", "Yesterday 00:00", "Yesterday 23:59", "Today 00:00", "Today 23:59"]);
});

test("a duration is in the two largest units that it has", () => {
  const durations = [999, 1_000, 59_900, 60_000, 250_000, 3_599_000, 3_600_000, 7_260_000].map(formatDuration);
  expect(durations).toEqual([
    "999 ms",
    "1.0 s",
    "59.9 s",
    "1 min 0 s",
    "4 min 10 s",
    "59 min 59 s",
    "1 h 0 min",
    "2 h 1 min",
  ]);
});
