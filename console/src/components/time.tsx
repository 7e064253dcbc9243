import { formatAge, formatExact, formatWhen, now } from "../times.ts";

/** How long ago something happened; the exact time is in the tooltip. */
export function Age({ at }: { at: string }) {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return null;
  return (
    <time dateTime={at} title={formatExact(time)}>
      {formatAge(time, now.value)}
    </time>
  );
}

/** When something happened: the clock for today, the date for the past. */
export function When({ at }: { at: string }) {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return null;
  return (
    <time dateTime={at} title={formatExact(time)}>
      {formatWhen(time, now.value)}
    </time>
  );
}
