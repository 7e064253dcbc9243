import { useRef, useState } from "preact/hooks";
import { formatYears, makeYearBars, readYears, type YearBar } from "./library_query.ts";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.library;
const HEIGHT = 56;

interface Props {
  counts: readonly { year: number; paper_count: number }[];
  /** The filter, such as `2015..2020`. */
  years: string | undefined;
  onYears: (years: string | undefined) => void;
}

/** The papers of each year. A click chooses a bar, dragging chooses several; the fields do the same by keyboard. */
export function YearChart({ counts, years, onYears }: Props) {
  const bars = makeYearBars(counts);
  const [from, to] = readYears(years);
  return (
    <section class="year-chart">
      <h3>{texts.year}</h3>
      {bars.length > 1 && <Bars bars={bars} years={years} onYears={onYears} />}
      <div class="year-fields">
        <YearField label={texts.yearFrom} value={from} onYear={(year) => onYears(formatYears(year, to))} />
        <span aria-hidden="true">–</span>
        <YearField label={texts.yearTo} value={to} onYear={(year) => onYears(formatYears(from, year))} />
      </div>
    </section>
  );
}

function Bars({ bars, years, onYears }: { bars: readonly YearBar[] } & Omit<Props, "counts">) {
  const chart = useRef<SVGSVGElement>(null);
  const [drag, setDrag] = useState<{ start: number; end: number }>();
  const highest = Math.max(...bars.map((bar) => bar.count), 1);
  const [from, to] = readYears(years);
  const lowest = drag && Math.min(drag.start, drag.end);
  const chosen = (bar: YearBar, index: number) =>
    drag
      ? index >= (lowest ?? 0) && index <= Math.max(drag.start, drag.end)
      : years !== undefined && bar.last >= (from ?? -1) && bar.first <= (to ?? 10_000);

  function findBar(event: PointerEvent): number {
    const box = chart.current?.getBoundingClientRect();
    if (!box?.width) return 0;
    const index = Math.floor(((event.clientX - box.left) / box.width) * bars.length);
    return Math.min(bars.length - 1, Math.max(0, index));
  }
  function choose(start: number, end: number): void {
    const first = bars[Math.min(start, end)];
    const last = bars[Math.max(start, end)];
    if (!first || !last) return;
    const next = formatYears(first.first, last.last);
    onYears(next === years ? undefined : next);
  }

  const first = bars[0]?.first ?? 0;
  const last = bars.at(-1)?.last ?? 0;
  const total = bars.reduce((sum, bar) => sum + bar.count, 0);
  return (
    <>
      <svg
        ref={chart}
        class="year-bars"
        role="img"
        aria-label={texts.yearChart(first, last, total)}
        viewBox={`0 0 ${bars.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        onPointerDown={(event) => {
          const index = findBar(event);
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrag({ start: index, end: index });
        }}
        onPointerMove={(event) => drag && setDrag({ ...drag, end: findBar(event) })}
        onPointerUp={() => {
          if (drag) choose(drag.start, drag.end);
          setDrag(undefined);
        }}
        onPointerCancel={() => setDrag(undefined)}
      >
        {bars.map((bar, index) => {
          const height = bar.count ? Math.max(3, (bar.count / highest) * HEIGHT) : 0;
          return (
            <g key={bar.first} class={chosen(bar, index) ? "chosen" : ""}>
              <rect class="year-column" x={index * 10} y={0} width={10} height={HEIGHT} />
              <rect class="year-bar" x={index * 10 + 1} y={HEIGHT - height} width={8} height={height}>
                <title>{`${texts.years(bar.first, bar.last)}: ${texts.papers(bar.count)}`}</title>
              </rect>
            </g>
          );
        })}
      </svg>
      <div class="year-ends mono" aria-hidden="true">
        <span>{first}</span>
        <span>{last}</span>
      </div>
    </>
  );
}

function YearField(props: { label: string; value: number | undefined; onYear: (year: number | undefined) => void }) {
  const [typed, setTyped] = useState<string>();
  function send(text: string): void {
    setTyped(text);
    if (text === "") props.onYear(undefined);
    if (/^\d{4}$/.test(text)) props.onYear(Number(text));
  }
  return (
    <input
      type="text"
      class="mono"
      inputMode="numeric"
      maxLength={4}
      aria-label={props.label}
      placeholder={props.label}
      value={typed ?? props.value ?? ""}
      onInput={(event) => send(event.currentTarget.value)}
      onBlur={() => setTyped(undefined)}
    />
  );
}
