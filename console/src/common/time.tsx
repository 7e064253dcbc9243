import { formatAge, formatExact, formatWhen, now } from "../data/times.ts";

/** How long ago something happened; the exact time is in the tooltip. */
export function Age({ at }: { at: string }) {
  return <Time at={at} format={formatAge} />;
}

/** When something happened: the clock for today, the date for the past. */
export function When({ at }: { at: string }) {
  return <Time at={at} format={formatWhen} />;
}

function Time({ at, format }: { at: string; format: (time: number, now: number) => string }) {
  const time = Date.parse(at);
  if (Number.isNaN(time)) return null;
  return (
    <time dateTime={at} title={formatExact(time)}>
      {format(time, now.value)}
    </time>
  );
}
