import { useId, useRef } from "preact/hooks";
import type { QueryView, SearchQuery } from "../data/api_types.ts";
import { rewriteQuery } from "./strategy_edit.ts";
import { QueryProblems, Translations } from "./strategy_view.tsx";
import { strategyTexts } from "./strings.ts";

const texts = strategyTexts.strategy;
const CHARS_A_LINE = 70;

interface Props {
  index: number;
  query: SearchQuery;
  /** Whether a query of the plan has words for ranking engines. */
  hasWords: boolean;
  isReadOnly: boolean;
  view: QueryView | undefined;
  problem: string | undefined;
  sources: readonly string[];
  onChange: (query: SearchQuery) => void;
}

/** The texts of a query to edit: that for Boolean sources, and the words for ranking engines if the plan has such. */
export function QueryFields(props: Props) {
  const { index, query, view, problem } = props;
  const id = useId();
  // What was typed is checked later: until then the last translations stay, opened or not
  const last = useRef(view);
  if (view) last.current = view;
  const hasError = view?.problems.some((one) => one.severity === "error");
  // A field that is emptied stays; one that the query never had is not there
  const fields = useRef({ hasQuery: !query.words, hasWords: !query.boolean_query });
  fields.current.hasQuery ||= query.boolean_query !== "";
  fields.current.hasWords ||= Boolean(query.words);
  return (
    <div class="field">
      {fields.current.hasQuery && (
        <QueryArea
          id={id}
          label={texts.query(index + 1)}
          text={query.boolean_query}
          isReadOnly={props.isReadOnly}
          isInvalid={Boolean(hasError || problem)}
          describedBy={`${id}-problems`}
          onInput={(boolean_query) => props.onChange(rewriteQuery(query, { boolean_query }))}
        />
      )}
      <div id={`${id}-problems`} aria-live="polite">
        {problem && <p class="problem">{problem}</p>}
        {view && (
          <QueryProblems
            query={view}
            onCorrect={
              props.isReadOnly || view.boolean_query !== query.boolean_query
                ? undefined
                : (boolean_query) => props.onChange(rewriteQuery(query, { boolean_query }))
            }
          />
        )}
      </div>
      {props.hasWords && fields.current.hasWords && (
        <QueryArea
          id={`${id}-words`}
          label={strategyTexts.ladder.wordsOf(index + 1)}
          text={query.words ?? ""}
          isReadOnly={props.isReadOnly}
          onInput={(words) => props.onChange(rewriteQuery(query, { words }))}
        />
      )}
      {(query.boolean_query.trim() || query.words?.trim()) && (
        <Translations query={last.current} only={props.sources} />
      )}
    </div>
  );
}

function QueryArea(props: {
  id: string;
  label: string;
  text: string;
  isReadOnly: boolean;
  isInvalid?: boolean;
  describedBy?: string;
  onInput: (text: string) => void;
}) {
  return (
    <>
      <label for={props.id}>{props.label}</label>
      <textarea
        id={props.id}
        class="mono"
        rows={Math.min(12, countLines(props.text))}
        value={props.text}
        readOnly={props.isReadOnly}
        spellcheck={false}
        autoComplete="off"
        maxLength={20_000}
        aria-invalid={props.isInvalid ? "true" : undefined}
        aria-describedby={props.describedBy}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
    </>
  );
}

/** Return the number of lines that a text takes, each of its own lines wrapped. */
function countLines(text: string): number {
  return text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / CHARS_A_LINE)), 0);
}
