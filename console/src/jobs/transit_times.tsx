import { useState } from "preact/hooks";
import { Button } from "../common/controls.tsx";
import { Table } from "../common/layout.tsx";
import { saveFile } from "../common/save_file.ts";
import type { UniversePlanetTransits, UniverseTransitFacts } from "../data/api_types.ts";
import { universeTexts } from "../universes/strings.ts";
import { jobTexts as texts } from "./strings.ts";

const FIRST = 20;
const TIME_DIGITS = 6; // of a day: a tenth of a second
const CSV_FIELDS = [
  "number",
  "time",
  "ocMinutes",
  "impactParameter",
  "durationMinutes",
  "kind",
  "errorSeconds",
] as const;

/** The transits of a planet, as far as they are shown. */
type PlanetTransits = Pick<UniversePlanetTransits, "status" | "period" | "ttvHalfRangeMinutes" | "transits"> &
  Partial<Pick<UniversePlanetTransits, "name">>;
type Planets = Readonly<Record<string, PlanetTransits>>;

/** The transits of all planets: a line for each planet, then the times, to read and to save. */
export function TransitTimes({ planets, timeScale }: { planets: Planets; timeScale: string }) {
  const listed = Object.entries(planets).filter(([, planet]) => planet.transits.length > 0);
  return (
    <>
      <Table
        label={texts.kinds.transits}
        columns={texts.transitColumns.map((title, index) => ({ title, isNumber: index > 1 }))}
        rows={Object.entries(planets).map(([id, planet]) => [
          <span key="name" dir="auto">
            {planet.name || id}
          </span>,
          planet.status,
          planet.status.endsWith("unknown") ? universeTexts.universe.unknown : planet.transits.length,
          planet.period?.toFixed(6) ?? "",
          planet.ttvHalfRangeMinutes?.toFixed(2) ?? "",
        ])}
      />
      {listed.map(([id, planet]) => (
        <PlanetTimes key={id} name={planet.name || id} transits={planet.transits} timeScale={timeScale} />
      ))}
      {listed.length > 0 && (
        <p>
          <Button onClick={() => saveCsv(renderTransitsCsv(planets))}>{texts.saveTransits}</Button>
        </p>
      )}
    </>
  );
}

function PlanetTimes(props: { name: string; transits: readonly UniverseTransitFacts[]; timeScale: string }) {
  const { name, transits, timeScale } = props;
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? transits : transits.slice(0, FIRST);
  const label = texts.transitTimesOf(name);
  return (
    <details class="transit-times">
      <summary dir="auto">{label}</summary>
      <Table
        label={label}
        columns={texts.timeColumns(timeScale).map((title) => ({ title, isNumber: true }))}
        rows={shown.map((one) => [
          one.number,
          one.time.toFixed(TIME_DIGITS),
          one.ocMinutes?.toFixed(2) ?? "",
          one.durationMinutes?.toFixed(1) ?? "",
        ])}
      />
      {shown.length < transits.length && (
        <Button onClick={() => setWhole(true)}>{texts.allTransits(transits.length)}</Button>
      )}
    </details>
  );
}

/** Return all transits as CSV, with the columns of `universe transits --csv`. */
export function renderTransitsCsv(planets: Planets): string {
  const rows = Object.entries(planets).flatMap(([id, planet]) =>
    planet.transits.map((one) => [id, ...CSV_FIELDS.map((field) => one[field] ?? "")]),
  );
  const quote = (cell: string) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  // A spreadsheet would run an id such as =1+1.
  const neutralize = (cell: string | number) =>
    typeof cell === "string" && /^'*(?:[\t\r]|\s*[=+\-@＝＋－＠])/.test(cell) ? `'${cell}` : String(cell);
  return [["body", ...CSV_FIELDS], ...rows]
    .map((row) => `${row.map((cell) => quote(neutralize(cell))).join(",")}\n`)
    .join("");
}

function saveCsv(text: string): void {
  saveFile(new Blob([text], { type: "text/csv" }), texts.transitFile);
}
