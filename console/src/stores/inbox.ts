import { computed, signal } from "@preact/signals";
import { api } from "../api.ts";
import type { QuestionSummary } from "../api_types.ts";
import { makeResource } from "../resource.ts";

export type { QuestionSummary } from "../api_types.ts";

const PAGE = 100;

/** Put a new first page before the entries that were loaded after it; undefined if there is no common entry. */
export function mergeFirstPage(
  page: readonly QuestionSummary[],
  loaded: readonly QuestionSummary[],
): readonly QuestionSummary[] | undefined {
  const last = page.at(-1);
  const index = last ? loaded.findIndex((one) => one.id === last.id) : -1;
  if (index < 0) return undefined;
  const ids = new Set(page.map((one) => one.id));
  return [...page, ...loaded.slice(index + 1).filter((one) => !ids.has(one.id))];
}

/** The questions of one state, page by page, patched from the event stream. */
export function makeQuestionList(state: "pending" | "decided") {
  const entries = signal<readonly QuestionSummary[] | undefined>(undefined);
  const counts = signal<Record<string, number>>({});
  let next: string | null = null;
  let isLoadingMore = false;

  const first = makeResource(
    async (abort) => {
      const page = await api.get("/api/inbox/summaries", { query: { state, limit: PAGE }, signal: abort });
      const merged = page.next === null ? undefined : mergeFirstPage(page.entries, entries.peek() ?? []);
      entries.value = merged ?? page.entries;
      if (!merged) next = page.next;
      counts.value = page.pending;
      return true;
    },
    (change) => {
      if (change.kind !== "inbox") return false;
      if (change.state !== state) entries.value = entries.peek()?.filter((one) => one.id !== change.subject);
      return true;
    },
  );

  async function loadMore(): Promise<void> {
    if (next === null || isLoadingMore) return;
    isLoadingMore = true;
    try {
      const page = await api.get("/api/inbox/summaries", { query: { state, limit: PAGE, before: next } });
      const known = new Set(entries.peek()?.map((one) => one.id));
      entries.value = [...(entries.peek() ?? []), ...page.entries.filter((one) => !known.has(one.id))];
      next = page.next;
    } catch {
      // The next scroll tries again; a lost connection is shown by the frame.
    } finally {
      isLoadingMore = false;
    }
  }

  return { entries, counts, first, loadMore: () => void loadMore() };
}

export const waiting = makeQuestionList("pending");
export const decided = makeQuestionList("decided");

/** How many questions wait, in all parts. */
export const waitingCount = computed(() => Object.values(waiting.counts.value).reduce((sum, one) => sum + one, 0));
