import { useId, useRef } from "preact/hooks";
import type { QueryView, StrategyCheck, StrategyReply } from "../../api_types.ts";
import { Button, IconButton, TextField } from "../../components/controls.tsx";
import { Card } from "../../components/layout.tsx";
import { strings } from "../../strings.ts";
import type { StrategyEdit } from "./strategy_edit.ts";
import { ChangesCard, QueryProblems, SourceUse, Translations } from "./strategy_view.tsx";

const texts = strings.strategy;

/** A strategy to edit. `check` has the translations and problems of the last state that the server has seen. */
export function StrategyEditor(props: {
  reply: StrategyReply;
  edit: StrategyEdit;
  check: StrategyCheck | undefined;
  onChange: (edit: StrategyEdit) => void;
}) {
  const { reply, edit, check, onChange } = props;
  const setQuery = (index: number, text: string) =>
    onChange({ ...edit, queries: edit.queries.map((query, place) => (place === index ? text : query)) });
  const problems = new Map(check?.problems.map((problem) => [problem.path, problem.message]));
  const views = new Map([...reply.queries, ...(check?.queries ?? [])].map((view) => [view.boolean_query, view]));
  return (
    <>
      <Card title={texts.queries} aside={String(edit.queries.length)}>
        <ol class="queries">
          {edit.queries.map((query, index) => (
            <li key={index}>
              <QueryField
                label={texts.query(index + 1)}
                text={query}
                view={views.get(query)}
                problem={index === 0 ? problems.get("queries") : undefined}
                sources={edit.sources}
                onInput={(text) => setQuery(index, text)}
              />
              {edit.queries.length > 1 && (
                <IconButton
                  icon="close"
                  label={texts.removeQuery(index + 1)}
                  onClick={() => onChange({ ...edit, queries: edit.queries.filter((_, place) => place !== index) })}
                />
              )}
            </li>
          ))}
        </ol>
        <div class="card-body">
          <Button icon="plus" onClick={() => onChange({ ...edit, queries: [...edit.queries, ""] })}>
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

/** Return the code that a language was read as, if the person did not type the code itself. */
function describeLanguage(edit: StrategyEdit, check: StrategyCheck | undefined): string {
  const typed = edit.language.trim().toLowerCase();
  const code = check?.language_read_as;
  return typed && code && code !== typed ? texts.languageReadAs(code) : texts.languageHint;
}

function QueryField(props: {
  label: string;
  text: string;
  view: QueryView | undefined;
  problem: string | undefined;
  sources: readonly string[];
  onInput: (text: string) => void;
}) {
  const id = useId();
  // What was typed is checked later: until then the last translations stay, opened or not
  const last = useRef(props.view);
  if (props.view) last.current = props.view;
  const hasError = props.view?.problems.some((problem) => problem.severity === "error");
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        class="mono"
        rows={Math.min(8, Math.max(2, Math.ceil(props.text.length / 70)))}
        value={props.text}
        spellcheck={false}
        autoComplete="off"
        maxLength={8_000}
        aria-invalid={hasError || props.problem ? "true" : undefined}
        aria-describedby={`${id}-problems`}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      <div id={`${id}-problems`} aria-live="polite">
        {props.problem && <p class="problem">{props.problem}</p>}
        {props.view && <QueryProblems query={props.view} />}
      </div>
      {props.text.trim() && <Translations query={last.current} only={props.sources} />}
    </div>
  );
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
          <label for={`${id}${source.name}`}>{source.name}</label>
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
