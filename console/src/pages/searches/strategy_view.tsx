import type {
  PartOriginReply,
  QueryView,
  SearchStrategy,
  SourceReportReply,
  StrategyChange,
  StrategyReply,
  StrategySource,
} from "../../api_types.ts";
import { Dot, Tag } from "../../components/controls.tsx";
import { Card, Table } from "../../components/layout.tsx";
import { plural, strings } from "../../strings.ts";
import { SourceAnswer } from "./search_tags.tsx";

const texts = strings.strategy;

/** The queries, sources and limits of a search. `sources` is there while the search can tell the state of its sources. */
export type Plan = Pick<StrategyReply, "queries" | "inherited" | "changes" | "has_last_round"> & {
  strategy: SearchStrategy;
  sources?: readonly StrategySource[];
  intent?: { notes?: string[] } | null;
  offline?: boolean;
  /** The queries that a person removed from the plan. */
  struck?: readonly string[];
};

type Query = SearchStrategy["queries"][number];

/** The parts of a strategy that a decision can replace; a query may be its text alone. */
export interface DecidedEdit {
  queries?: readonly (string | Query)[];
  sources?: string[];
  filters?: Partial<SearchStrategy["filters"]>;
}

/** Return the plan that an earlier question asked about, as a person edited it, without the present state of its search. */
export function makeEarlierPlan(proposed: SearchStrategy, edit: DecidedEdit = {}): Plan {
  const queries = edit.queries?.map((query) => (typeof query === "string" ? { boolean_query: query } : query));
  const kept = new Set(queries?.map((query) => query.boolean_query));
  const strategy: SearchStrategy = {
    ...proposed,
    ...(queries && { queries: queries as Query[], origins: [] }), // origins name queries by their index in the proposal
    ...(edit.sources && { sources: edit.sources }),
    filters: { ...proposed.filters, ...edit.filters },
  };
  return {
    strategy,
    queries: strategy.queries.map((query) => ({ ...query, read_as: "", problems: [], translations: [] })),
    inherited: (strategy.origins ?? []).filter((origin) => origin.inherited),
    changes: [],
    has_last_round: false,
    struck: queries ? proposed.queries.map((query) => query.boolean_query).filter((text) => !kept.has(text)) : [],
  };
}

/** A strategy to read: queries in the syntax of each source, sources, limits, and what is new or kept. */
export function StrategyView({ plan }: { plan: Plan }) {
  const { strategy, sources } = plan;
  const reasons = new Map(strategy.origins?.map((origin) => [origin.part, origin.reason]));
  const chosen = (sources ?? []).filter((source) => source.is_chosen).map((source) => source.name);
  return (
    <>
      {plan.has_last_round && <ChangesCard changes={plan.changes} title={texts.changes} />}
      <Card title={texts.queries} aside={String(plan.queries.length)}>
        <ol class="queries">
          {plan.queries.map((query, index) => (
            <li key={index}>
              <p class="query-text mono" dir="auto">
                {query.boolean_query}
              </p>
              {reasons.get(`queries[${index}]`) && (
                <p class="quiet small" dir="auto">
                  {reasons.get(`queries[${index}]`)}
                </p>
              )}
              <QueryProblems query={query} />
              <Translations query={query} only={chosen} />
            </li>
          ))}
        </ol>
        {plan.struck?.map((query) => (
          <p key={query} class="struck-query quiet">
            <span class="small">{texts.struck}</span>{" "}
            <del class="mono" dir="auto">
              {query}
            </del>
          </p>
        ))}
      </Card>
      <Card title={texts.where} aside={describeLimits(strategy)}>
        {sources ? (
          <SourceTable sources={sources} isOffline={plan.offline ?? false} />
        ) : (
          <p class="card-body">{strategy.sources.join(", ") || texts.allSources}</p>
        )}
      </Card>
      {plan.inherited.length > 0 && <InheritedCard origins={plan.inherited} />}
      <NotesCard notes={[...(plan.intent?.notes ?? []), ...(strategy.notes ?? [])]} />
    </>
  );
}

/** The query as each source receives it. Without a query, the line for what the server has not translated yet. */
export function Translations({ query, only }: { query: QueryView | undefined; only: readonly string[] }) {
  const listed = query?.translations.filter((one) => only.includes(one.source));
  const count = listed?.length ?? only.length;
  if (!count) return null;
  return (
    <details class="more">
      <summary>{texts.syntax(count)}</summary>
      {!listed && <p class="quiet">{texts.checking}</p>}
      <dl class="translations">
        {listed?.map((one) => (
          <div key={one.source}>
            <dt>{one.source}</dt>
            <dd>
              {one.text && (
                <code title={one.address ?? undefined} dir="auto">
                  {one.text}
                </code>
              )}
              {one.problem && <p class="problem">{one.problem}</p>}
              {one.notes.map((note) => (
                <p key={note} class="hint">
                  {note}
                </p>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

const SNIPPET = 24;

/** Return the words of a query at a problem: whole words, if they are not very long, and an ellipsis for the rest. */
export function quoteWords(query: string, start: number, end: number): string {
  const rest = [...query.replace(/\s/g, " ").trimEnd()].slice(start); // positions count characters, not UTF-16 units
  let cut = Math.min(SNIPPET, Math.max(end - start, SNIPPET / 2));
  if (rest.length <= cut) return rest.join("");
  while (cut > 0 && rest[cut] !== " ") cut -= 1;
  if (!cut) cut = rest.indexOf(" ", 1); // the first word is longer
  if (cut < 0) cut = rest.length;
  if (cut > SNIPPET) return `${rest.slice(0, SNIPPET).join("")}…`;
  const words = rest.slice(0, cut).join("").trimEnd();
  return cut < rest.length ? `${words} …` : words;
}

/** The problems of a query, each with the words at which it is. */
export function QueryProblems({ query }: { query: QueryView }) {
  if (!query.problems.length) return null;
  return (
    <ul class="query-problems">
      {query.problems.map((problem, index) => {
        const words = quoteWords(query.boolean_query, problem.start, problem.end);
        return (
          <li key={index} class={problem.severity === "error" ? "problem" : "hint"}>
            <strong>{texts.severity[problem.severity]}</strong>{" "}
            {words && (
              <>
                {texts.at} <code dir="auto">{words}</code>{" "}
              </>
            )}
            {problem.message} {problem.hint}
          </li>
        );
      })}
    </ul>
  );
}

/** Whether a source can be used by this search, and if not, why. */
export function SourceUse({ source, isOffline }: { source: StrategySource; isOffline: boolean }) {
  if (!source.is_available) {
    const isLocked = source.needs_key && !source.has_key && !isOffline;
    return <Dot tone="hollow">{isLocked ? texts.noKey(source.key_variable) : source.remark}</Dot>;
  }
  if (isOffline) return <Dot tone="yes">{source.remark}</Dot>;
  return <Dot tone="yes">{source.has_key ? `${texts.ready}, ${texts.withKey}` : texts.ready}</Dot>;
}

function SourceTable({ sources, isOffline }: { sources: readonly StrategySource[]; isOffline: boolean }) {
  const chosen = sources.filter((source) => source.is_chosen);
  const others = sources.filter((source) => !source.is_chosen);
  return (
    <>
      <SourceRows {...{ isOffline }} sources={chosen} />
      {others.length > 0 && (
        <details class="more card-more">
          <summary>{texts.notUsed(others.length)}</summary>
          <SourceRows {...{ isOffline }} sources={others} />
        </details>
      )}
    </>
  );
}

function SourceRows({ sources, isOffline }: { sources: readonly StrategySource[]; isOffline: boolean }) {
  const hasLast = sources.some((source) => source.last);
  const columns = [{ title: texts.source }, { title: texts.state }, ...(hasLast ? [{ title: texts.last }] : [])];
  return (
    <Table
      label={texts.where}
      columns={columns}
      rows={sources.map((source) => [
        source.name,
        <SourceUse key="use" source={source} isOffline={isOffline} />,
        ...(hasLast ? [source.last ? <LastAnswer key="last" report={source.last} /> : ""] : []),
      ])}
    />
  );
}

function LastAnswer({ report }: { report: SourceReportReply }) {
  return <SourceAnswer source={report} facts={[plural(report.returned ?? 0, "paper")]} />;
}

function describeLimits({ filters }: SearchStrategy): string {
  if (!filters) return "";
  const from = filters.year_from ? String(filters.year_from) : "";
  const to = filters.year_to ? String(filters.year_to) : "";
  const years = from && to ? texts.years(from, to) : from ? texts.since(from) : to ? texts.until(to) : texts.anyYear;
  const most = filters.max_results ? texts.atMost(filters.max_results) : "";
  return [years, filters.language ?? "", most].filter(Boolean).join(", ");
}

/** The parts that differ from another strategy. */
export function ChangesCard({ changes, title }: { changes: readonly StrategyChange[]; title: string }) {
  return (
    <Card title={title} aside={changes.length ? String(changes.length) : ""}>
      {changes.length ? (
        <ul class="changes">
          {changes.map((change, index) => (
            <li key={index}>
              <span class="quiet small">{texts.parts[change.part] ?? change.part}</span>
              <span class="change">
                {change.before !== null && <del dir="auto">{change.before}</del>}
                {change.after !== null && <ins dir="auto">{change.after}</ins>}
                {change.before === null && <Tag tone="yes">{texts.added}</Tag>}
                {change.after === null && <Tag tone="no">{texts.removed}</Tag>}
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <p class="card-body quiet">{texts.noChanges}</p>
      )}
    </Card>
  );
}

function InheritedCard({ origins }: { origins: readonly PartOriginReply[] }) {
  return (
    <Card title={texts.inherited} aside={String(origins.length)}>
      <Table
        label={texts.inherited}
        columns={[{ title: texts.part }, { title: texts.value }, { title: texts.reason }]}
        rows={origins.map((origin) => [
          texts.parts[origin.part.replace(/\[\d+\]$/, "").replace("queries", "query")] ?? origin.part,
          <span key="value" class={origin.part.startsWith("queries") ? "mono" : ""} dir="auto">
            {origin.value}
          </span>,
          origin.reason,
        ])}
      />
    </Card>
  );
}

function NotesCard({ notes }: { notes: readonly string[] }) {
  if (!notes.length) return null;
  return (
    <Card title={texts.notes}>
      <ul class="card-body notes">
        {[...new Set(notes)].map((note) => (
          <li key={note} dir="auto">
            {note}
          </li>
        ))}
      </ul>
    </Card>
  );
}
