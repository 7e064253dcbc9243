import { api } from "../data/api.ts";
import { useResource } from "../data/resource.ts";
import type { Change } from "../data/server_events.ts";
import { inboxTexts } from "./strings.ts";

/** Return whether a change may start or end something. The progress of a job does neither. */
function isStartOrEnd(change: Change): boolean {
  if (change.kind === "nbody-job") return change.state !== "running" || !change.progress;
  return change.kind === "session" || change.kind === "run";
}

/** How many searches, runs and jobs work at this moment, whichever process runs them. */
export function RunningCounts() {
  const counts = useResource("running", (signal) => api.get("/api/running", { signal }), isStartOrEnd).value.value;
  if (!counts) return null;
  const texts = inboxTexts;
  const parts = [
    ...(counts.searches ? [texts.searchesWorking(counts.searches)] : []),
    ...(counts.runs ? [texts.runsRunning(counts.runs)] : []),
    ...(counts.jobs ? [texts.jobsRunning(counts.jobs)] : []),
  ];
  return (
    <p class="pane-footer quiet small" role="status">
      {parts.length ? `${texts.running}: ${parts.join(", ")}` : texts.nothingRuns}
    </p>
  );
}
