import { computed } from "@preact/signals";
import { ApiError } from "../data/api_error.ts";
import { followMarks, type Mark, type MarkChange, queuedChanges, queueMarks, sendMarks } from "./mark_queue.ts";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.review;

/** The marks of one person in one search that are on their way to the server, of all tabs. */
export class UnsentMarks {
  readonly count = computed(() => this.list().length);
  /** The number of own changes that the event stream will announce. */
  private expected = 0;

  constructor(
    private readonly sessionId: string,
    private readonly person: string,
    private readonly onSent: (change: MarkChange) => void,
    private readonly onRefused: () => void,
  ) {}

  /** Follow the marks that this tab sends; return a function that ends this. */
  start(): () => void {
    return followMarks((queued, progress) => {
      if (queued.sessionId !== this.sessionId || queued.person !== this.person) return;
      if (progress === "sending") this.expectChange();
      else if (progress === "sent") this.onSent(queued.change);
      else this.expected -= 1;
      if (progress === "refused") this.onRefused();
    });
  }

  /** Return the last unsent mark of a paper; undefined if there is none. */
  get(id: string): Mark | undefined {
    for (const { change } of this.list().toReversed()) {
      const found = change.find(([one]) => one === id);
      if (found) return found[1];
    }
    return undefined;
  }

  add(change: MarkChange): void {
    queueMarks(this.sessionId, this.person, change);
  }

  /** Expect that the event stream announces a change that this page has made. */
  expectChange(): void {
    this.expected += 1;
  }

  /** Return whether an announced change of marks is one of this page. */
  isOwnChange(): boolean {
    if (!this.expected) return false;
    this.expected -= 1;
    return true;
  }

  /** Send everything. Throw an ApiError if marks are left, because the server is busy or away. */
  async sendAll(): Promise<void> {
    await sendMarks();
    const left = this.count.peek();
    if (left) throw new ApiError(texts.notSent(left), texts.notSentHint, "marks_not_sent", 0);
  }

  private list() {
    return queuedChanges.value.filter((one) => one.sessionId === this.sessionId && one.person === this.person);
  }
}
