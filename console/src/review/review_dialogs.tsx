import { useState } from "preact/hooks";
import { Button, Choices, Select, TextField } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { ErrorNote } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { ReviewStatus, ShelfBuildReply } from "../data/api_types.ts";
import { useDraft } from "../data/draft.ts";
import { useResource } from "../data/resource.ts";
import { formatPath, navigate } from "../data/router.ts";
import { inboxTexts } from "../inbox/strings.ts";
import { SourceResultsDialog } from "../searches/source_results_dialog.tsx";
import { searchTexts } from "../searches/strings.ts";
import { useFeedbackDraft } from "../strategy/feedback_edit.ts";
import { FeedbackFields } from "../strategy/feedback_fields.tsx";
import { RemovedPapersDialog } from "./removed_papers.tsx";
import { hasPapersAt, type ReviewStore } from "./review_store.ts";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.review;

export type Overlay = "finish" | "another" | "shelf" | "removed" | "sources";

/** The dialog that is open, if any. */
export function ReviewOverlay(props: { store: ReviewStore; overlay: Overlay | undefined; onClose: () => void }) {
  switch (props.overlay) {
    case "finish":
      return <FinishDialog {...props} />;
    case "another":
      return <AnotherRoundDialog {...props} />;
    case "shelf":
      return <ShelfDialog {...props} />;
    case "removed":
      return <RemovedPapersDialog {...props} />;
    case "sources":
      return <SourceResultsDialog sessionId={props.store.sessionId} onClose={props.onClose} />;
    default:
      return null;
  }
}

/** Finish the review: the papers that are not excluded are the result. */
function FinishDialog({ store, onClose }: { store: ReviewStore; onClose: () => void }) {
  const { busy, error, send } = useSubmission();
  const counts = store.counts.value;
  const total = counts.include + counts.maybe + counts.exclude + counts.undecided;
  async function finish(): Promise<void> {
    const { isApplied } = await decide(store, "approve");
    if (isApplied) showToast(texts.finished);
    store.refresh();
    onClose();
  }
  return (
    <Dialog
      title={texts.finishTitle}
      onClose={onClose}
      footer={
        <>
          <Button kind="primary" onClick={() => void send("submit", finish)} isBusy={busy !== undefined}>
            {texts.finish}
          </Button>
          <Button onClick={onClose}>{commonTexts.actions.cancel}</Button>
        </>
      }
    >
      <p>{texts.finishText(counts.exclude, counts.undecided, total)}</p>
      {error && <ErrorNote error={error} />}
    </Dialog>
  );
}

/** Search another round; of a complete search in a new one. */
function AnotherRoundDialog({ store, onClose }: { store: ReviewStore; onClose: () => void }) {
  const note = useDraft(`another.${store.sessionId}`);
  const feedback = useFeedbackDraft(`another.${store.sessionId}`);
  const strategy = useResource(`strategy ${store.sessionId}`, (signal) =>
    api.get("/api/searches/{session_id}/strategy", { path: { session_id: store.sessionId }, signal }),
  );
  const submission = useSubmission();
  async function start(): Promise<void> {
    const words = note.text.value.trim() || null;
    const path = { session_id: store.sessionId };
    const { state, isApplied } = store.isComplete.value
      ? {
          state: await api.post("/api/searches/{session_id}/update", {
            path,
            body: { note: words, data: feedback.data ?? null },
          }),
          isApplied: true,
        }
      : await decide(store, "reject", words, feedback.data);
    if (isApplied) {
      note.clear();
      feedback.clear();
    } else if (words) showToast(inboxTexts.reasonNotSent, "no");
    onClose();
    navigate(`/searches/${state.session_id}/strategy`);
  }
  return (
    <Dialog title={texts.anotherTitle} onClose={onClose}>
      <SubmitForm submission={submission} action={texts.anotherButton} onSubmit={start} onCancel={onClose}>
        <TextField
          label={texts.anotherLabel}
          hint={texts.anotherHint}
          value={note.text.value}
          onInput={(value) => {
            note.text.value = value;
          }}
          lines={3}
          maxLength={4_000}
          autoFocus
        />
        <FeedbackFields choices={strategy.value.value?.feedback} edit={feedback.edit} onChange={feedback.change} />
      </SubmitForm>
    </Dialog>
  );
}

/**
 * Send the marks and decide the review. Return the new state of the search, and whether this decision was the first. An
 * earlier one of somebody else is shown.
 */
async function decide(
  store: ReviewStore,
  action: "approve" | "reject",
  note: string | null = null,
  data: Record<string, unknown> | null = null,
) {
  await store.unsent.sendAll();
  const forget = store.expectOwnDecision();
  const had = store.hasPapers;
  store.hasPapers = false;
  const state = await api
    .post("/api/searches/{session_id}/decide", {
      path: { session_id: store.sessionId },
      body: { action, note, data, checkpoint_id: store.checkpointId.value, wait_s: 20 },
    })
    .catch((thrown) => {
      store.hasPapers = had;
      forget();
      throw thrown;
    });
  store.hasPapers = state.is_complete || hasPapersAt(state.checkpoint_kind, state.round);
  const earlier = state.already_decided;
  const isApplied = !earlier || earlier.same_as_sent;
  if (!isApplied) showToast(earlier.message, "no");
  return { state, isApplied };
}

type Which = "include" | "maybe" | "all";
const STATUSES: Record<Which, ReviewStatus[]> = {
  include: ["include"],
  maybe: ["include", "maybe"],
  all: ["include", "maybe", "undecided"],
};
const NEW = "";

/** Put papers on a shelf, and follow the build. */
function ShelfDialog({ store, onClose }: { store: ReviewStore; onClose: () => void }) {
  const shelves = useResource("search-shelves", (signal) => api.get("/api/search-shelves", { signal }));
  const counts = store.counts.value;
  const [shelf, setShelf] = useState(NEW);
  const [name, setName] = useState("");
  const [which, setWhich] = useState<Which>(counts.include ? "include" : "all");
  const build = useResource(
    `shelf build ${store.sessionId}`,
    (signal) => api.get("/api/searches/{session_id}/shelf", { path: { session_id: store.sessionId }, signal }),
    (change) => change.kind === "shelf_build" && change.subject === store.sessionId,
  );
  const submission = useSubmission();
  /** The name of a new shelf that was refused because a shelf has it. */
  const [takenName, setTakenName] = useState<string>();
  const [isBuildShown, setBuildShown] = useState(true);
  const last = isBuildShown ? build.value.value : undefined;
  const target = shelf || name.trim();
  async function start(): Promise<void> {
    setBuildShown(false); // the last build is not the outcome of this attempt
    if (shelf === NEW && (await hasShelf(target))) {
      setTakenName(target);
      shelves.reload();
      return;
    }
    await store.unsent.sendAll();
    const path = { session_id: store.sessionId };
    const body = { name: target, statuses: STATUSES[which] };
    build.set(await api.post("/api/searches/{session_id}/shelf", { path, body }));
    setBuildShown(true);
  }
  const sizes: Record<Which, number> = {
    include: counts.include,
    maybe: counts.include + counts.maybe,
    all: counts.include + counts.maybe + counts.undecided,
  };
  return (
    <Dialog title={texts.shelfTitle} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submission.send("submit", start);
        }}
      >
        <Choices
          label={texts.shelfWhich}
          value={which}
          choices={[
            { value: "include", label: texts.shelfIncluded(sizes.include) },
            { value: "maybe", label: texts.shelfMaybe(sizes.maybe) },
            { value: "all", label: texts.shelfAll(sizes.all) },
          ]}
          onChange={setWhich}
        />
        <Select
          label={texts.shelfName}
          value={shelf}
          choices={[
            { value: NEW, label: texts.shelfNew },
            ...(shelves.value.value?.shelves ?? []).map((one) => ({
              value: one.name,
              label: `${one.name} (${searchTexts.searches.papers(one.papers ?? 0)})`,
            })),
          ]}
          onChange={setShelf}
        />
        {shelf === NEW && (
          <TextField
            label={texts.shelfNameLabel}
            hint={texts.shelfNameHint}
            problem={target && target === takenName ? texts.shelfExists(target) : undefined}
            value={name}
            onInput={setName}
            maxLength={64}
            autoFocus
          />
        )}
        {submission.error && <ErrorNote error={submission.error} />}
        {shelves.error.value && <ErrorNote error={shelves.error.value} onRetry={shelves.reload} />}
        <p role="status">
          {last && describeBuild(last)}{" "}
          {last?.state === "done" && last.shelf && (
            <a href={formatPath("/library/{shelf}", { shelf: last.shelf })}>{texts.shelfOpen}</a>
          )}
        </p>
        <footer class="form-footer">
          <Button
            kind="primary"
            type="submit"
            isBusy={submission.busy !== undefined || last?.state === "running"}
            isDisabled={!target || !sizes[which]}
          >
            {texts.shelfStart}
          </Button>
          <Button onClick={onClose}>{commonTexts.actions.close}</Button>
        </footer>
      </form>
    </Dialog>
  );
}

async function hasShelf(name: string): Promise<boolean> {
  const { shelves } = await api.get("/api/search-shelves");
  return shelves.some((one) => one.name === name);
}

function describeBuild(build: ShelfBuildReply): string {
  if (build.state === "none") return "";
  if (build.state === "running") return texts.shelfRunning(build.shelf ?? "");
  if (build.state === "done") return texts.shelfDone(build.shelf ?? "", build.papers ?? 0, build.added ?? 0);
  return [build.error, build.hint].filter(Boolean).join(" ");
}
