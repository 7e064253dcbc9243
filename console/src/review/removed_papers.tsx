import { useState } from "preact/hooks";
import { Button, Tag } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { api } from "../data/api.ts";
import type { ExclusionReply } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { toneOf } from "./paper_panel.tsx";
import type { ReviewStore } from "./review_store.ts";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.removedPapers;
const REASONS = ["over_limit", "below_threshold"] as const;
const MOST = 500;
type Wanted = "include" | "maybe";

/** The papers that automation removed, each with its reason and score, and with buttons that bring it back. */
export function RemovedPapersDialog({ store, onClose }: { store: ReviewStore; onClose: () => void }) {
  const removed = useResource(`removed ${store.sessionId}`, async (signal) => {
    const read = (reason: (typeof REASONS)[number]) =>
      api.get("/api/searches/{session_id}/exclusions", {
        path: { session_id: store.sessionId },
        query: { reason, limit: MOST },
        signal,
      });
    const pages = await Promise.all(REASONS.map(read));
    return {
      exclusions: pages.flatMap((page) => page.exclusions),
      total: pages.reduce((sum, page) => sum + page.total, 0),
    };
  });
  const [marks, setMarks] = useState<ReadonlyMap<string, Wanted | null>>(new Map());
  function mark(id: string, status: Wanted | null): void {
    setMarks(new Map([...marks, [id, status]]));
    store.mark([id], status && { status, reason: null });
  }
  function close(): void {
    if (marks.size) void store.unsent.sendAll().then(() => store.refresh());
    onClose();
  }
  return (
    <Dialog
      title={texts.title}
      onClose={close}
      kind="wide"
      footer={<Button onClick={close}>{commonTexts.actions.close}</Button>}
    >
      <p class="quiet">{store.canMark.value ? texts.lead : texts.leadClosed}</p>
      <Loaded resource={removed}>
        {({ exclusions, total }) => (
          <>
            <ul class="removed-papers" aria-label={texts.title}>
              {exclusions.map((one) => (
                <RemovedPaper
                  key={one.paper_id}
                  paper={one}
                  status={marks.get(one.paper_id) ?? (marks.has(one.paper_id) ? null : one.mark)}
                  onMark={store.canMark.value ? (status) => mark(one.paper_id, status) : undefined}
                />
              ))}
            </ul>
            {total === 0 && <p>{texts.none}</p>}
            {total > exclusions.length && <p class="quiet small">{texts.more(total - exclusions.length)}</p>}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

function RemovedPaper(props: {
  paper: ExclusionReply;
  status: ExclusionReply["mark"];
  onMark?: ((status: Wanted | null) => void) | undefined;
}) {
  const { paper, status, onMark } = props;
  const short = paper.title.slice(0, 120);
  return (
    <li>
      <div>
        <p class="foreign" dir="auto">
          {paper.title}
        </p>
        <p class="quiet small" dir="auto">
          {[paper.short_authors, paper.year].filter(Boolean).join(", ")}
        </p>
        <p class="quiet small">{describeRemoval(paper)}</p>
      </div>
      <div class="tags">
        {status ? (
          <>
            <Tag tone={toneOf(status)}>{commonTexts.decision[status]}</Tag>
            {onMark && (
              <Button kind="quiet" label={texts.leaveOut(short)} onClick={() => onMark(null)}>
                {texts.undo}
              </Button>
            )}
          </>
        ) : (
          onMark &&
          (["include", "maybe"] as const).map((wanted) => (
            <Button
              key={wanted}
              label={texts.bringBack(commonTexts.decision[wanted], short)}
              onClick={() => onMark(wanted)}
            >
              {commonTexts.decision[wanted]}
            </Button>
          ))
        )}
      </div>
    </li>
  );
}

/** Return why a paper was removed, with its score. */
function describeRemoval(paper: Pick<ExclusionReply, "reason" | "score" | "threshold">): string {
  const score = paper.score === null ? "" : paper.score.toFixed(2);
  if (paper.reason === "below_threshold" && paper.threshold !== null) return texts.below(score, paper.threshold);
  return texts.over(score);
}
