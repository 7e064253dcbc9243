import { signal } from "@preact/signals";
import { commonTexts } from "../common/strings.ts";

/** The present time of the server, which moves every half minute so that ages on the page stay true. */
export const now = signal(Date.now());
let offset = 0;
setInterval(() => {
  now.value = Date.now() + offset;
}, 30_000);

const SKEW = 5_000;

/** Return the present time of the server, also between two moves of `now`. */
export function readNow(): number {
  return Math.max(now.value, Date.now() + offset);
}

/** Follow the clock of the server, given by a response: that of the browser may be wrong. */
export function readServerClock(response: Response): void {
  const time = Date.parse(response.headers.get("Date") ?? "");
  const found = time - Date.now();
  if (Math.abs(found - offset) < SKEW || Number.isNaN(time)) return; // the header has whole seconds, on the way they pass
  offset = Math.abs(found) < SKEW ? 0 : found;
  now.value = Date.now() + offset;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Return an age in short, such as "4 min". A time in the future, by another clock that is ahead, is like the present. */
export function formatAge(time: number, present: number): string {
  const age = Math.max(0, present - time);
  if (age < MINUTE) return commonTexts.times.now;
  if (age < HOUR) return commonTexts.times.minutes(Math.floor(age / MINUTE));
  if (age < DAY) return commonTexts.times.hours(Math.floor(age / HOUR));
  return commonTexts.times.days(Math.floor(age / DAY));
}

/** Return when something happened, such as "Today 09:12", "Yesterday 18:40" or "12 Mar 2026". */
export function formatWhen(time: number, present: number): string {
  const then = new Date(time);
  const midnight = new Date(present).setHours(0, 0, 0, 0);
  const clock = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  if (time >= midnight && time < midnight + DAY) return commonTexts.times.today(clock);
  if (time >= midnight - DAY && time < midnight) return commonTexts.times.yesterday(clock);
  return then.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

/** Return a duration in words, such as "0.3 s" or "4 min 10 s". */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** Return the exact time, for a tooltip. */
export function formatExact(time: number): string {
  return new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });
}
