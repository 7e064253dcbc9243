import { describeActor } from "../common/actor_words.ts";
import { Tag } from "../common/controls.tsx";
import { Facts } from "../common/layout.tsx";
import { ErrorMessage, Loaded, markCode } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { When } from "../common/time.tsx";
import { api } from "../data/api.ts";
import type { RunNode, RunSummary } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { formatPath } from "../data/router.ts";
import { readOwnName } from "../data/session.ts";
import { formatDuration } from "../data/times.ts";
import { describeAnswer } from "../inbox/question_words.ts";
import { ItemList, isItemChange } from "./item_list.tsx";
import type { NodeState, RunStore } from "./run_store.ts";
import { describeNode, describeStarter, shortenId } from "./run_words.ts";
import { runTexts as texts } from "./strings.ts";
import { ValueView } from "./value_view.tsx";

const SHOWN = 100;

/** Inputs and outputs of the whole run, and the nodes that failed. */
export function RunPanel(props: { run: RunSummary; store: RunStore; hrefOf: (node: string) => string }) {
  const { run, store } = props;
  const failed = store.ended.value.filter((state) => state.status === "failed" || state.status === "uncertain");
  return (
    <div class="context-body">
      <h2>{commonTexts.pages.run}</h2>
      <Facts
        facts={[
          [texts.startedAt, <When at={run.started_at} />],
          [texts.startedBy, <span dir="auto">{describeStarter(run) || commonTexts.actors.unknown}</span>],
          ...(run.cancelled_by
            ? ([[commonTexts.actors.cancelledBy, <span dir="auto">{describeActor(run.cancelled_by)}</span>]] as const)
            : []),
          ...(run.resumed_by
            ? ([[commonTexts.actors.resumedBy, <span dir="auto">{describeActor(run.resumed_by)}</span>]] as const)
            : []),
          ...(run.ended_at && run.status !== "waiting" ? ([[texts.endedAt, <When at={run.ended_at} />]] as const) : []),
          ...(run.resumed_from
            ? ([
                [
                  texts.resumedFrom,
                  <a href={formatPath("/runs/{id}", { id: run.resumed_from })}>{shortenId(run.resumed_from)}</a>,
                ],
              ] as const)
            : []),
        ]}
      />
      {failed.length > 0 && (
        <>
          <h3>{texts.failedNodes}</h3>
          <ul class="link-list">
            {failed.slice(0, SHOWN).map((state) => (
              <li key={state.seq}>
                <a href={props.hrefOf(state.node)} dir="auto">
                  {state.node}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      <ValueSection title={texts.inputs} value={run.inputs} />
      <ValueSection title={texts.outputs} value={run.outputs} />
      <p class="quiet small">{texts.masked}</p>
    </div>
  );
}

/** One node of a run: its state and why, inputs, outputs, messages, error, and the items of a batch. */
export function NodePanel(props: {
  run: RunSummary;
  store: RunStore;
  node: string;
  item: number | undefined;
  closeHref: string;
  itemHrefOf: (item: number) => string;
}) {
  const { run, store, node } = props;
  const state = store.states.value.get(node);
  const described = store.graph.value?.nodes.find((one) => one.id === node);
  // Of a node of a nested workflow it is not known whether it is a batch
  const isBatch = described ? described.is_batch : node.includes("/");
  const { word, tone } = describeNode(state?.status ?? "pending", state);
  return (
    <div class="context-body">
      <p>
        <a href={props.closeHref} class="up-link">
          ‹ {texts.wholeRun}
        </a>
      </p>
      <h1 class="narrow-only quiet small" dir="auto">
        {run.workflow}
      </h1>
      <p class="tags">
        <Tag tone={tone}>{word}</Tag>
        <span class="quiet small">{state?.type || described?.type}</span>
      </p>
      <h2 dir="auto">{node}</h2>
      {described?.purpose && (
        <p class="quiet" dir="auto">
          {described.purpose}
        </p>
      )}
      <Why run={run} state={state} />
      {state?.items !== undefined && state.status === "running" && (
        <div class="batch-progress">
          <progress value={state.itemsDone ?? 0} max={state.items} aria-label={texts.batch} />
          <span class="number">{texts.items(state.itemsDone ?? 0, state.items)}</span>
        </div>
      )}
      {state && isBatch && (
        <ItemList
          key={node}
          runId={run.id}
          seq={state.seq}
          node={node}
          current={props.item}
          hrefOf={props.itemHrefOf}
        />
      )}
      {state?.seq === undefined ? (
        <p class="quiet">
          {state?.status === "running" ? texts.runsNow : texts.noValues[run.status === "running" ? "later" : "never"]}
        </p>
      ) : (
        <NodeValues key={state.seq} runId={run.id} seq={state.seq} isAnswered={state.answer !== undefined} />
      )}
      {state?.status === "running" && <LiveMessages key={node} runId={run.id} node={node} />}
    </div>
  );
}

/** The messages of a node while it runs. */
function LiveMessages({ runId, node }: { runId: string; node: string }) {
  const resource = useResource(
    `messages ${runId} ${node}`,
    (signal) => api.get("/api/runs/{run_id}/messages", { path: { run_id: runId }, query: { node }, signal }),
    (change) => isItemChange(change, runId, node) && change.messages !== undefined,
  );
  return <Loaded resource={resource}>{(reply) => <Messages messages={reply.messages} />}</Loaded>;
}

function Messages({ messages }: { messages: readonly string[] }) {
  if (!messages.length) return null;
  return (
    <>
      <h3>{texts.messages}</h3>
      <pre class="json" dir="auto">
        {messages.join("\n")}
      </pre>
    </>
  );
}

/** Why a result was reused, or why it was not. */
function Why({ run, state }: { run: RunSummary; state: NodeState | undefined }) {
  if (state?.answer) {
    return (
      <p class="note-box" dir="auto">
        {describeAnswer(state.answer, readOwnName())}
      </p>
    );
  }
  if (state?.status === "reused") {
    return (
      <p class="note-box" dir="auto">
        {run.resumed_from ? texts.reusedFrom : texts.reusedWhy}
        {run.resumed_from && (
          <>
            {" "}
            <a href={formatPath("/runs/{id}", { id: run.resumed_from })}>{shortenId(run.resumed_from)}</a>
          </>
        )}
      </p>
    );
  }
  if (state?.note) {
    return (
      <p class="note-box" dir="auto">
        {texts.notReused(state.note)}
      </p>
    );
  }
  if (state?.status === "uncertain") return <p class="note-box">{texts.uncertainWhy}</p>;
  if (state?.status === "skipped") return <p class="note-box">{texts.skippedWhy}</p>;
  return null;
}

function NodeValues({ runId, seq, isAnswered }: { runId: string; seq: number; isAnswered: boolean }) {
  const resource = useResource(`node ${runId} ${seq}`, (signal) =>
    api.get("/api/runs/{run_id}/nodes/{seq}", { path: { run_id: runId, seq }, signal }),
  );
  return <Loaded resource={resource}>{(node) => <NodeDetails node={node} isAnswered={isAnswered} />}</Loaded>;
}

function NodeDetails({ node, isAnswered }: { node: RunNode; isAnswered: boolean }) {
  return (
    <>
      {node.error && !isAnswered && (
        <section class="failure" aria-label={texts.failure}>
          <ErrorMessage text={node.error.message} />
          {node.error.hint && <p dir="auto">{markCode(node.error.hint)}</p>}
          <p class="small">
            {commonTexts.errors.code} <code>{node.error.code}</code>
          </p>
        </section>
      )}
      <Facts
        facts={[
          ...(node.started_at ? ([[texts.startedAt, <When at={node.started_at} />]] as const) : []),
          ...(node.duration_ms === null ? [] : ([[texts.took, formatDuration(node.duration_ms)]] as const)),
          ...(node.action && node.action !== "default" ? ([[texts.action, <code>{node.action}</code>]] as const) : []),
        ]}
      />
      <ValueSection title={texts.inputs} value={node.inputs ?? node.params} />
      {node.inputs !== undefined && node.inputs !== null && (
        <details class="more">
          <summary>{texts.templates}</summary>
          <ValueView value={node.params} />
        </details>
      )}
      <ValueSection title={texts.outputs} value={node.outputs} />
      <Messages messages={node.messages ?? []} />
    </>
  );
}

function ValueSection({ title, value }: { title: string; value: unknown }) {
  const isNothing =
    value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);
  return (
    <>
      <h3>{title}</h3>
      {isNothing ? <p class="quiet">{texts.nothing}</p> : <ValueView value={value} />}
    </>
  );
}
