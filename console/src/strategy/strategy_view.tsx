import { Button, Dot, Tag } from "../common/controls.tsx";
import { Card, Table } from "../common/layout.tsx";
import type {
  PartOrigin,
  QueryView,
  SearchStrategy,
  StrategyChange,
  StrategyReply,
  StrategySource,
} from "../data/api_types.ts";
import { describeRung, SourceResults } from "../searches/source_results.tsx";
import { searchTexts } from "../searches/strings.ts";
import { ConceptCard } from "./concept_card.tsx";
import { Ladder } from "./ladder.tsx";
import { readQueryText } from "./strategy_edit.ts";
import { strategyTexts } from "./strings.ts";

const texts = strategyTexts.strategy;
const ladderTexts = strategyTexts.ladder;

/** The queries, sources and limits of a search. `sources` is there while the search can tell the state of its sources. */
export type Plan = Pick<StrategyReply, "queries" | "inherited" | "changes" | "has_last_round"> & {
  strategy: SearchStrategy;
  sources?: readonly StrategySource[];
  intent?: { notes?: string[] } | null;
  offline?: boolean;
  /** The queries that a person removed from the plan. */
  struck?: readonly string[];
  /** The names of sources that people know, if `sources` is not there. */
  source_labels?: Record<string, string>;
};

type Query = SearchStrategy["queries"][number];
type QueryProblem = QueryView["problems"][number];

/** The parts of a strategy that a decision can replace; a query may be its text alone. */
interface DecidedEdit {
  queries?: readonly (string | Query)[];
  sources?: string[];
  filters?: Partial<SearchStrategy["filters"]>;
  blocks?: SearchStrategy["blocks"];
}

/** Return the plan that an earlier question asked about, as a person edited it, without the present state of its search. */
export function makeEarlierPlan(
  proposed: SearchStrategy,
  edit: DecidedEdit = {},
  source_labels: Record<string, string> = {},
): Plan {
  // Edited concepts without queries: the search composed the queries, and the decision does not have them
  const given = edit.blocks && !edit.queries ? [] : edit.queries;
  const queries = given?.map((query) => (typeof query === "string" ? { boolean_query: query } : query));
  const kept = new Set(queries?.map(readQueryText));
  const strategy: SearchStrategy = {
    ...proposed,
    ...(queries && { queries: queries as Query[], origins: [] }), // origins name queries by their index in the proposal
    ...(edit.blocks ? { blocks: edit.blocks } : queries && { blocks: [] }), // they were read from the queries
    ...(edit.sources && { sources: edit.sources }),
    filters: { ...proposed.filters, ...edit.filters },
  };
  return {
    strategy,
    queries: strategy.queries.map((query) => ({
      words: "",
      rung: 0,
      ...query,
      read_as: "",
      problems: [],
      translations: [],
    })),
    inherited: (strategy.origins ?? []).filter((origin) => origin.inherited),
    changes: [],
    has_last_round: false,
    struck: edit.queries && queries ? proposed.queries.map(readQueryText).filter((text) => !kept.has(text)) : [],
    source_labels,
  };
}

/** A strategy to read: concepts, then the parts below them. */
export function WholeStrategyView({ plan }: { plan: Plan }) {
  return (
    <>
      <ConceptCard blocks={plan.strategy.blocks ?? []} />
      <StrategyView plan={plan} />
    </>
  );
}

/** What is below the concepts: queries in the syntax of each source, sources, limits, and what is new or kept. */
export function StrategyView({ plan }: { plan: Plan }) {
  const { strategy, sources } = plan;
  const reasons = new Map(strategy.origins?.map((origin) => [origin.part, origin.reason]));
  const chosen = (sources ?? []).filter((source) => source.is_chosen).map((source) => source.name);
  const reports = (sources ?? []).flatMap((source) => source.last ?? []);
  const labels = labelSources(sources ?? [], plan.source_labels);
  return (
    <>
      <Card title={getLadderTitle(plan.queries)} aside={String(plan.queries.length)}>
        {!strategy.blocks?.length && sources && (
          <p class="card-body quiet small">{ladderTexts.typed(plan.queries.length)}</p>
        )}
        <Ladder
          queries={plan.queries}
          describe={(rung) => describeRung(reports, rung)}
          render={(query, index) => (
            <>
              <QueryTexts query={query} />
              {!strategy.blocks?.length && reasons.get(`queries[${index}]`) && (
                <p class="quiet small" dir="auto">
                  {reasons.get(`queries[${index}]`)}
                </p>
              )}
              <QueryProblems query={query} />
              <Translations query={query} only={chosen} />
            </>
          )}
        />
        {!plan.queries.length && <p class="card-body quiet small">{ladderTexts.composed}</p>}
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
          <p class="card-body">{strategy.sources.map((name) => labels[name] ?? name).join(", ") || texts.allSources}</p>
        )}
      </Card>
      {reports.length > 0 && (
        <Card title={searchTexts.sourceResults.title}>
          <SourceResults reports={reports} />
        </Card>
      )}
      {plan.has_last_round && <ChangesCard changes={plan.changes} title={texts.changes} />}
      {plan.inherited.length > 0 && <InheritedCard origins={plan.inherited} labels={labels} />}
      <NotesCard notes={[...(plan.intent?.notes ?? []), ...(strategy.notes ?? [])]} />
    </>
  );
}

/** Return the names of sources that people know. */
function labelSources(sources: readonly StrategySource[], labels: Record<string, string> = {}): Record<string, string> {
  return { ...labels, ...Object.fromEntries(sources.map((source) => [source.name, source.label])) };
}

/** Return the title of the queries: they are a ladder if they have several rungs. */
export function getLadderTitle(queries: readonly { rung?: number }[]): string {
  return new Set(queries.map((query) => query.rung ?? 0)).size > 1 ? ladderTexts.title : texts.queries;
}

/** The text for Boolean sources, and below it the words for ranking engines. */
function QueryTexts({ query }: { query: QueryView }) {
  return (
    <>
      {query.boolean_query && (
        <p class="query-text mono" dir="auto">
          {query.boolean_query}
        </p>
      )}
      {query.words && (
        <p class="query-words small">
          <span class="quiet">{ladderTexts.words}</span>{" "}
          <span class="mono" dir="auto">
            {query.words}
          </span>
        </p>
      )}
    </>
  );
}

/**
 * The query as each source receives it, or that it does not. Without a query, the line for what the server has not
 * translated yet.
 */
export function Translations({ query, only }: { query: QueryView | undefined; only: readonly string[] }) {
  const listed = query?.translations.filter((one) => only.includes(one.source));
  const count = listed?.filter((one) => one.is_received).length ?? only.length;
  if (!(listed ?? only).length) return null;
  return (
    <details class="more">
      <summary>{texts.syntax(count)}</summary>
      {!listed && <p class="quiet">{texts.checking}</p>}
      <dl class="translations">
        {listed?.map((one) => (
          <div key={one.source}>
            <dt>{one.label}</dt>
            <dd>
              {one.text && (
                <code title={one.address ?? undefined} dir="auto">
                  {one.text}
                </code>
              )}
              {one.problem && <p class={one.is_received ? "problem" : "hint"}>{one.problem}</p>}
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

const FIRST_PROBLEMS = 6;

/** Return the query with one edit; positions count characters, not UTF-16 units. */
export function applyCorrection(query: string, edit: { start: number; end: number; text: string }): string {
  const characters = [...query];
  return [...characters.slice(0, edit.start), edit.text, ...characters.slice(edit.end)].join("");
}

/** The problems of a query, errors first, each with the words at which it is and a button that corrects it. */
export function QueryProblems(props: { query: QueryView; onCorrect?: ((query: string) => void) | undefined }) {
  const { query, onCorrect } = props;
  const isError = (problem: QueryProblem) => problem.severity === "error";
  const problems = [...query.problems.filter(isError), ...query.problems.filter((one) => !isError(one))];
  if (!problems.length) return null;
  const list = (listed: readonly QueryProblem[]) => (
    <ul class="query-problems">
      {listed.map((problem, index) => (
        <ProblemLine key={index} {...{ query, problem, onCorrect }} />
      ))}
    </ul>
  );
  const rest = problems.slice(FIRST_PROBLEMS);
  return (
    <>
      {list(problems.slice(0, FIRST_PROBLEMS))}
      {rest.length > 0 && (
        <details class="more">
          <summary>{texts.moreProblems(rest.length)}</summary>
          {list(rest)}
        </details>
      )}
    </>
  );
}

function ProblemLine(props: {
  query: QueryView;
  problem: QueryProblem;
  onCorrect?: ((query: string) => void) | undefined;
}) {
  const { query, problem, onCorrect } = props;
  const words = quoteWords(query.boolean_query, problem.start, problem.end);
  const edit = problem.correction;
  return (
    <li class={problem.severity === "error" ? "problem" : "hint"}>
      <strong>{texts.severity[problem.severity]}</strong>{" "}
      {words && (
        <>
          {texts.at} <code dir="auto">{words}</code>{" "}
        </>
      )}
      {problem.message} {problem.hint}{" "}
      {edit && onCorrect && (
        <Button
          kind="quiet"
          onClick={() => onCorrect(applyCorrection(query.boolean_query, edit))}
          label={texts.correctProblem(problem.message)}
        >
          {texts.correct}
        </Button>
      )}
    </li>
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
  return (
    <Table
      label={texts.where}
      columns={[{ title: texts.source }, { title: texts.state }]}
      rows={sources.map((source) => [source.label, <SourceUse key="use" source={source} isOffline={isOffline} />])}
    />
  );
}

function describeLimits({ filters }: SearchStrategy): string {
  if (!filters) return "";
  const from = filters.year_from ? String(filters.year_from) : "";
  const to = filters.year_to ? String(filters.year_to) : "";
  const years = from && to ? texts.years(from, to) : from ? texts.since(from) : to ? texts.until(to) : texts.anyYear;
  const most = filters.max_results ? texts.atMost(filters.max_results) : "";
  const score = typeof filters.min_relevance === "number" ? texts.scoreAtLeast(filters.min_relevance) : "";
  return [years, filters.language ?? "", most, score].filter(Boolean).join(", ");
}

/** The parts that differ from another strategy. Query texts that changed with the concepts are one click away. */
export function ChangesCard({ changes, title }: { changes: readonly StrategyChange[]; title: string }) {
  const isText = (change: StrategyChange) => change.part === "query" || change.part === "words";
  const hasConcepts = changes.some((change) => change.part === "concept");
  const shown = hasConcepts ? changes.filter((change) => !isText(change)) : changes;
  const folded = hasConcepts ? changes.filter(isText) : [];
  return (
    <Card title={title} aside={shown.length ? String(shown.length) : ""}>
      {changes.length ? <ChangeList changes={shown} /> : <p class="card-body quiet">{texts.noChanges}</p>}
      {folded.length > 0 && (
        <details class="more card-more">
          <summary>{texts.changedQueries(folded.length)}</summary>
          <ChangeList changes={folded} />
        </details>
      )}
    </Card>
  );
}

function ChangeList({ changes }: { changes: readonly StrategyChange[] }) {
  return (
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
  );
}

function InheritedCard({ origins, labels }: { origins: readonly PartOrigin[]; labels: Record<string, string> }) {
  const label = (names: string) =>
    names
      .split(", ")
      .map((name) => labels[name] ?? name)
      .join(", ");
  return (
    <Card title={texts.inherited} aside={String(origins.length)}>
      <Table
        label={texts.inherited}
        columns={[{ title: texts.part }, { title: texts.value }, { title: texts.reason }]}
        rows={origins.map((origin) => [
          texts.parts[origin.part.replace(/\[\d+\]$/, "").replace("queries", "query")] ?? origin.part,
          <span key="value" class={origin.part.startsWith("queries") ? "mono" : ""} dir="auto">
            {origin.part === "sources" ? label(origin.value) : origin.value}
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
