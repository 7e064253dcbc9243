import type { SearchSummary, SourceHealth } from "../../api_types.ts";
import { Dot, type Tone } from "../../components/controls.tsx";
import { strings } from "../../strings.ts";

export type Phase = SearchSummary["phase"];

const PHASE_TONES: Record<Phase, Tone> = {
  waiting: "waiting",
  working: "accent",
  completed: "yes",
  failed: "no",
  unreadable: "no",
};
const HEALTH_TONES: Record<SourceHealth["status"], Tone | "hollow"> = {
  ok: "yes",
  empty: "hollow",
  failed: "no",
  rate_limited: "maybe",
  skipped: "hollow",
};

/** Return the word and the colour of the state of a search. */
export function describePhase(search: SearchSummary): { word: string; tone: Tone } {
  const kinds = strings.searches.kinds as Record<string, string>;
  const word = search.checkpoint_kind && search.phase === "waiting" ? kinds[search.checkpoint_kind] : undefined;
  return { word: word ?? strings.searches.phases[search.phase], tone: PHASE_TONES[search.phase] };
}

/** How a source answered: a dot and words. */
export function SourceState({ source }: { source: Pick<SourceHealth, "status" | "partial" | "reason"> }) {
  const words = source.partial ? strings.searches.partial : strings.searches.health[source.status];
  return <Dot tone={source.partial ? "maybe" : HEALTH_TONES[source.status]}>{words}</Dot>;
}

/** The sources of a search, each with its state. */
export function SourceLine({ sources }: { sources: readonly SourceHealth[] }) {
  if (!sources.length) return null;
  return (
    <ul class="source-line" aria-label={strings.searches.sources}>
      {sources.map((source) => (
        <li key={source.name} title={source.reason ?? undefined}>
          <span class={`dot ${source.partial ? "maybe" : HEALTH_TONES[source.status]}`} aria-hidden="true" />
          <span>{source.name}</span>
          <span class={isFine(source) ? "visually-hidden" : "quiet"}>
            {source.partial ? strings.searches.partial : strings.searches.health[source.status]}
          </span>
        </li>
      ))}
    </ul>
  );
}

function isFine(source: SourceHealth): boolean {
  return source.status === "ok" && !source.partial;
}
