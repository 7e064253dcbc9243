import { computed, signal } from "@preact/signals";
import { api } from "../data/api.ts";
import type { QuestionSummary } from "../data/api_types.ts";
import { makePagedList, type PagedList } from "../data/paged_list.ts";

export type { QuestionSummary } from "../data/api_types.ts";

const PAGE = 100;
const counts = signal<Record<string, number>>({});

/** Make the list of the questions of one state. A question that leaves the state is removed at once. */
function makeQuestionList(state: "pending" | "decided"): PagedList<QuestionSummary> {
  const list: PagedList<QuestionSummary> = makePagedList(
    async (before, abort) => {
      const query = { state, limit: PAGE, before };
      const page = await api.get("/api/inbox/summaries", { query, signal: abort });
      if (state === "pending" && before === null) counts.value = page.pending;
      return { rows: page.entries, next: page.next };
    },
    (change) => {
      if (change.kind !== "inbox") return false;
      if (change.state !== state) list.remove(change.subject);
      return true;
    },
  );
  return list;
}

export const waiting = makeQuestionList("pending");
export const decided = makeQuestionList("decided");

/** How many questions wait, in all parts. */
export const waitingCount = computed(() => Object.values(counts.value).reduce((sum, one) => sum + one, 0));
