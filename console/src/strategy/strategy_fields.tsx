import { useId } from "preact/hooks";
import { Button, IconButton, TextField } from "../common/controls.tsx";
import { Card } from "../common/layout.tsx";
import type { SearchQuery, StrategyCheck, StrategyReply } from "../data/api_types.ts";
import { Ladder } from "./ladder.tsx";
import { QueryFields } from "./query_fields.tsx";
import { changeSide, type StrategyEdit } from "./strategy_edit.ts";
import { ChangesCard, getLadderTitle, SourceUse } from "./strategy_view.tsx";
import { strategyTexts } from "./strings.ts";

const texts = strategyTexts.strategy;

/** A strategy to edit. `check` has the translations and problems of the last state that the server has seen. */
export function StrategyEditor(props: {
  reply: StrategyReply;
  edit: StrategyEdit;
  check: StrategyCheck | undefined;
  /** Whether the queries are being composed from changed concepts. */
  isComposing: boolean;
  onChange: (edit: StrategyEdit) => void;
}) {
  const { reply, edit, check, isComposing, onChange } = props;
  const setQueries = (queries: SearchQuery[]) =>
    onChange(changeSide(edit, "queries", (before) => ({ ...before, queries })));
  const lastRung = Math.max(0, ...edit.queries.map((query) => query.rung ?? 0));
  const hasWords = edit.queries.some((query) => query.words);
  const problems = new Map(check?.problems.map((problem) => [problem.path, problem.message]));
  const views = new Map([...reply.queries, ...(check?.queries ?? [])].map((view) => [makeViewKey(view), view]));
  return (
    <>
      <Card title={getLadderTitle(edit.queries)} aside={String(edit.queries.length)}>
        {edit.written && (
          <p class="card-body replaced" role="status">
            {strategyTexts.ladder.replaced}{" "}
            <button class="link-button" type="button" onClick={() => setQueries(edit.written ?? [])}>
              {strategyTexts.ladder.restore}
            </button>
          </p>
        )}
        <Ladder
          queries={edit.queries}
          render={(query, index) => (
            <>
              <QueryFields
                index={index}
                query={query}
                hasWords={hasWords}
                isReadOnly={isComposing}
                view={views.get(makeViewKey(query))}
                problem={index === 0 ? problems.get("queries") : undefined}
                sources={edit.sources}
                onChange={(next) => setQueries(edit.queries.map((one, place) => (place === index ? next : one)))}
              />
              {edit.queries.length > 1 && (
                <IconButton
                  icon="close"
                  label={texts.removeQuery(index + 1)}
                  onClick={() => setQueries(edit.queries.filter((_, place) => place !== index))}
                />
              )}
            </>
          )}
        />
        <div class="card-body">
          <Button
            icon="plus"
            onClick={() => setQueries([...edit.queries, { boolean_query: "", rung: lastRung } as SearchQuery])}
          >
            {texts.addQuery}
          </Button>
        </div>
      </Card>
      <Card title={texts.where}>
        <SourceChoices reply={reply} edit={edit} problem={problems.get("sources")} onChange={onChange} />
      </Card>
      <Card title={texts.filters}>
        <div class="card-body">
          <div class="field-row">
            <TextField
              label={texts.yearFrom}
              value={edit.year_from}
              problem={problems.get("filters.year_from")}
              onInput={(year_from) => onChange({ ...edit, year_from })}
              maxLength={4}
            />
            <TextField
              label={texts.yearTo}
              value={edit.year_to}
              problem={problems.get("filters.year_to")}
              onInput={(year_to) => onChange({ ...edit, year_to })}
              maxLength={4}
            />
            <TextField
              label={texts.maxResults}
              value={edit.max_results}
              problem={problems.get("filters.max_results")}
              onInput={(max_results) => onChange({ ...edit, max_results })}
              maxLength={5}
            />
            <TextField
              label={texts.minRelevance}
              hint={texts.minRelevanceHint}
              value={edit.min_relevance}
              problem={problems.get("filters.min_relevance")}
              onInput={(min_relevance) => onChange({ ...edit, min_relevance })}
              maxLength={5}
            />
            <TextField
              label={texts.language}
              hint={describeLanguage(edit, check)}
              value={edit.language}
              problem={problems.get("filters.language")}
              onInput={(language) => onChange({ ...edit, language })}
              maxLength={40}
            />
          </div>
        </div>
      </Card>
      {check && check.edits.length > 0 && <ChangesCard changes={check.edits} title={texts.yourEdits} />}
    </>
  );
}

function makeViewKey(query: { boolean_query: string; words?: string }): string {
  return JSON.stringify([query.boolean_query, query.words ?? ""]);
}

/** Return the code that a language was read as, if the person did not type the code itself. */
function describeLanguage(edit: StrategyEdit, check: StrategyCheck | undefined): string {
  const typed = edit.language.trim().toLowerCase();
  const code = check?.language_read_as;
  return typed && code && code !== typed ? texts.languageReadAs(code) : texts.languageHint;
}

function SourceChoices(props: {
  reply: StrategyReply;
  edit: StrategyEdit;
  problem: string | undefined;
  onChange: (edit: StrategyEdit) => void;
}) {
  const { reply, edit, onChange } = props;
  const id = useId();
  return (
    <fieldset class="source-choices card-body">
      <legend class="visually-hidden">{texts.where}</legend>
      {reply.sources.map((source) => (
        <div key={source.name} class="source-choice">
          <input
            id={`${id}${source.name}`}
            type="checkbox"
            checked={edit.sources.includes(source.name)}
            disabled={!source.is_available}
            onChange={(event) => {
              const others = edit.sources.filter((name) => name !== source.name);
              onChange({ ...edit, sources: event.currentTarget.checked ? [...others, source.name] : others });
            }}
          />
          <label for={`${id}${source.name}`}>{source.label}</label>
          <span class="quiet small">
            <SourceUse source={source} isOffline={reply.offline} />
          </span>
        </div>
      ))}
      {props.problem && (
        <p class="problem" role="alert">
          {props.problem}
        </p>
      )}
    </fieldset>
  );
}
