import { Dot, type Tone } from "../common/controls.tsx";
import type { SearchSummary, SourceHealth } from "../data/api_types.ts";
import { searchTexts } from "./strings.ts";

type Phase = SearchSummary["phase"];

const PHASE_TONES: Record<Phase, Tone> = {
  waiting: "waiting",
  working: "accent",
  completed: "yes",
  failed: "no",
  unreadable: "no",
};
const ANSWER_TONES: Record<SourceHealth["status"], Tone | "hollow"> = {
  ok: "yes",
  empty: "hollow",
  failed: "no",
  rate_limited: "maybe",
  skipped: "hollow",
};

/** Return the word and the colour of the state of a search. */
export function describePhase(search: SearchSummary): { word: string; tone: Tone } {
  const kinds: Record<string, string> = searchTexts.searches.kinds;
  const word = search.checkpoint_kind && search.phase === "waiting" ? kinds[search.checkpoint_kind] : undefined;
  return { word: word ?? searchTexts.searches.phases[search.phase], tone: PHASE_TONES[search.phase] };
}

function describeAnswer(source: Pick<SourceHealth, "status" | "partial">): { word: string; tone: Tone | "hollow" } {
  if (source.partial) return { word: searchTexts.searches.partial, tone: "maybe" };
  return { word: searchTexts.searches.health[source.status], tone: ANSWER_TONES[source.status] };
}

/** How a source answered: a dot and a word, further facts, and the reason if something went wrong. */
export function SourceAnswer(props: {
  source: Pick<SourceHealth, "status" | "partial" | "reason">;
  facts?: readonly string[];
}) {
  const { source, facts = [] } = props;
  const { word, tone } = describeAnswer(source);
  return (
    <>
      <Dot tone={tone}>{[word, ...facts].join(", ")}</Dot>
      {source.reason && (
        <p class="hint" dir="auto">
          {source.reason}
        </p>
      )}
    </>
  );
}

/** The sources of a search, each with its answer. Words that all is well are only read aloud. */
export function SourceLine({ sources }: { sources: readonly SourceHealth[] }) {
  if (!sources.length) return null;
  return (
    <ul class="source-line" aria-label={searchTexts.searches.sources}>
      {sources.map((source) => {
        const { word, tone } = describeAnswer(source);
        return (
          <li key={source.name} title={source.reason ?? undefined}>
            <span class={`dot ${tone}`} aria-hidden="true" />
            <span>{source.label}</span>
            <span class={tone === "yes" ? "visually-hidden" : "quiet"}>{word}</span>
          </li>
        );
      })}
    </ul>
  );
}
