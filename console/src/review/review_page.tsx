import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { checkLink } from "../common/foreign_text.tsx";
import { Detail, Panes } from "../common/layout.tsx";
import { EmptyState, ErrorNote, ErrorState, LoadingState } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { attempt, showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { PaperRow } from "../data/api_types.ts";
import { type KeyCommand, useKeys } from "../data/keys.ts";
import { retryWhenLive } from "../data/live.ts";
import { useResource } from "../data/resource.ts";
import { matchPath, navigate, type Params, path, query } from "../data/router.ts";
import { readOwnName } from "../data/session.ts";
import { useSettled } from "../data/settled.ts";
import { SearchViews } from "../searches/search_views.tsx";
import { toggle } from "../searches/start_dialog.tsx";
import { useOtherDecider } from "../strategy/other_decider.ts";
import { MergeDialog, SplitDialog } from "./duplicate_dialogs.tsx";
import { PaperPanel } from "./paper_panel.tsx";
import { ReviewContext } from "./review_context.tsx";
import { type Overlay, ReviewOverlay } from "./review_dialogs.tsx";
import { formatFilters, type ReviewFilters, readFilters } from "./review_filters.ts";
import { ReviewList } from "./review_list.tsx";
import { ReviewStore } from "./review_store.ts";
import { reviewTexts } from "./strings.ts";
import type { Verdict } from "./verdict.tsx";
import { rememberPlace, useVerdictDrafts } from "./verdict_drafts.ts";
import { draftOf, type VerdictDraft, VerdictForm } from "./verdict_form.tsx";

const texts = reviewTexts.review;
const PAPER_PATH = "/searches/{id}/review/{paper}";
const NO_VERDICT: VerdictDraft = { verdict: undefined, reason: "" };
const VERDICTS: Record<string, Verdict> = { i: "include", m: "maybe", x: "exclude" };

/** The review of a search: list, paper and flow side by side, everything by single keys. */
export function ReviewPage({ params }: { params: Params }) {
  const sessionId = params.id ?? "";
  const filters = readFilters(query.value);
  const filterText = formatFilters(filters);
  const store = useReviewStore(sessionId, useSettled(filterText));
  const paperId = params.paper;
  useEffect(
    () => rememberPlace(sessionId, `/review${paperId ? `/${paperId}` : ""}${filterText}`),
    [sessionId, paperId, filterText],
  );
  const reasons = useReasons(store);
  store.expectOwnDecision = useOtherDecider(store.checkpointId.value);
  // Digits choose reasons: no key works before the reasons are there
  if (!store.isLoaded.value || !reasons) return <NotLoaded store={store} current="review" />;
  return <ReviewPanes store={store} filters={filters} paperId={paperId} reasons={reasons} />;
}

/** What stands beside the papers on wide screens, as a page of its own for a phone. */
export function ReviewProgressPage({ params }: { params: Params }) {
  const sessionId = params.id ?? "";
  const store = useReviewStore(sessionId, "");
  if (!store.isLoaded.value) return <NotLoaded store={store} current="progress" />;
  return (
    <div class="search-page">
      <SearchViews sessionId={sessionId} current="progress" question={store.question.value} />
      <ProgressPane store={store} />
    </div>
  );
}

function ProgressPane({ store }: { store: ReviewStore }) {
  const [overlay, setOverlay] = useState<Overlay>();
  return (
    <>
      <div class="pane context-pane progress-pane">
        <h1 class="visually-hidden">{commonTexts.pages.progress}</h1>
        <ReviewContext store={store} onOpen={setOverlay} />
      </div>
      <ReviewOverlay store={store} overlay={overlay} onClose={() => setOverlay(undefined)} />
    </>
  );
}

function useReviewStore(sessionId: string, filterText: string): ReviewStore {
  const person = readOwnName();
  const store = useMemo(() => new ReviewStore(sessionId, person), [sessionId, person]);
  useEffect(() => store.start(), [store]);
  useEffect(() => void store.load(readFilters(new URLSearchParams(filterText))), [store, filterText]);
  useEffect(() => retryWhenLive(store.error, () => store.retry()), [store]);
  return store;
}

function NotLoaded({ store, current }: { store: ReviewStore; current: "review" | "progress" }) {
  const error = store.error.value;
  if (error?.code === "no_papers_yet") return <NoPapers sessionId={store.sessionId} current={current} />;
  return error ? <ErrorState error={error} onRetry={() => store.retry()} /> : <LoadingState />;
}

function NoPapers({ sessionId, current }: { sessionId: string; current: "review" | "progress" }) {
  return (
    <div class="search-page">
      <SearchViews sessionId={sessionId} current={current} />
      <EmptyState title={texts.noPapers} hint={texts.noPapersHint} />
    </div>
  );
}

function ReviewPanes({
  store,
  filters,
  paperId,
  reasons,
}: {
  store: ReviewStore;
  filters: ReviewFilters;
  paperId: string | undefined;
  reasons: readonly string[];
}) {
  const { sessionId } = store;
  const row = store.getRow(paperId);
  const paper = row && store.details.value.get(row.id);
  const url = checkLink(paper?.url ?? undefined);
  const drafts = useVerdictDrafts(sessionId);
  const [overlay, setOverlay] = useState<Overlay>();
  const [duplicates, setDuplicates] = useState<{ kind: "merge" } | { kind: "split"; record?: string | undefined }>();
  useCurrentId(store, paperId, (id) => navigate(hrefOf(id), { replace: true }));
  const chosenPapers = useSignal<ReadonlySet<string> | undefined>(undefined);
  const bulkDraft = useSignal<VerdictDraft>(NO_VERDICT);
  const selected = chosenPapers.value;
  const setSelected = (next: ReadonlySet<string> | undefined) => {
    chosenPapers.value = next;
  };
  const draft = selected ? bulkDraft.value : (drafts.get(paperId) ?? draftOf(row));
  /** Return the present state: keys can come faster than the page is drawn. */
  const readNow = () => {
    const id = matchPath(PAPER_PATH, path.peek())?.paper;
    const current = store.getRow(id);
    const several = chosenPapers.peek();
    return {
      id,
      row: current,
      index: (id === undefined ? undefined : store.positions.value.get(id)) ?? -1,
      selected: several,
      draft: several ? bulkDraft.peek() : (drafts.get(id) ?? draftOf(current)),
    };
  };
  const setDraft = (next: VerdictDraft) => {
    const now = readNow();
    if (now.selected) bulkDraft.value = next;
    else if (now.id) drafts.set(now.id, next);
  };
  useEffect(() => {
    if (row) store.loadDetails(row.id);
  }, [store, row?.id, paper]);

  const hrefOf = (id: string) => `/searches/${sessionId}/review/${id}${formatFilters(filters)}`;
  const go = (to: PaperRow | undefined) => {
    if (to) navigate(hrefOf(to.id), { replace: readNow().id !== undefined });
  };
  const move = (step: number) => {
    leaveControl();
    go(store.rows.peek()[Math.max(0, readNow().index + step)]);
  };
  const choose = (next: VerdictDraft) => {
    leaveControl();
    setDraft(next);
  };
  const setFilters = (changes: Partial<ReviewFilters>) => {
    const tail = formatFilters({ ...filters, ...changes });
    navigate(`/searches/${sessionId}/review${paperId ? `/${paperId}` : ""}${tail}`, { replace: true });
  };

  function save(): void {
    const now = readNow();
    if (!store.canMark.value || !now.draft.verdict) {
      if (store.canMark.value && now.row) showToast(texts.chooseVerdict);
      return;
    }
    const reason = now.draft.verdict === "exclude" ? now.draft.reason.trim() || null : null;
    const mark = { status: now.draft.verdict, reason };
    if (now.selected) {
      if (!now.selected.size) return;
      store.mark([...now.selected], mark);
      setSelected(undefined);
      bulkDraft.value = NO_VERDICT;
    } else if (now.row) {
      store.mark([now.row.id], mark);
      drafts.clear(now.row.id);
      go(store.rows.peek().find((one, index) => index > now.index && one.status === "undecided"));
    }
  }

  async function undo(): Promise<void> {
    const { id } = readNow();
    if (id && drafts.get(id)) {
      drafts.clear(id);
      return;
    }
    await attempt(async () => {
      const undone = await store.undo();
      for (const id of undone) drafts.clear(id);
      showToast(undone.length ? texts.undone(undone.length) : texts.nothingToUndo);
      const [first] = undone;
      if (first !== undefined && first !== id && undone.length === 1) go(store.getRow(first));
    });
  }

  const isOpen = store.canMark.value;
  const startSelecting = () => setSelected(chosenPapers.peek() ? undefined : new Set());
  const startMerge = () => {
    if ((chosenPapers.peek()?.size ?? 0) > 1) setDuplicates({ kind: "merge" });
  };
  const startSplit = (record?: string) => {
    const { id } = readNow();
    const records = id === undefined ? undefined : store.details.peek().get(id)?.provenance.records;
    if ((records?.length ?? 0) > 1) setDuplicates({ kind: "split", record });
  };
  const decisionKeys: KeyCommand[] = isOpen
    ? [
        ...Object.entries(VERDICTS).map(([key, verdict]) => ({
          keys: key,
          label: texts.keys[verdict],
          run: () => choose({ verdict, reason: readNow().draft.reason }),
        })),
        ...reasons.slice(0, 9).map((reason, place) => ({
          keys: String(place + 1),
          label: texts.keys.reason(place + 1),
          isHidden: place > 0,
          help: reasons.length > 1 ? { label: texts.keys.reasons, keys: texts.keys.digits(reasons.length) } : undefined,
          run: () => choose({ verdict: "exclude" as const, reason: readNow().draft.reason === reason ? "" : reason }),
        })),
        { keys: "Enter", label: texts.keys.save, run: save },
        { keys: "u", label: texts.keys.undo, run: () => void undo() },
        { keys: "b", label: texts.keys.select, run: startSelecting },
        {
          keys: " ",
          label: texts.keys.toggle,
          run: () => {
            const now = readNow();
            if (now.id) setSelected(toggle(now.selected ?? new Set(), now.id));
          },
        },
        { keys: "w", label: texts.keys.merge, run: startMerge },
        { keys: "d", label: texts.keys.split, run: () => startSplit() },
        { keys: "a", label: texts.keys.finish, run: () => setOverlay("finish") },
        { keys: "r", label: texts.keys.another, run: () => setOverlay("another") },
      ]
    : [];
  useKeys(commonTexts.pages.review, [
    { keys: "j", label: texts.keys.next, run: () => move(1) },
    { keys: "ArrowDown", label: texts.keys.next, isHidden: true, run: () => move(1) },
    { keys: "k", label: texts.keys.previous, run: () => move(-1) },
    { keys: "ArrowUp", label: texts.keys.previous, isHidden: true, run: () => move(-1) },
    ...decisionKeys,
    { keys: "o", label: texts.keys.open, run: () => url && open(url, "_blank", "noopener") },
    { keys: "/", label: texts.keys.find, run: () => document.getElementById("review-find")?.focus() },
    {
      keys: "Escape",
      label: texts.keys.back,
      run: () => {
        if (selected) setSelected(undefined);
        else if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
        else navigate(`/searches/${sessionId}/review${formatFilters(filters)}`);
      },
    },
  ]);

  const selection = {
    isOn: selected !== undefined,
    ids: selected ?? new Set<string>(),
    toggle: (id: string) => setSelected(toggle(selected ?? new Set(), id)),
    start: startSelecting,
    merge: startMerge,
    set: (ids: readonly string[]) => setSelected(new Set(ids)),
  };
  const bar =
    isOpen && (row || selected) ? (
      <VerdictForm
        store={store}
        draft={draft}
        reasons={reasons}
        selectedCount={selected?.size}
        url={url}
        onDraft={setDraft}
        onSave={save}
        onUndo={() => void undo()}
      />
    ) : undefined;
  const detailError = row && store.detailErrors.value.get(row.id);
  return (
    <div class="search-page">
      <SearchViews sessionId={sessionId} current="review" question={store.question.value} />
      {!row && <h1 class="visually-hidden">{commonTexts.pages.review}</h1>}
      {store.error.value && <ErrorNote error={store.error.value} onRetry={() => store.retry()} />}
      <Panes
        listLabel={texts.list}
        list={
          <ReviewList
            store={store}
            filters={filters}
            currentId={paperId}
            selection={selection}
            onFilters={setFilters}
            hrefOf={hrefOf}
            onEnter={save}
          />
        }
        hasDetail={paperId !== undefined}
        backTo={`/searches/${sessionId}/review${formatFilters(filters)}`}
        detail={
          <Detail bar={bar}>
            {row ? (
              <PaperPanel
                key={row.id}
                row={row}
                paper={paper}
                total={store.total.value}
                labelSource={(source) => store.labelSource(source)}
                onSplit={isOpen ? startSplit : undefined}
              />
            ) : (
              <EmptyState title={texts.choose} hint={texts.chooseHint} />
            )}
            {row && !paper && detailError && (
              <ErrorNote error={detailError} onRetry={() => store.loadDetails(row.id)} />
            )}
          </Detail>
        }
        context={<ReviewContext store={store} onOpen={setOverlay} />}
        contextLabel={commonTexts.pages.progress}
      />
      <ReviewOverlay store={store} overlay={overlay} onClose={() => setOverlay(undefined)} />
      {duplicates?.kind === "merge" && selected && (
        <MergeDialog
          store={store}
          ids={[...selected]}
          onDone={() => {
            setDuplicates(undefined);
            setSelected(undefined);
          }}
          onClose={() => setDuplicates(undefined)}
        />
      )}
      {duplicates?.kind === "split" && paper && (
        <SplitDialog store={store} paper={paper} chosen={duplicates.record} onClose={() => setDuplicates(undefined)} />
      )}
    </div>
  );
}

/** Call `go` with the present id of the paper if the address has a former one. */
function useCurrentId(store: ReviewStore, id: string | undefined, go: (id: string) => void): void {
  const isUnknown = id !== undefined && !store.getRow(id);
  useEffect(() => {
    if (!isUnknown) return;
    const path = { session_id: store.sessionId, paper_id: id };
    void api.get("/api/searches/{session_id}/papers/{paper_id}", { path }).then(
      (paper) => paper.id !== id && store.getRow(paper.id) && go(paper.id),
      () => undefined,
    );
  }, [store, id, isUnknown]);
}

/** Take the focus from the control that was clicked last: Enter, the next key, must save the verdict and not press it. */
function leaveControl(): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

/** Use the reasons for exclusions: common ones, and those used in this review; undefined until they are read. */
function useReasons(store: ReviewStore): readonly string[] | undefined {
  const resource = useResource(
    `reasons ${store.sessionId}`,
    async (signal) =>
      store.hasPapers
        ? api.get("/api/searches/{session_id}/reasons", { path: { session_id: store.sessionId }, signal })
        : undefined,
    (change) => change.kind === "papers" && change.subject === store.sessionId,
  );
  const reasons = resource.value.value?.reasons;
  const hasFailed = resource.error.value !== undefined;
  return useMemo(
    () => (reasons || hasFailed ? (reasons ?? []).map((one) => one.reason).slice(0, 9) : undefined),
    [reasons, hasFailed],
  );
}
