import { computed, signal } from "@preact/signals";
import { api } from "../data/api.ts";
import { type ApiError, toApiError } from "../data/api_error.ts";
import type { PaperDetails, PaperList, PaperRow, ReviewStatus } from "../data/api_types.ts";
import { listenForChanges } from "../data/live.ts";
import type { Change } from "../data/server_events.ts";
import type { ExpectOwnDecision } from "../strategy/other_decider.ts";
import type { Mark, MarkChange } from "./mark_queue.ts";
import { type ReviewFilters, toParameters } from "./review_filters.ts";
import { UnsentMarks } from "./unsent_marks.ts";

const PAGE = 1_000;
const REFRESH_MS = 300;
const MOST_DETAILS = 60;
const AHEAD = 3;

export type Counts = Record<ReviewStatus, number>;
const NO_PAPERS: Counts = { include: 0, exclude: 0, maybe: 0, undecided: 0 };

/** The papers of one session as the reviewer sees them; verdicts show at once and are sent behind it. */
export class ReviewStore {
  readonly rows = signal<readonly PaperRow[]>([]);
  readonly total = signal(0);
  /** The question of the search. */
  readonly question = signal("");
  readonly counts = signal<Counts>(NO_PAPERS);
  readonly facets = signal<PaperList["facets"] | undefined>(undefined);
  readonly isComplete = signal(false);
  /** Whether the review waits, so that papers can be marked. */
  readonly canMark = signal(false);
  readonly isLoaded = signal(false);
  readonly checkpointId = signal<string | null>(null);
  readonly error = signal<ApiError | undefined>(undefined);
  readonly details = signal<ReadonlyMap<string, PaperDetails>>(new Map());
  /** The errors of papers that could not be read, by id. */
  readonly detailErrors = signal<ReadonlyMap<string, ApiError>>(new Map());
  readonly positions = computed(() => new Map(this.rows.value.map((row, index) => [row.id, index])));
  readonly unsent: UnsentMarks;
  /** Called before this page decides the review. */
  expectOwnDecision: ExpectOwnDecision = () => () => undefined;
  /** False while a round searches: the papers of the earlier rounds can be read before it, and those of all after it. */
  hasPapers = true;
  private filters: ReviewFilters | undefined;
  private abort = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly loading = new Set<string>();

  constructor(
    readonly sessionId: string,
    readonly person: string,
  ) {
    this.unsent = new UnsentMarks(
      sessionId,
      person,
      (change) => this.showOthers(change),
      () => this.refresh(),
    );
  }

  /** Follow the changes of the session; return a function that ends this. */
  start(): () => void {
    const stopListening = listenForChanges((change) => this.follow(change));
    const stopFollowing = this.unsent.start();
    return () => {
      stopListening();
      stopFollowing();
      this.abort.abort();
      clearTimeout(this.timer);
    };
  }

  /** List the papers that the filters choose. */
  async load(filters: ReviewFilters): Promise<void> {
    this.filters = filters;
    this.abort.abort();
    const own = new AbortController();
    this.abort = own;
    try {
      let rows: PaperRow[] = [];
      for (let offset: number | null = 0; offset !== null; ) {
        const page: PaperList = await api.get("/api/searches/{session_id}/papers", {
          path: { session_id: this.sessionId },
          query: { ...toParameters(filters), offset, limit: PAGE },
          signal: own.signal,
        });
        if (own.signal.aborted) return;
        rows = rows.concat(page.papers.map((row) => this.applyUnsent(row)));
        offset = page.next_offset;
        if (offset === null || !this.isLoaded.peek()) this.show(rows, page);
      }
      this.error.value = undefined;
    } catch (thrown) {
      if (!own.signal.aborted) this.error.value = toApiError(thrown);
    }
  }

  private show(rows: readonly PaperRow[], page: PaperList): void {
    this.rows.value = rows;
    this.total.value = page.total;
    this.question.value = page.query;
    this.counts.value = { ...NO_PAPERS, ...page.counts };
    this.facets.value = page.facets;
    this.isComplete.value = page.is_complete;
    this.canMark.value = page.can_mark ?? !page.is_complete;
    this.checkpointId.value = page.checkpoint_id;
    this.isLoaded.value = true;
  }

  /** Read everything again, soon, if there are papers to read. */
  refresh(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      if (this.hasPapers) this.retry();
    }, REFRESH_MS);
  }

  /** Read everything again now, also if the last known change left no papers to read. */
  retry(): void {
    this.hasPapers = true;
    this.details.value = new Map();
    if (this.filters) void this.load(this.filters);
  }

  private follow(change: Change): void {
    if (change.kind === "reset") {
      this.hasPapers = true; // perhaps: the change that begins the next review may be among the lost ones
      this.refresh();
    }
    if (change.kind === "session" && change.subject === this.sessionId) {
      this.hasPapers = isReviewChange(change, this.sessionId);
    }
    if (isReviewChange(change, this.sessionId)) this.refresh();
    if (change.subject !== this.sessionId) return;
    if (change.kind === "papers" && !(change.reviewer === this.person && this.unsent.isOwnChange())) this.refresh();
  }

  /** Return the name of a source that people know, also with a remark behind it in brackets. */
  labelSource(source: string): string {
    const [, name = source, remark = ""] = /^(\S+)( \(.*\))?$/.exec(source) ?? [];
    return `${this.facets.value?.source_labels?.[name] ?? name}${remark}`;
  }

  getRow(id: string | undefined): PaperRow | undefined {
    const index = id === undefined ? undefined : this.positions.value.get(id);
    return index === undefined ? undefined : this.rows.value[index];
  }

  /** Give papers a verdict, or remove theirs with null. */
  mark(ids: readonly string[], mark: Mark): void {
    const change: MarkChange = ids.map((id) => [id, mark]);
    this.applyMarks(change);
    this.unsent.add(change);
  }

  private applyMarks(change: MarkChange): void {
    const counts = { ...this.counts.value };
    const rows = [...this.rows.value];
    for (const [id, mark] of change) {
      const index = this.positions.value.get(id);
      const row = index === undefined ? undefined : rows[index];
      if (index === undefined || !row) continue;
      const next = applyMark(row, mark);
      counts[row.status] -= 1;
      counts[next.status] += 1;
      rows[index] = next;
    }
    this.rows.value = rows;
    this.counts.value = counts;
  }

  private applyUnsent(row: PaperRow): PaperRow {
    const mark = this.unsent.get(row.id);
    return mark === undefined ? row : applyMark(row, mark);
  }

  /** Undo the last change of marks on the server; return the papers that it had changed. */
  async undo(): Promise<string[]> {
    await this.unsent.sendAll();
    this.unsent.expectChange();
    const { undone } = await api.post("/api/searches/{session_id}/marks/undo", {
      path: { session_id: this.sessionId },
    });
    this.applyMarks(Object.entries(undone));
    return Object.keys(undone);
  }

  /** Read the paper, and those after it, unless they are there. */
  loadDetails(id: string): void {
    const start = this.positions.peek().get(id) ?? 0;
    const wanted = [
      id,
      ...this.rows
        .peek()
        .slice(start + 1, start + 1 + AHEAD)
        .map((row) => row.id),
    ];
    for (const one of wanted) void this.loadDetail(one);
  }

  private async loadDetail(id: string): Promise<void> {
    if (this.details.peek().has(id) || this.loading.has(id)) return;
    this.loading.add(id);
    try {
      const path = { session_id: this.sessionId, paper_id: id };
      const paper = await api.get("/api/searches/{session_id}/papers/{paper_id}", { path });
      const next = new Map([...this.details.peek(), [id, paper] as const].slice(-MOST_DETAILS));
      this.details.value = next;
      this.setDetailError(id, undefined);
    } catch (thrown) {
      this.setDetailError(id, toApiError(thrown));
    }
    this.loading.delete(id);
  }

  private setDetailError(id: string, error: ApiError | undefined): void {
    const errors = new Map(this.detailErrors.peek());
    if (error) errors.set(id, error);
    else if (!errors.delete(id)) return;
    this.detailErrors.value = errors;
  }

  /** Read papers again whose other verdicts can be seen now. */
  private showOthers(change: MarkChange): void {
    if (change.some(([id]) => (this.getRow(id)?.others_hidden ?? 0) > 0)) this.refresh();
  }
}

/** Return true if the session has papers to list now: at a review, at a later plan, and at its end. */
export function isReviewChange(change: Change, sessionId: string): boolean {
  if (change.kind !== "session" || change.subject !== sessionId) return false;
  return change.phase === "completed" || hasPapersAt(change.checkpoint_kind, change.round);
}

/** Return true if a question has papers: a review, or the plan of a later round with the papers of the earlier ones. */
export function hasPapersAt(checkpointKind: unknown, round: unknown): boolean {
  if (checkpointKind === "strategy_confirmation") return Number(round) > 0;
  return checkpointKind === "result_review";
}

function applyMark(row: PaperRow, mark: Mark): PaperRow {
  return mark
    ? { ...row, status: mark.status, reason: mark.reason ?? null, is_marked: true }
    : { ...row, status: "undecided", reason: null, is_marked: false, others: [], differs: false };
}
