import { describeActor, removeDirections } from "../common/actor_words.ts";
import type { Tone } from "../common/controls.tsx";
import type { NodeResult, RunSummary } from "../data/api_types.ts";
import type { Change } from "../data/server_events.ts";
import { type Answer, describeState } from "../inbox/question_words.ts";
import { listForgotten } from "../workflows/input_values.ts";
import { runTexts } from "./strings.ts";

export type RunStatus = RunSummary["status"];
export type NodeStatus = NodeResult["status"] | "pending";

const RUN_TONES: Record<RunStatus, Tone> = {
  running: "accent",
  success: "yes",
  failed: "no",
  cancelled: "neutral",
  waiting: "waiting",
  interrupted: "maybe",
};
const NODE_TONES: Record<NodeStatus, Tone> = {
  pending: "neutral",
  running: "accent",
  completed: "yes",
  reused: "yes",
  failed: "no",
  waiting: "waiting",
  skipped: "neutral",
  uncertain: "maybe",
};

/** Return the word and the colour of the state of a run. A run whose question is decided or withdrawn waits no more. */
export function describeRun(run: Pick<RunSummary, "status" | "question_state">): { word: string; tone: Tone } {
  if (run.question_state === "decided") return { word: runTexts.decided, tone: "neutral" };
  if (run.question_state === "withdrawn") return { word: runTexts.withdrawn, tone: "neutral" };
  return { word: runTexts.statuses[run.status], tone: RUN_TONES[run.status] };
}

/**
 * Return what follows from the decision about the question of a run. The console resumes only runs of its own, and
 * after a restart of the server none whose inputs were not stored.
 */
export function describeNext(action: string | undefined, isResumedSoon: boolean, inputs: unknown): string {
  const { decidedNotes, rejectedNotes, giveAgain } = runTexts;
  const notes = action === "reject" ? rejectedNotes : decidedNotes;
  if (isResumedSoon) return notes.resumedSoon;
  return listForgotten(inputs).length ? `${notes.resumedByStarter} ${giveAgain}` : notes.resumedByStarter;
}

/** Return true if a change may alter the state of a run, of one workflow or of all, or of the question of a run. */
export function isRunChange(change: Change, workflow?: string): boolean {
  if (change.kind === "inbox") return change.part === "pflow";
  return change.kind === "run" && (workflow === undefined || change.workflow === workflow);
}

/** Return who started a run, in words; an empty text if that is not known. */
export function describeStarter({ starter, actor }: Pick<RunSummary, "starter" | "actor">): string {
  const name = actor && starter?.door !== "schedule" ? describeActor(actor) : removeDirections(starter?.name ?? "");
  return starter && name ? runTexts.starters[starter.door](name) : name;
}

/**
 * Return the word and the colour of the state of a node. A node whose question was answered waits no more, and a batch
 * with failed items is not simply done.
 */
export function describeNode(
  status: NodeStatus,
  { answer, failedItems }: { answer?: Answer; failedItems?: number } = {},
): { word: string; tone: Tone } {
  if (failedItems && status !== "failed")
    return { word: `${runTexts.nodeStatuses[status]}, ${runTexts.itemsFailed(failedItems)}`, tone: "maybe" };
  if (answer) {
    const { tag: word, tone } = describeState("", { ...answer, state: "decided" });
    return { word, tone };
  }
  return { word: runTexts.nodeStatuses[status], tone: NODE_TONES[status] };
}

/** Return the beginning of the id of a run, which is enough to find it. */
export function shortenId(id: string): string {
  return id.slice(0, 12);
}
