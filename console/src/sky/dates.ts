const UNIX_EPOCH_JULIAN = 2_440_587.5;
const DAY_MS = 86_400_000;

/** Return the time of a universe as a date and a clock, by the Julian date of its time 0. */
export function toDate(time: number, epoch: number): Date {
  return new Date((time + epoch - UNIX_EPOCH_JULIAN) * DAY_MS);
}

/** Return the time of a universe at a date such as 2026-11-17, or undefined if it is not one. */
export function fromDate(text: string, epoch: number): number | undefined {
  const match = /^(-?\d{1,6})-(\d{2})-(\d{2})$/.exec(text.trim());
  if (!match) return undefined;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() / DAY_MS + UNIX_EPOCH_JULIAN - epoch;
}

/** Return a date such as 2026-11-17. Years of other lengths are written as they are. */
export function formatDate(date: Date): string {
  if (Number.isNaN(date.getTime())) return "";
  const year = date.getUTCFullYear();
  const text = Math.abs(year).toString().padStart(4, "0");
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${year < 0 ? "-" : ""}${text}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
}

/** Return the clock of a date, such as 13:05. */
export function formatClock(date: Date): string {
  if (Number.isNaN(date.getTime())) return "";
  return `${String(date.getUTCHours()).padStart(2, "0")}:${String(date.getUTCMinutes()).padStart(2, "0")}`;
}
