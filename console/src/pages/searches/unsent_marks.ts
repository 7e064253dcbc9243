import { effect, signal } from "@preact/signals";
import { api } from "../../api.ts";
import { type ApiError, toApiError } from "../../api_error.ts";
import type { PaperDecision } from "../../api_types.ts";
import { connection } from "../../live.ts";

export type Mark = PaperDecision | null;
/** The marks of one key press, or of one verdict about several papers. */
export type MarkChange = readonly (readonly [id: string, mark: Mark])[];
const RETRY_MS = 2_000;

/**
 * Marks on their way to the server, in the order of the keys. They survive a lost connection and a reload of the page:
 * what the server has not confirmed is stored in the browser and sent again.
 */
export class UnsentMarks {
  readonly count = signal(0);
  /** The number of own changes that the event stream will announce. */
  private expected = 0;
  private queue: MarkChange[];
  private sending: Promise<void> | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly key: string;

  constructor(
    private readonly sessionId: string,
    person: string,
    private readonly onSent: (change: MarkChange) => void,
    private readonly onRefused: (error: ApiError) => void,
  ) {
    this.key = `uraniborg.marks.${sessionId}.${person}`;
    this.queue = readStored(this.key);
    this.count.value = this.queue.length;
  }

  /** Send what is left, now and whenever the connection is back; return a function that ends this. */
  start(): () => void {
    const stop = effect(() => {
      if (connection.value === "live") void this.send();
    });
    return () => {
      stop();
      clearTimeout(this.timer);
    };
  }

  /** Return the last unsent mark of a paper; undefined if there is none. */
  get(id: string): Mark | undefined {
    for (const change of this.queue.toReversed()) {
      const found = change.find(([one]) => one === id);
      if (found) return found[1];
    }
    return undefined;
  }

  add(change: MarkChange): void {
    this.queue.push(change);
    this.store();
    void this.send();
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

  /** Return a promise that is done when everything was sent, or could not be. */
  send(): Promise<void> {
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
    });
    return this.sending;
  }

  private async sendAll(): Promise<void> {
    for (let change = this.queue[0]; change; change = this.queue[0]) {
      this.expectChange();
      try {
        const path = { session_id: this.sessionId };
        await api.put("/api/searches/{session_id}/marks", { path, body: { decisions: Object.fromEntries(change) } });
        this.removeFirst();
        this.onSent(change);
      } catch (thrown) {
        this.expected -= 1;
        const error = toApiError(thrown);
        if (error.isTemporary || error.status === 401) {
          clearTimeout(this.timer);
          this.timer = setTimeout(() => void this.send(), RETRY_MS);
          return;
        }
        this.removeFirst();
        this.onRefused(error);
      }
    }
  }

  private removeFirst(): void {
    this.queue.shift();
    this.store();
  }

  private store(): void {
    this.count.value = this.queue.length;
    try {
      if (this.queue.length) localStorage.setItem(this.key, JSON.stringify(this.queue));
      else localStorage.removeItem(this.key);
    } catch {
      // No room, or storage is off: the marks live as long as the page.
    }
  }
}

function readStored(key: string): MarkChange[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(stored) ? (stored as MarkChange[]) : [];
  } catch {
    return [];
  }
}
