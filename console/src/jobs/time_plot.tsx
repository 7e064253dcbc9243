import { useSignal } from "@preact/signals";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import { Table } from "../common/layout.tsx";
import { theme } from "../data/preferences.ts";
import type { PlotCanvas } from "./canvas.ts";
import { alignCurves, type Curve, findExtremes, formatNumber, makeColors, readValue } from "./curves.ts";
import { jobTexts } from "./strings.ts";

const texts = jobTexts.plot;

interface TimePlotProps {
  /** The quantity with its unit. */
  title: string;
  note: string;
  /** The axis of the time with its unit. */
  xLabel: string;
  curves: readonly Curve[];
  range: readonly [number, number] | null;
  isAngle: boolean;
  lines: readonly number[];
  syncKey: string;
}

/**
 * Curves over time. The pointer or the slider chooses a time; the table below has the names, the values at that time
 * and the extremes, for everyone who does not see the curves.
 */
export function TimePlot(props: TimePlotProps) {
  const { title, note, curves, xLabel } = props;
  const aligned = useMemo(() => alignCurves(curves), [curves]);
  const place = useSignal(aligned.times.length - 1);
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<PlotCanvas | undefined>(undefined);
  const isDark = useDarkness();
  const colors = useMemo(() => makeColors(curves.length, isDark), [curves, isDark]);
  const id = useId();

  useEffect(() => {
    let isGone = false;
    let drawn: PlotCanvas | undefined;
    const draw = async () => {
      const { PlotCanvas } = await import("./canvas.ts");
      if (isGone || !host.current) return;
      const style = getComputedStyle(host.current);
      drawn = new PlotCanvas(host.current, {
        ...props,
        aligned,
        look: { ink: style.color, grid: style.borderTopColor, colors },
        onCursor: (at) => {
          place.value = at;
        },
      });
      canvas.current = drawn;
    };
    draw().catch(() => undefined); // the table has the values
    return () => {
      isGone = true;
      drawn?.dispose();
    };
  }, [aligned, colors, xLabel]);

  const time = formatNumber(aligned.times[place.value]);
  const values = aligned.values.map((row) => formatNumber(readValue(row, place.value)));
  const spoken = curves.map((curve, index) => `${curve.name} ${values[index] || texts.none}`).join(", ");
  return (
    <figure class="time-plot" aria-labelledby={`${id}-title`}>
      <figcaption>
        <h3 id={`${id}-title`} dir="auto">
          {title}
        </h3>
        <span class="quiet small" dir="auto">
          {note}
        </span>
      </figcaption>
      <div class="time-plot-canvas" ref={host} aria-hidden="true" />
      <input
        type="range"
        aria-label={texts.timeOf(title)}
        aria-valuetext={texts.at(time, xLabel, spoken)}
        min={0}
        max={Math.max(aligned.times.length - 1, 0)}
        value={place.value}
        onInput={(event) => {
          place.value = Number(event.currentTarget.value);
          canvas.current?.setCursor(aligned.times[place.value] ?? 0);
        }}
      />
      <Table
        label={title}
        columns={[
          { title: texts.curve },
          { title: texts.valueAt(time, xLabel), isNumber: true },
          { title: texts.least, isNumber: true },
          { title: texts.greatest, isNumber: true },
        ]}
        rows={curves.map((curve, index) => {
          const extremes = findExtremes(curve);
          return [
            <span key="name" class="plot-name" dir="auto">
              <span class="plot-swatch" style={{ background: colors[index] ?? "" }} aria-hidden="true" />
              {curve.name}
            </span>,
            values[index] || texts.none,
            formatNumber(extremes?.[0]),
            formatNumber(extremes?.[1]),
          ];
        })}
      />
    </figure>
  );
}

/** Use whether the page is dark now. */
function useDarkness(): boolean {
  const media = useMemo(() => matchMedia("(prefers-color-scheme: dark)"), []);
  const isDark = useSignal(media.matches);
  useEffect(() => {
    const follow = () => {
      isDark.value = media.matches;
    };
    media.addEventListener("change", follow);
    return () => media.removeEventListener("change", follow);
  }, [media]);
  return theme.value === "auto" ? isDark.value : theme.value === "dark";
}
