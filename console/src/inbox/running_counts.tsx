import { api } from "../api.ts";
import { useResource } from "../resource.ts";
import { strings } from "../strings.ts";

const KINDS = new Set(["session", "run"]);

/** How many searches and runs work at this moment, whichever process runs them. */
export function RunningCounts() {
  const counts = useResource(
    "running",
    async (signal) => {
      const [searches, { runs }] = await Promise.all([
        api.get("/api/searches", { query: { phase: "working", limit: 1 }, signal }),
        api.get("/api/runs", { query: { limit: 100 }, signal }),
      ]);
      return { searches: searches.total, runs: runs.filter((run) => run.status === "running").length };
    },
    (change) => KINDS.has(change.kind),
  ).value.value;
  if (!counts) return null;
  const texts = strings.inbox;
  const parts = [
    ...(counts.searches ? [texts.searchesWorking(counts.searches)] : []),
    ...(counts.runs ? [texts.runsRunning(counts.runs)] : []),
  ];
  return (
    <p class="pane-footer quiet small" role="status">
      {parts.length ? `${texts.running}: ${parts.join(", ")}` : texts.nothingRuns}
    </p>
  );
}
