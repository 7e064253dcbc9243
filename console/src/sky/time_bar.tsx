import { useComputed, useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { Button } from "../common/controls.tsx";
import type { Cast } from "./bodies.ts";
import { formatClock, formatDate, fromDate, toDate } from "./dates.ts";
import type { SkyState } from "./sky_state.ts";
import { SPEEDS } from "./speeds.ts";
import { skyTexts as texts } from "./strings.ts";

const SLIDER_SECONDS = 60;

/** Play, pause, scrub, choose a speed, and jump to a date. */
export function TimeBar({ state, cast, universeTime }: { state: SkyState; cast: Cast; universeTime: number }) {
  const anchor = useSignal(state.time.peek() ?? universeTime);
  const id = useId();
  const time = state.time.value ?? universeTime;
  const speed = state.speed.value ?? 1;
  const span = Math.abs(speed) * SLIDER_SECONDS;
  if (Math.abs(time - anchor.peek()) > span) anchor.value = time;
  const isPlaying = state.isPlaying.value;
  const when = useComputed(() => describeTime(state.time.value ?? universeTime, cast)).value;
  return (
    <div class="time-bar" role="group" aria-label={texts.timeBar}>
      <Button
        onClick={() => {
          state.isPlaying.value = !isPlaying;
        }}
        label={isPlaying ? texts.pause : texts.play}
      >
        {isPlaying ? texts.pause : texts.play}
      </Button>
      <input
        class="time-slider"
        type="range"
        aria-label={texts.time}
        aria-valuetext={when}
        min={anchor.value - span}
        max={anchor.value + span}
        step="any"
        value={time}
        onInput={(event) => {
          state.isPlaying.value = false;
          state.time.value = event.currentTarget.valueAsNumber;
        }}
      />
      <DateField
        key={cast.epoch === undefined ? "number" : "date"}
        state={state}
        cast={cast}
        time={time}
        anchor={(at) => {
          anchor.value = at;
        }}
      />
      <label class="visually-hidden" for={`${id}-speed`}>
        {texts.speed}
      </label>
      <select
        id={`${id}-speed`}
        value={String(speed)}
        onChange={(event) => {
          state.speed.value = Number(event.currentTarget.value);
        }}
      >
        {[...new Set([...SPEEDS, speed])]
          .sort((a, b) => a - b)
          .map((one) => (
            <option key={one} value={String(one)}>
              {texts.perSecond(one, cast.isAstronomical)}
            </option>
          ))}
      </select>
      {time !== universeTime && (
        <Button
          kind="quiet"
          label={texts.toUniverseTime}
          onClick={() => {
            state.isPlaying.value = false;
            state.time.value = universeTime;
          }}
        >
          <span class="wide-only">{texts.toUniverseTime}</span>
          <span class="narrow-only">{texts.back}</span>
        </Button>
      )}
    </div>
  );
}

/** The date, or the number of the day, which can be typed to jump there. */
function DateField(props: { state: SkyState; cast: Cast; time: number; anchor: (time: number) => void }) {
  const { state, cast, time, anchor } = props;
  const draft = useSignal<string | undefined>(undefined);
  const problem = useSignal(false);
  const { epoch } = cast;
  const shown = epoch === undefined ? formatNumber(time) : formatDate(toDate(time, epoch));
  function jump(): void {
    const text = draft.peek();
    draft.value = undefined;
    if (text === undefined || text === shown) return;
    const parsed = epoch === undefined ? Number(text.trim() || Number.NaN) : fromDate(text, epoch);
    if (parsed === undefined || !Number.isFinite(parsed)) {
      problem.value = true;
      return;
    }
    problem.value = false;
    state.isPlaying.value = false;
    state.time.value = parsed;
    anchor(parsed);
  }
  return (
    <span class="time-field">
      <input
        class="mono"
        type="text"
        inputMode={epoch === undefined ? "decimal" : "text"}
        aria-label={epoch === undefined ? texts.day : texts.date}
        aria-invalid={problem.value ? "true" : undefined}
        title={problem.value ? (epoch === undefined ? texts.dayProblem : texts.dateProblem) : undefined}
        value={draft.value ?? shown}
        onFocus={(event) => event.currentTarget.select()}
        onInput={(event) => {
          draft.value = event.currentTarget.value;
        }}
        onBlur={jump}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
          else if (event.key === "Escape") draft.value = undefined; // leaves the field, and jumps nowhere
        }}
      />
      {epoch === undefined && cast.isAstronomical && <span class="quiet">{texts.days}</span>}
      {epoch !== undefined && (
        <span class="mono quiet wide-only" aria-hidden="true">
          {formatClock(toDate(time, epoch))}
        </span>
      )}
    </span>
  );
}

function formatNumber(time: number): string {
  return time.toFixed(2);
}

/** Return a time in words, for people who do not see it. */
function describeTime(time: number, cast: Cast): string {
  if (cast.epoch === undefined) return texts.dayNumber(formatNumber(time));
  const date = toDate(time, cast.epoch);
  return `${formatDate(date)} ${formatClock(date)}`;
}
