import { useEffect, useRef, useState } from "preact/hooks";
import { describeActor } from "../common/actor_words.ts";
import { ButtonLink } from "../common/controls.tsx";
import { Detail } from "../common/layout.tsx";
import { EmptyState, ErrorMessage, Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { api } from "../data/api.ts";
import type { Actor } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { navigate, type Params } from "../data/router.ts";
import { recallPlace } from "../review/verdict_drafts.ts";
import { StrategyForm } from "../strategy/strategy_form.tsx";
import { SearchViews } from "./search_views.tsx";
import { SourceProgressCard } from "./source_progress.tsx";
import { searchTexts } from "./strings.ts";

function useSearch(sessionId: string) {
  return useResource(
    `search ${sessionId}`,
    (signal) => api.get("/api/searches/{session_id}", { path: { session_id: sessionId }, signal }),
    (change) => change.kind === "session" && change.subject === sessionId,
  );
}

/** Who started the search. */
function SearchStarter({ actor }: { actor: Actor | null | undefined }) {
  return (
    <p class="search-starter quiet small" dir="auto">
      {commonTexts.actors.startedBy(describeActor(actor))}
    </p>
  );
}

/** A search: goes to what waits, or shows what the search does now. */
export function SearchPage({ params }: { params: Params }) {
  const sessionId = params.id ?? "";
  const search = useSearch(sessionId);
  const state = search.value.value;
  const target = !state
    ? undefined
    : state.checkpoint_kind === "strategy_confirmation"
      ? `/searches/${sessionId}/strategy`
      : state.checkpoint_kind === "result_review" || (state.is_complete && !state.error)
        ? recallPlace(sessionId)
        : undefined;
  useEffect(() => {
    if (target) navigate(target, { replace: true });
  }, [target]);
  return (
    <div class="search-page">
      <SearchViews sessionId={sessionId} current="plan" />
      <Loaded resource={search}>
        {(value) => (
          <Detail>
            <h1 dir="auto">{value.query}</h1>
            <SearchStarter actor={value.actor} />
            {value.error ? (
              <>
                <EmptyState title={searchTexts.search.failed} hint={searchTexts.search.failedHint}>
                  <ButtonLink href="/searches?new=1">{searchTexts.searches.start}</ButtonLink>
                </EmptyState>
                <ErrorMessage text={value.error} />
              </>
            ) : (
              <SourceProgressCard sessionId={sessionId} />
            )}
          </Detail>
        )}
      </Loaded>
    </div>
  );
}

/** The plan of a search. While the search works, its progress; when papers wait, the review. */
export function PlanPage({ params }: { params: Params }) {
  const sessionId = params.id ?? "";
  const search = useSearch(sessionId);
  const [hasDecided, setDecided] = useState(false);
  const kind = search.value.value?.checkpoint_kind;
  const wasWorking = useRef(false);
  const isWorking = search.value.value !== undefined && !kind && !search.value.value.is_complete;
  if (isWorking) wasWorking.current = true;
  useEffect(() => {
    if (hasDecided && kind === "result_review" && wasWorking.current) navigate(`/searches/${sessionId}/review`);
  }, [hasDecided, kind, sessionId]);
  return (
    <div class="search-page">
      <SearchViews sessionId={sessionId} current="plan" />
      {search.value.value && <SearchStarter actor={search.value.value.actor} />}
      {isWorking && (
        <div class="progress-note">
          <SourceProgressCard sessionId={sessionId} />
        </div>
      )}
      <StrategyForm
        sessionId={sessionId}
        onDecided={() => {
          wasWorking.current = true;
          setDecided(true);
          search.reload();
        }}
      />
    </div>
  );
}
