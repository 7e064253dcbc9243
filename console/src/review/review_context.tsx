import { useState } from "preact/hooks";
import { Button, ButtonLink, Checkbox, Tag } from "../common/controls.tsx";
import { Facts } from "../common/layout.tsx";
import { LoadingState } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { api, formatAddress } from "../data/api.ts";
import { FileLink } from "../data/api_file.tsx";
import { useResource } from "../data/resource.ts";
import { searchTexts } from "../searches/strings.ts";
import { DuplicateChanges } from "./duplicate_changes.tsx";
import { FlowDiagram } from "./flow_diagram.tsx";
import type { Overlay } from "./review_dialogs.tsx";
import { type Counts, isReviewChange, type ReviewStore } from "./review_store.ts";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.review;

/** Beside the paper: how far the review is, the flow of records, exports, and how the review ends. */
export function ReviewContext(props: { store: ReviewStore; onOpen: (overlay: Overlay) => void }) {
  const { store } = props;
  const flow = useResource(
    `flow ${store.sessionId}`,
    async (signal) =>
      store.hasPapers
        ? api.get("/api/searches/{session_id}/flow", { path: { session_id: store.sessionId }, signal })
        : undefined,
    (change) =>
      isReviewChange(change, store.sessionId) || (change.kind === "papers" && change.subject === store.sessionId),
  );
  const counts = store.counts.value;
  const value = flow.value.value;
  if (!value && !flow.error.value) return <LoadingState />; // what is below the flow would move when the flow arrives
  return (
    <>
      <section>
        <h2 class="section-title">{commonTexts.pages.progress}</h2>
        <ProgressBar counts={counts} />
      </section>
      {value && (
        <section>
          <h2 class="section-title">{texts.flow}</h2>
          <FlowDiagram flow={value} counts={counts} />
          <ul class="flow-links small">
            {value.removed_by_automation > 0 && (
              <li>
                <button class="link-button" type="button" onClick={() => props.onOpen("removed")}>
                  {reviewTexts.removedPapers.open(value.removed_by_automation)}
                </button>
              </li>
            )}
            <li>
              <button class="link-button" type="button" onClick={() => props.onOpen("sources")}>
                {searchTexts.sourceResults.title}
              </button>{" "}
              {value.partial && <Tag tone="maybe">{searchTexts.sourceResults.partial}</Tag>}
            </li>
          </ul>
        </section>
      )}
      <DuplicateChanges store={store} />
      {value && Object.keys(value.reasons).length > 0 && (
        <section>
          <h2 class="section-title">{texts.reasons}</h2>
          <Facts facts={Object.entries(value.reasons).map(([reason, count]) => [reason, String(count)])} />
        </section>
      )}
      <section class="context-actions">
        {store.isComplete.value ? (
          <>
            <p>{texts.complete}</p>
            <p class="quiet small">{texts.completeHint}</p>
          </>
        ) : !store.canMark.value ? (
          <>
            <p>{texts.planWaits}</p>
            <ButtonLink href={`/searches/${store.sessionId}/strategy`} kind="primary">
              {texts.openPlan}
            </ButtonLink>
          </>
        ) : (
          <Button kind="primary" keyHint="a" onClick={() => props.onOpen("finish")}>
            {texts.finish}
          </Button>
        )}
        {(store.isComplete.value || store.canMark.value) && (
          <Button {...(store.isComplete.value ? {} : { keyHint: "r" })} onClick={() => props.onOpen("another")}>
            {texts.another}
          </Button>
        )}
        <Button onClick={() => props.onOpen("shelf")}>{texts.shelf}</Button>
      </section>
      <Exports store={store} />
    </>
  );
}

function ProgressBar({ counts }: { counts: Counts }) {
  const total = counts.include + counts.maybe + counts.exclude + counts.undecided;
  const share = (count: number) => (total ? (100 * count) / total : 0);
  return (
    <>
      <svg class="progress" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="rest" width={100} height={4} />
        <rect class="yes" width={share(counts.include)} height={4} />
        <rect class="maybe" x={share(counts.include)} width={share(counts.maybe)} height={4} />
        <rect class="no" x={share(counts.include + counts.maybe)} width={share(counts.exclude)} height={4} />
      </svg>
      <div class="tags">
        <Tag tone="yes">{`${counts.include} ${commonTexts.decision.include.toLowerCase()}`}</Tag>
        <Tag tone="maybe">{`${counts.maybe} ${commonTexts.decision.maybe.toLowerCase()}`}</Tag>
        <Tag tone="no">{`${counts.exclude} ${commonTexts.decision.exclude.toLowerCase()}`}</Tag>
      </div>
    </>
  );
}

function Exports({ store }: { store: ReviewStore }) {
  const [onlyIncluded, setOnlyIncluded] = useState(false);
  const address = (format: string, status?: string) =>
    formatAddress("/api/searches/{session_id}/export", {
      path: { session_id: store.sessionId },
      query: { format, status },
    });
  return (
    <section class="context-actions">
      <h2 class="section-title">{texts.exportTitle}</h2>
      <FileLink class="button" address={address("prisma-svg")} name={`prisma-${store.sessionId.slice(0, 8)}.svg`}>
        {texts.exportFigure}
      </FileLink>
      <ul class="export-links">
        {Object.entries(texts.exports).map(([format, label]) => {
          const isLog = format.startsWith("prisma");
          const status = onlyIncluded && !isLog ? "include" : undefined;
          return (
            <li key={format}>
              <FileLink
                address={address(format, status)}
                name={`search-${store.sessionId.slice(0, 8)}.${endingOf(format)}`}
              >
                {label}
              </FileLink>
            </li>
          );
        })}
      </ul>
      <Checkbox label={texts.onlyIncluded} isChecked={onlyIncluded} onChange={setOnlyIncluded} />
    </section>
  );
}

function endingOf(format: string): string {
  const endings: Record<string, string> = { bibtex: "bib", markdown: "md", "csl-json": "csl.json", prisma: "log.md" };
  return endings[format] ?? format;
}
