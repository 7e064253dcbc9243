import { Button } from "../common/controls.tsx";
import { attempt } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { CorrectionReply } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { isReviewChange, type ReviewStore } from "./review_store.ts";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.duplicates;

/** The merges and splits of the review: those that wait can be withdrawn. */
export function DuplicateChanges({ store }: { store: ReviewStore }) {
  const path = { session_id: store.sessionId };
  const changes = useResource(
    `corrections ${store.sessionId}`,
    async (signal) =>
      store.hasPapers ? api.get("/api/searches/{session_id}/corrections", { path, signal }) : undefined,
    (change) =>
      isReviewChange(change, store.sessionId) || (change.kind === "papers" && change.subject === store.sessionId),
  );
  const list = changes.value.value?.corrections ?? [];
  if (!list.length) return null;
  function withdraw(change: CorrectionReply): Promise<boolean> {
    return attempt(async () => {
      const paper_id = change.papers[0] ?? "";
      changes.set(
        await api.delete("/api/searches/{session_id}/corrections/{paper_id}", { path: { ...path, paper_id } }),
      );
    });
  }
  return (
    <section>
      <h2 class="section-title">{texts.title}</h2>
      <ul class="duplicate-changes small">
        {list.map((change) => (
          <li key={`${change.kind} ${change.papers.join(" ")} ${change.at}`}>
            <span>
              {change.kind === "merge" ? texts.merged(change.papers.length) : texts.splitOff(change.records.length)}:{" "}
              <span class="foreign" dir="auto">
                {change.title}
              </span>{" "}
              <span class="quiet">{change.is_sent ? texts.madeBy(change.reviewer ?? "") : texts.waiting}</span>
            </span>
            {!change.is_sent && (
              <Button kind="quiet" onClick={() => void withdraw(change)}>
                {texts.withdraw}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
