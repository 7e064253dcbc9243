import { effect, signal, untracked } from "@preact/signals";
import { showError } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import { toApiError } from "../data/api_error.ts";
import type { PaperDecision } from "../data/api_types.ts";
import { connection } from "../data/live.ts";
import { readOwnName, session } from "../data/session.ts";

export type Mark = PaperDecision | null;
/** The marks of one key press, or of one verdict about several papers. */
export type MarkChange = readonly (readonly [id: string, mark: Mark])[];

/** A change of marks that the server has not confirmed. `key` is its name in the storage; keys sort by time. */
interface QueuedChange {
  key: string;
  sessionId: string;
  person: string;
  change: MarkChange;
}

/** What happens to a change: it is sent, stays for another try, arrived, or the server does not want it. */
type Progress = "sending" | "waiting" | "sent" | "refused";
type Follower = (queued: QueuedChange, progress: Progress) => void;

const PREFIX = "uraniborg.mark.";
const LOCK = "uraniborg-marks";
const RETRY_MS = 2_000;
const followers = new Set<Follower>();
/** The changes that found no room in the storage: they live as long as the page. */
const unstored = new Map<string, QueuedChange>();
let lastTime = 0;
let sending: Promise<void> | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/**
 * The changes of all searches on their way to the server, the oldest first, also those of other tabs. Each has an entry
 * of its own in the storage, so that tabs do not overwrite each other, and is there after a reload.
 */
export const queuedChanges = signal<readonly QueuedChange[]>(readQueue());

/** Send what is left, now and whenever the server is back, on every page; return a function that ends this. */
export function startMarkQueue(): () => void {
  const followStorage = (event: StorageEvent) => {
    if (event.key === null || event.key.startsWith(PREFIX)) refresh();
  };
  addEventListener("storage", followStorage);
  const stop = effect(() => {
    if (connection.value === "live" && session.value.state === "signedIn") void untracked(sendMarks);
  });
  return () => {
    removeEventListener("storage", followStorage);
    stop();
    clearTimeout(timer);
  };
}

/** Call `follower` with the progress of every change that this tab sends; return a function that ends this. */
export function followMarks(follower: Follower): () => void {
  followers.add(follower);
  return () => followers.delete(follower);
}

/** Store a change, and send it. */
export function queueMarks(sessionId: string, person: string, change: MarkChange): void {
  const newest = Number(refresh().at(-1)?.key.slice(PREFIX.length).split(".")[0] ?? 0);
  lastTime = Math.max(Date.now(), lastTime + 1, newest + 1); // later than all others, also if the clock went back
  const key = `${PREFIX}${String(lastTime).padStart(15, "0")}.${Math.random().toString(36).slice(2)}`;
  const queued: QueuedChange = { key, sessionId, person, change };
  try {
    localStorage.setItem(key, JSON.stringify(queued));
  } catch {
    unstored.set(key, queued);
  }
  refresh();
  void sendMarks();
}

/** Return a promise that is done when everything of this person was sent, or could not be. One tab sends at a time. */
export function sendMarks(): Promise<void> {
  sending ??= navigator.locks.request(LOCK, sendAll);
  return sending;
}

async function sendAll(): Promise<void> {
  clearTimeout(timer);
  const waiting = new Set<string>();
  for (let next = findNext(waiting); next; next = findNext(waiting)) {
    announce(next, "sending");
    try {
      const path = { session_id: next.sessionId };
      const body = { decisions: Object.fromEntries(next.change) };
      await api.put("/api/searches/{session_id}/marks", { path, body });
      remove(next, "sent");
    } catch (thrown) {
      const error = toApiError(thrown);
      if (error.isTemporary || error.status === 401) {
        waiting.add(next.sessionId);
        announce(next, "waiting");
      } else {
        remove(next, "refused");
        showError(error);
      }
    }
  }
  if (waiting.size) timer = setTimeout(() => void sendMarks(), RETRY_MS);
  sending = undefined; // before the lock is free: a change that comes now needs another turn
}

/** Return the oldest change of this person, of a search that does not wait for another try. */
function findNext(waiting: ReadonlySet<string>): QueuedChange | undefined {
  const person = readOwnName();
  return refresh().find((one) => one.person === person && !waiting.has(one.sessionId));
}

function announce(queued: QueuedChange, progress: Progress): void {
  for (const follower of [...followers]) follower(queued, progress);
}

function remove(queued: QueuedChange, progress: Progress): void {
  unstored.delete(queued.key);
  try {
    localStorage.removeItem(queued.key);
  } catch {
    // Storage is off: the change was never in it.
  }
  refresh();
  announce(queued, progress);
}

function refresh(): readonly QueuedChange[] {
  const found = readQueue();
  if (found.length || queuedChanges.peek().length) queuedChanges.value = found;
  return found;
}

function readQueue(): QueuedChange[] {
  const found = [...unstored.values()];
  try {
    for (const key of Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))) {
      const queued: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
      if (isQueued(queued)) found.push({ ...queued, key });
    }
  } catch {
    // Storage is off.
  }
  return found.sort((one, other) => (one.key < other.key ? -1 : 1));
}

function isQueued(value: unknown): value is QueuedChange {
  const { sessionId, person, change } = (value ?? {}) as Partial<QueuedChange>;
  return typeof sessionId === "string" && typeof person === "string" && Array.isArray(change);
}
