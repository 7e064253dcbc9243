import { computed } from "@preact/signals";
import { api } from "../api.ts";
import { makeResource } from "../resource.ts";

/** How many questions wait, for the whole console. */
export const waiting = makeResource(
  (signal) => api.get("/api/inbox", { query: { state: "pending", limit: 1 }, signal }),
  (change) => change.kind === "inbox",
);

export const waitingCount = computed(() => {
  const pending = waiting.value.value?.pending ?? {};
  return Object.values(pending).reduce((sum, count) => sum + count, 0);
});
