import { useEffect, useMemo, useState } from "preact/hooks";
import { Button, ButtonLink, Tag } from "../common/controls.tsx";
import { Card, Detail, Panes } from "../common/layout.tsx";
import { ErrorMessage, ErrorNote, ErrorState, LoadingState, markCode } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { useSubmission } from "../common/submit_form.tsx";
import { Age } from "../common/time.tsx";
import { showError, showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { RunSummary } from "../data/api_types.ts";
import { useKeys } from "../data/keys.ts";
import { useResource } from "../data/resource.ts";
import { formatPath, navigate, type Params, query } from "../data/router.ts";
import { readOwnName } from "../data/session.ts";
import { formatDuration } from "../data/times.ts";
import { usePaletteEntries } from "../frame/palette_entries.ts";
import { frameTexts } from "../frame/strings.ts";
import { DecisionButtons, describeDecision, RejectDialog, useDecision } from "../inbox/question_pane.tsx";
import { QuestionContents } from "../inbox/question_view.tsx";
import { CompareDialog } from "./compare_dialog.tsx";
import { GraphView } from "./graph_view.tsx";
import { NodePanel, RunPanel } from "./node_panel.tsx";
import { RunAgainDialog } from "./run_again_dialog.tsx";
import { makeRunStore, type RunStore } from "./run_store.ts";
import { describeNext, describeRun, shortenId } from "./run_words.ts";
import { readRefusal } from "./started_run.ts";
import { runTexts as texts } from "./strings.ts";
import { Timeline } from "./timeline.tsx";

type View = "graph" | "timeline";
const DONE: ReadonlySet<string> = new Set(["completed", "reused"]);

/** A run: its graph and timeline while it runs, a node beside it, and what can be done. */
export function RunPage({ params }: { params: Params }) {
  const id = params.id ?? "";
  const store = useMemo(() => makeRunStore(id), [id]);
  useEffect(() => store.start(), [store]);
  const run = store.run.value;
  const error = store.error.value;
  if (!run) return error ? <ErrorState error={error} onRetry={store.reload} /> : <LoadingState />;
  return <Run key={run.id} run={run} store={store} />;
}

function formatRunAddress(id: string, view: View, node: string | undefined, item?: number): string {
  const found = new URLSearchParams();
  if (view !== "graph") found.set("view", view);
  if (node !== undefined) found.set("node", node);
  if (item !== undefined) found.set("item", String(item));
  const text = found.toString();
  return `${formatPath("/runs/{id}", { id })}${text ? `?${text}` : ""}`;
}

function Run({ run, store }: { run: RunSummary; store: RunStore }) {
  const view: View = query.value.get("view") === "timeline" ? "timeline" : "graph";
  const node = query.value.get("node") ?? undefined;
  const item = /^\d{1,9}$/.test(query.value.get("item") ?? "") ? Number(query.value.get("item")) : undefined;
  const question = useQuestion(run);
  const resumedAs = store.resumedAs.value;
  const follow = useFollowing(resumedAs);
  const decision = useDecision(question.id, { onDecided: follow, set: question.set, reload: question.reload });
  const isDecided = question.value?.state === "decided";
  const isResumedSoon = isDecided && store.resumesWhenDecided.value;
  const [dialog, setDialog] = useState<"again" | "compare" | undefined>(
    query.peek().has("again") ? "again" : undefined,
  );
  const graph = store.graph.value;
  const hrefOf = (one: string) => formatRunAddress(run.id, view, one);
  const pending = question.value?.state === "pending" ? question.value : undefined;
  const error = store.error.value;

  function move(step: number): void {
    const names = store.ended.peek().map((state) => state.node);
    const index = node === undefined ? -1 : names.indexOf(node);
    const next = names[index < 0 ? (step > 0 ? 0 : names.length - 1) : index + step];
    if (next !== undefined) navigate(hrefOf(next), { replace: true });
  }
  useKeys(commonTexts.pages.run, [
    { keys: "j", label: texts.nextNode, run: () => move(1) },
    { keys: "k", label: texts.previousNode, run: () => move(-1) },
    {
      keys: "v",
      label: texts.otherView,
      run: () => navigate(formatRunAddress(run.id, view === "graph" ? "timeline" : "graph", node), { replace: true }),
    },
    {
      keys: "Escape",
      label: commonTexts.actions.back,
      run: () => navigate(node === undefined ? "/workflows?view=runs" : formatRunAddress(run.id, view, undefined)),
    },
  ]);

  return (
    <div class={`search-page run-page${node === undefined ? "" : " has-node"}`}>
      <nav class="views" aria-label={texts.views}>
        <a href="/workflows?view=runs" class="up-link">
          ‹ {commonTexts.pages.runs}
        </a>
        {(["graph", "timeline"] as const).map((one) => (
          <a key={one} href={formatRunAddress(run.id, one, node)} aria-current={one === view ? "page" : undefined}>
            {texts.viewNames[one]}
          </a>
        ))}
      </nav>
      <Panes
        detail={
          <Detail
            bar={
              pending ? (
                <DecisionButtons question={pending} decision={decision} />
              ) : (
                <Actions
                  run={run}
                  isResumed={resumedAs !== null || isResumedSoon}
                  onAgain={() => setDialog("again")}
                  onCompare={() => setDialog("compare")}
                  onResumed={follow}
                />
              )
            }
          >
            <RunHeading run={run} store={store} />
            {error && <ErrorNote error={error} onRetry={store.reload} />}
            {question.value && isDecided && (
              <p class="note-box" role="status" dir="auto">
                {describeDecision(question.value, readOwnName())}{" "}
                {!resumedAs && describeNext(question.value.decision?.action, isResumedSoon, run.inputs)}
              </p>
            )}
            {resumedAs && (
              <p class="note-box" role="status">
                {texts.resumedAs} <a href={formatPath("/runs/{id}", { id: resumedAs })}>{shortenId(resumedAs)}</a>
              </p>
            )}
            {question.value?.state === "withdrawn" && !resumedAs && (
              <p class="note-box" role="status">
                {texts.withdrawnNote}
              </p>
            )}
            {run.error && run.status !== "waiting" && <RunFailure run={run} hrefOf={hrefOf} />}
            {pending && (
              <section class="approval" aria-label={texts.question}>
                <h2 dir="auto">{pending.kind === "approval" ? pending.payload.question : texts.question}</h2>
                <QuestionContents question={pending} />
              </section>
            )}
            {question.isLoading ? (
              <LoadingState />
            ) : view === "timeline" || !graph ? (
              <Timeline run={run} store={store} current={node} hrefOf={hrefOf} />
            ) : (
              <Card title={texts.graph} aside={store.isPresentGraph.value ? texts.presentGraph : undefined}>
                <GraphView
                  nodes={graph.nodes}
                  edges={graph.edges}
                  states={store.states.value}
                  current={node}
                  hrefOf={hrefOf}
                />
              </Card>
            )}
            <Warnings warnings={run.warnings ?? []} />
          </Detail>
        }
        contextLabel={texts.details}
        context={
          node === undefined ? (
            <RunPanel run={run} store={store} hrefOf={hrefOf} />
          ) : (
            <NodePanel
              run={run}
              store={store}
              node={node}
              item={item}
              closeHref={formatRunAddress(run.id, view, undefined)}
              itemHrefOf={(one) => formatRunAddress(run.id, view, node, one)}
            />
          )
        }
      />
      {question.value && <RejectDialog question={question.value} decision={decision} me={readOwnName()} />}
      {dialog === "again" && <RunAgainDialog run={run} onClose={() => setDialog(undefined)} />}
      {dialog === "compare" && <CompareDialog run={run} onClose={() => setDialog(undefined)} />}
    </div>
  );
}

function RunHeading({ run, store }: { run: RunSummary; store: RunStore }) {
  const { word, tone } = describeRun(run);
  const total = store.graph.value?.nodes.length ?? 0;
  const states = store.states.value;
  const done =
    store.graph.value?.nodes.filter((node) => DONE.has(states.get(node.id)?.status ?? "pending")).length ?? 0;
  return (
    <>
      <p class="tags quiet">
        <span role="status" class="tags">
          <Tag tone={tone}>{word}</Tag>
        </span>
        <span class="small">
          {run.status === "running" ? (
            <>
              {texts.started} <Age at={run.started_at} />
            </>
          ) : (
            run.duration_ms !== null && formatDuration(run.duration_ms)
          )}
        </span>
        {total > 0 && <span class="small">{texts.nodesDone(done, total)}</span>}
        {run.reused ? <span class="small">{texts.reusedCount(run.reused)}</span> : null}
        <code class="small" title={run.id}>
          {shortenId(run.id)}
        </code>
      </p>
      <h1 class="detail-title" dir="auto">
        <a href={formatPath("/workflows/{name}", { name: run.workflow })}>{run.workflow}</a>
      </h1>
    </>
  );
}

/** Why the run failed, what to do, and the node. */
function RunFailure({ run, hrefOf }: { run: RunSummary; hrefOf: (node: string) => string }) {
  const { error } = run;
  if (!error) return null;
  return (
    <section class="failure" role="alert" aria-label={texts.failure}>
      <ErrorMessage text={error.message} />
      {error.hint && <p dir="auto">{markCode(error.hint)}</p>}
      <p class="tags small">
        {run.failed_node && (
          <a href={hrefOf(run.failed_node)} dir="auto">
            {texts.showNode(run.failed_node)}
          </a>
        )}
        <span>
          {commonTexts.errors.code} <code>{error.code}</code>
        </span>
      </p>
    </section>
  );
}

function Warnings({ warnings }: { warnings: readonly string[] }) {
  if (!warnings.length) return null;
  return (
    <Card title={texts.warnings} aside={warnings.length}>
      <ul class="warning-list">
        {warnings.slice(0, 100).map((warning, index) => (
          <li key={index} dir="auto">
            {warning}
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface ActionProps {
  run: RunSummary;
  /** Whether another run continues this one. */
  isResumed: boolean;
  onAgain: () => void;
  onCompare: () => void;
  onResumed: () => void;
}

function Actions({ run, isResumed, onAgain, onCompare, onResumed }: ActionProps) {
  const { busy, send } = useSubmission<"cancel" | "resume">({}, (error) => {
    showError(error);
    if (error.facts.missing) onAgain(); // secrets are not stored: the form asks for them
  });
  const isRunning = run.status === "running";
  const canResume = !isRunning && !isResumed && run.status !== "success";
  const edit = `${formatPath("/workflows/{name}/edit", { name: run.workflow })}?${new URLSearchParams({
    ...(run.source === "draft" ? { source: "draft" } : {}),
    ...(canResume ? { run: run.id } : {}),
  }).toString()}`;

  const cancel = () =>
    send("cancel", async () => {
      await api.post("/api/runs/{run_id}/cancel", { path: { run_id: run.id } });
      showToast(texts.cancelling);
    });
  const resume = () =>
    send("resume", async () => {
      const started = await api.post("/api/runs/{run_id}/resume", { path: { run_id: run.id }, body: {} });
      const refusal = readRefusal(started);
      if (refusal) throw refusal;
      onResumed();
      if (started.run_id) navigate(formatPath("/runs/{id}", { id: started.run_id }));
    });
  useKeys(texts.actions, [
    ...(isRunning ? [{ keys: "c", label: texts.cancel, run: () => void cancel() }] : []),
    ...(canResume ? [{ keys: "r", label: texts.resume, run: () => void resume() }] : []),
    ...(isRunning ? [] : [{ keys: "e", label: texts.edit, run: () => navigate(edit) }]),
  ]);
  usePaletteEntries(() =>
    isRunning
      ? []
      : [
          { group: frameTexts.palette.here, label: texts.again, run: onAgain },
          { group: frameTexts.palette.here, label: texts.compare, run: onCompare },
        ],
  );
  if (isRunning) {
    return (
      <>
        <Button kind="danger" keyHint="c" isBusy={busy === "cancel"} onClick={() => void cancel()}>
          {texts.cancel}
        </Button>
        <span class="quiet small wide-only">{texts.cancelHint}</span>
      </>
    );
  }
  return (
    <>
      {canResume && (
        <Button kind="primary" keyHint="r" isBusy={busy === "resume"} onClick={() => void resume()}>
          {texts.resume}
        </Button>
      )}
      <ButtonLink href={edit} keyHint="e">
        {canResume ? texts.editAndResume : texts.edit}
      </ButtonLink>
      <Button onClick={onAgain}>{texts.again}</Button>
      <Button onClick={onCompare}>{texts.compare}</Button>
      {canResume && <span class="quiet small wide-only">{texts.resumeHint}</span>}
    </>
  );
}

/** The question that a run waits for. */
function useQuestion(run: RunSummary) {
  const id = run.status === "waiting" ? (run.error?.approval_id ?? "") : "";
  const resource = useResource(
    `run question ${id}`,
    async (signal) => (id ? api.get("/api/inbox/{entry_id}", { path: { entry_id: id }, signal }) : undefined),
    (change) => change.kind === "inbox" && change.subject === id,
  );
  const value = resource.value.value;
  const isLoading = id !== "" && !value && !resource.error.value;
  return { id, value, isLoading, set: resource.set, reload: resource.reload };
}

/** Go to the run that resumed this one when it begins, after the returned function was called. */
function useFollowing(resumedAs: string | null): () => void {
  const [isFollowing, setFollowing] = useState(false);
  useEffect(() => {
    if (isFollowing && resumedAs) navigate(formatPath("/runs/{id}", { id: resumedAs }), { replace: true });
  }, [isFollowing, resumedAs]);
  return () => setFollowing(true);
}
