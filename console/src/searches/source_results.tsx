import { Tag } from "../common/controls.tsx";
import type { QueryReport, SourceReportReply } from "../data/api_types.ts";
import { strategyTexts } from "../strategy/strings.ts";
import { SourceAnswer } from "./search_tags.tsx";
import { searchTexts } from "./strings.ts";

const texts = searchTexts.sourceResults;
/** Reasons to stop for which perhaps not all matches were fetched, if their number is unknown. */
const LIMITS = new Set<string>(["enough", "source_limit", "too_broad"]);
const count = (value: number) => value.toLocaleString("en-GB");

/** What each source did: its answer in short, and one click away each query as it received it, with its counts. */
export function SourceResults({ reports }: { reports: readonly SourceReportReply[] }) {
  return (
    <ul class="source-results">
      {reports.map((report) => (
        <li key={report.name}>
          <div class="source-result">
            <span>{report.label}</span>
            <span>
              <SourceAnswer
                source={{ ...report, partial: isPartial(report) }}
                facts={[texts.fetched(report.received ?? 0, countNew(report))]}
              />
            </span>
          </div>
          <QueryResults queries={report.queries ?? []} />
        </li>
      ))}
    </ul>
  );
}

function QueryResults({ queries }: { queries: readonly QueryReport[] }) {
  if (!queries.length) return null;
  const run = queries.filter((query) => query.stopped !== "not_run");
  const others = queries.filter((query) => query.stopped === "not_run");
  return (
    <details class="more">
      <summary>{texts.queryCount(run.length, queries.length)}</summary>
      <ol class="query-results">
        {run.map((query, index) => (
          <li key={index}>
            <code dir="auto">{query.text}</code>
            <p class="quiet small">
              {texts.rung(query.rung ?? 0)}: {describeQuery(query)}{" "}
              {isCut(query) && <Tag tone="maybe">{texts.partial}</Tag>}
            </p>
          </li>
        ))}
      </ol>
      {others.length > 0 && (
        <details class="more">
          <summary>{texts.notRun(others.length)}</summary>
          <ol class="query-results">
            {others.map((query, index) => (
              <li key={index}>
                <code dir="auto">{query.text}</code>
                <p class="quiet small">
                  {texts.rung(query.rung ?? 0)}: {describeQuery(query)}
                </p>
              </li>
            ))}
          </ol>
        </details>
      )}
    </details>
  );
}

/** Return the counts of a query and why it stopped, as the source states them. */
export function describeQuery(query: QueryReport): string {
  const why = query.reason || texts.stopped[query.stopped] || query.stopped;
  if (query.stopped === "not_run") return strategyTexts.ladder.notRun(query.reason ?? "");
  const { fetched = 0, added = 0 } = query;
  const matches = isKnown(query.found) ? texts.matches(query.found) : texts.notStated;
  return `${matches}, ${count(fetched)} fetched, ${count(added)} new; ${why}`;
}

/** Return true if a source sent less than matches, or was stopped. */
export function isPartial(report: SourceReportReply): boolean {
  return Boolean(report.partial) || (report.queries ?? []).some(isCut);
}

function isCut(query: QueryReport): boolean {
  if (query.stopped === "not_run") return false;
  return isKnown(query.found) ? (query.fetched ?? 0) < query.found : LIMITS.has(query.stopped);
}

function isKnown(found: number | null | undefined): found is number {
  return found !== null && found !== undefined;
}

function countNew(report: SourceReportReply): number {
  const { queries = [] } = report;
  return queries.length ? queries.reduce((sum, query) => sum + (query.added ?? 0), 0) : (report.returned ?? 0);
}

/** Return what the sources did with the queries of a rung, or why they did not run it; "" if no source reports queries. */
export function describeRung(reports: readonly SourceReportReply[], rung: number): string {
  const queries = reports.flatMap((report) => (report.queries ?? []).filter((query) => (query.rung ?? 0) === rung));
  if (!queries.length) return "";
  const run = queries.filter((query) => query.stopped !== "not_run");
  if (!run.length)
    return strategyTexts.ladder.notRun([...new Set(queries.map((query) => query.reason))].join(" ").trim());
  return strategyTexts.ladder.ran(count(run.reduce((sum, query) => sum + (query.added ?? 0), 0)));
}
