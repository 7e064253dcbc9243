import { batch, computed, signal } from "@preact/signals";
import { api } from "../data/api.ts";
import { type ApiError, toApiError } from "../data/api_error.ts";
import type { NodeResult, RunGraph, RunSummary } from "../data/api_types.ts";
import { listenForChanges, retryWhenLive } from "../data/live.ts";
import type { Change } from "../data/server_events.ts";
import type { Answer } from "../inbox/question_words.ts";
import type { NodeStatus } from "./run_words.ts";

/** The state of a node: from the log of runs if it has ended, from the event stream until then. */
export interface NodeState {
  node: string;
  status: NodeStatus;
  seq?: number;
  type?: string;
  startedAt?: string;
  durationMs?: number;
  items?: number;
  itemsDone?: number;
  note?: string;
  hasError?: boolean;
  action?: string;
  failedItems?: number;
  /** The question that the node waits for. */
  approvalId?: string;
  /** How this question was decided after the run had ended. */
  answer?: Answer;
}

const PAGE = 5_000;
const READ_MS = 400;
/** After how long the log has a node that has ended. */
const LOGGED_MS = 1_100;

/** Return the state of a node that has ended. */
export function toState(result: NodeResult): NodeState {
  return {
    node: result.node,
    status: result.status,
    seq: result.seq,
    type: result.type,
    ...(result.started_at ? { startedAt: result.started_at } : {}),
    ...(result.duration_ms === null ? {} : { durationMs: result.duration_ms }),
    ...(result.note ? { note: result.note } : {}),
    ...(result.action ? { action: result.action } : {}),
    ...(result.failed_items ? { failedItems: result.failed_items } : {}),
    ...(result.error?.approval_id ? { approvalId: result.error.approval_id } : {}),
    hasError: result.error !== null,
  };
}

/** Return the state of a node that a change announces, or undefined if the change lacks its facts. */
export function readNodeChange(change: Change): NodeState | undefined {
  const { node, status, duration_ms: duration, items, items_done: done } = change;
  if (typeof node !== "string" || typeof status !== "string") return undefined;
  return {
    node,
    status: status as NodeStatus,
    ...(status === "running" ? { startedAt: change.at } : {}),
    ...(typeof duration === "number" ? { durationMs: duration } : {}),
    ...(typeof items === "number" ? { items } : {}),
    ...(typeof done === "number" ? { itemsDone: done } : {}),
  };
}

/** Return a state with the time at which its node began: a batch announces its progress again and again. */
export function keepStart(before: NodeState | undefined, state: NodeState): NodeState {
  if (before?.status !== "running" || state.status !== "running" || before.startedAt === undefined) return state;
  return { ...state, startedAt: before.startedAt };
}

/** Return the states of nodes, with the answer to the question of the run for the node that asked it. */
export function addAnswer(states: readonly NodeState[], run: RunSummary | undefined): readonly NodeState[] {
  const answer = run?.question_answer;
  if (!answer) return states;
  return states.map((state) => (state.approvalId === run.error?.approval_id ? { ...state, answer } : state));
}

/**
 * A run, live: nodes that have ended come from the log, page by page; nodes that start and end meanwhile come from the
 * event stream, whichever process runs them.
 */
export function makeRunStore(runId: string) {
  const run = signal<RunSummary | undefined>(undefined);
  const graph = signal<RunGraph | null>(null);
  const isPresentGraph = signal(false);
  const resumesWhenDecided = signal(false);
  const resumedAs = signal<string | null>(null);
  const logged = signal<readonly NodeState[]>([]);
  const live = signal<ReadonlyMap<string, NodeState>>(new Map());
  const error = signal<ApiError | undefined>(undefined);
  let abort = new AbortController();
  let pending: Change[] = [];
  let frame = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isReading = false;
  /** Changes that arrive while the first page is read: it may be older than they are. */
  let newer: Change[] = [];
  let mustReadAgain = false;

  const ended = computed(() => addAnswer(logged.value, run.value));
  /** The last state of every node, by its key. */
  const states = computed<ReadonlyMap<string, NodeState>>(() => {
    const found = new Map(ended.value.map((state) => [state.node, state]));
    if (run.value?.status === "running")
      for (const [node, state] of live.value) found.set(node, { ...found.get(node), ...state });
    return found;
  });

  async function read(fromStart = false): Promise<void> {
    if (isReading) {
      mustReadAgain = true;
      return;
    }
    isReading = true;
    newer = [];
    const { signal: aborted } = abort;
    try {
      let after = fromStart ? 0 : (logged.peek().at(-1)?.seq ?? 0);
      for (let hasMore = true; hasMore; ) {
        const path = { run_id: runId };
        const page = await api.get("/api/runs/{run_id}/progress", {
          path,
          query: { after, limit: PAGE },
          signal: aborted,
        });
        if (aborted.aborted) return;
        apply(page.nodes.map(toState), after === 0);
        batch(() => {
          run.value = page.run;
          graph.value = page.graph;
          isPresentGraph.value = page.is_present_graph;
          resumesWhenDecided.value = page.resumes_when_decided;
          resumedAs.value = page.resumed_as;
          error.value = undefined;
          if (after === 0) {
            const active = page.active.flatMap((one) => readNodeChange({ kind: "node", subject: runId, ...one }) ?? []);
            const meanwhile = newer.flatMap((change) => readNodeChange(change) ?? []);
            live.value = new Map([...active, ...meanwhile].map((state) => [state.node, state]));
          }
        });
        after = page.next ?? after;
        hasMore = page.next !== null;
      }
    } catch (thrown) {
      if (!aborted.aborted) error.value = toApiError(thrown);
    } finally {
      isReading = false;
    }
    if (aborted.aborted) return;
    if (mustReadAgain) readSoon();
    else if (hasUnloggedNode()) readSoon(LOGGED_MS);
    mustReadAgain = false;
  }

  function apply(nodes: readonly NodeState[], isFirst: boolean): void {
    if (isFirst) logged.value = nodes;
    else if (nodes.length) logged.value = [...logged.peek(), ...nodes];
  }

  /** Return whether a node has ended that the log did not have when it was read. */
  function hasUnloggedNode(): boolean {
    if (run.peek()?.status !== "running") return false;
    const known = new Set(logged.peek().map((state) => state.node));
    return [...live.peek().values()].some((state) => state.status !== "running" && !known.has(state.node));
  }

  function readSoon(milliseconds = READ_MS): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void read();
    }, milliseconds);
  }

  function showChanges(): void {
    frame = 0;
    const next = new Map(live.peek());
    for (const change of pending) {
      const state = readNodeChange(change);
      if (state) next.set(state.node, keepStart(next.get(state.node), state));
    }
    pending = [];
    live.value = next;
  }

  function receive(change: Change): void {
    if (change.kind === "reset") void read(true);
    if (change.kind === "inbox" && change.subject === run.peek()?.error?.approval_id) readSoon(0);
    const isThis = change.subject === (run.peek()?.id ?? runId);
    if (change.kind === "run" && (isThis || change.workflow === run.peek()?.workflow)) readSoon(0); // or resumes this run
    if (!isThis) return;
    if (change.kind === "node") {
      pending.push(change);
      if (isReading) newer.push(change);
      frame ||= requestAnimationFrame(showChanges);
      if (change.status !== "running") readSoon();
    }
  }

  function start(): () => void {
    abort = new AbortController();
    const stop = listenForChanges(receive);
    const stopRetry = retryWhenLive(error, () => void read(true));
    void read(true);
    return () => {
      stop();
      stopRetry();
      abort.abort();
      clearTimeout(timer);
      timer = undefined;
      cancelAnimationFrame(frame);
      frame = 0;
      isReading = false;
    };
  }

  return {
    run,
    graph,
    isPresentGraph,
    resumesWhenDecided,
    resumedAs,
    ended,
    states,
    error,
    start,
    reload: () => void read(true),
  };
}

export type RunStore = ReturnType<typeof makeRunStore>;
