import { useState } from "preact/hooks";
import { Button, ButtonLink, Tag, TextField } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { Card, Detail, Facts } from "../common/layout.tsx";
import { ErrorState, Loaded } from "../common/states.tsx";
import { SubmitForm, useSubmission } from "../common/submit_form.tsx";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import type { WorkflowDescription } from "../data/api_types.ts";
import { useKeys } from "../data/keys.ts";
import { useResource } from "../data/resource.ts";
import { formatPath, navigate, type Params } from "../data/router.ts";
import type { Change } from "../data/server_events.ts";
import { formatDuration } from "../data/times.ts";
import { GraphView } from "../runs/graph_view.tsx";
import { formatRunsAddress, RunRow } from "../runs/run_list.tsx";
import { isRunChange } from "../runs/run_words.ts";
import { runTexts } from "../runs/strings.ts";
import { formatDraftEditorPath } from "./editor_path.ts";
import { FindingList } from "./finding_list.tsx";
import { findNameProblem } from "./new_draft_dialog.tsx";
import { RunForm } from "./run_form.tsx";
import { ScheduleDialog } from "./schedule_list.tsx";
import { workflowTexts as texts } from "./strings.ts";
import { WorkflowViews } from "./workflow_views.tsx";

const SHOWN_RUNS = 8;

/** Return whether the text of a workflow has changed. */
function isFileChange(change: Change, name: string): boolean {
  return change.kind === "workflow" && change.subject === name;
}

/** A workflow: its form, its graph, its runs. */
export function WorkflowPage({ params }: { params: Params }) {
  const name = params.name ?? "";
  const workflow = useResource(
    `workflow ${name}`,
    (signal) => api.get("/api/workflows/{name}", { path: { name }, signal }),
    (change) => (change.kind === "run" && change.workflow === name) || isFileChange(change, name),
  );
  const error = workflow.error.value;
  const isBrokenDraft = workflow.value.value === undefined && error?.facts.path === `workflows/drafts/${name}.json`;
  return (
    <div class="search-page">
      <WorkflowViews current="workflows" />
      {isBrokenDraft && error ? (
        <ErrorState error={error}>
          <ButtonLink kind="primary" href={formatDraftEditorPath(name)}>
            {texts.edit}
          </ButtonLink>
        </ErrorState>
      ) : (
        <Loaded resource={workflow}>{(value) => <Workflow workflow={value} reload={workflow.reload} />}</Loaded>
      )}
    </div>
  );
}

function Workflow({ workflow, reload }: { workflow: WorkflowDescription; reload: () => void }) {
  const [dialog, setDialog] = useState<"save" | "schedule">();
  const isDraft = workflow.source === "draft";
  const edit = `${formatPath("/workflows/{name}/edit", { name: workflow.name })}${isDraft ? "?source=draft" : ""}`;
  useKeys(texts.workflow, [{ keys: "e", label: texts.edit, run: () => navigate(edit) }]);
  const hasErrors = workflow.diagnostics.some((one) => one.severity === "error");
  return (
    <Detail
      bar={
        <>
          <ButtonLink href={edit} keyHint="e">
            {texts.edit}
          </ButtonLink>
          {isDraft && (
            <Button onClick={() => setDialog("save")} isDisabled={hasErrors}>
              {texts.saveToLibrary}
            </Button>
          )}
          <Button onClick={() => setDialog("schedule")} isDisabled={hasErrors}>
            {texts.schedule}
          </Button>
          <span class="quiet small wide-only" dir="auto">
            {workflow.path}
          </span>
        </>
      }
    >
      <p class="tags quiet">
        <Tag>{isDraft ? texts.draft : texts.savedOne}</Tag>
        <span class="small">{texts.nodeCount(workflow.nodes_total)}</span>
      </p>
      <h1 class="detail-title" dir="auto">
        {workflow.name}
      </h1>
      {workflow.description && <p dir="auto">{workflow.description}</p>}
      {workflow.warnings.map((warning) => (
        <p key={warning} class="note-box" dir="auto">
          {warning}
        </p>
      ))}
      {workflow.diagnostics.length > 0 && (
        <Card title={texts.findings} aside={texts.findingCount(workflow.diagnostics)}>
          <FindingList findings={workflow.diagnostics} />
        </Card>
      )}
      <div class="workflow-columns">
        <Card title={texts.runTitle}>
          <div class="card-body">
            <RunForm workflow={workflow} draftKey={`run ${workflow.name}`} />
          </div>
        </Card>
        <div class="workflow-side">
          <Runs workflow={workflow} />
          <Outputs workflow={workflow} />
        </div>
      </div>
      {workflow.nodes.length > 0 && <GraphCard name={workflow.name} />}
      {dialog === "save" && <SaveDialog draft={workflow} onClose={() => setDialog(undefined)} onSaved={reload} />}
      {dialog === "schedule" && <ScheduleDialog workflow={workflow} onClose={() => setDialog(undefined)} />}
    </Detail>
  );
}

function GraphCard({ name }: { name: string }) {
  const graph = useResource(
    `graph ${name}`,
    (signal) => api.get("/api/workflows/{name}/graph", { path: { name }, signal }),
    (change) => isFileChange(change, name),
  );
  return (
    <Card title={runTexts.graph}>
      <Loaded resource={graph}>{(value) => <GraphView nodes={value.nodes} edges={value.edges} />}</Loaded>
    </Card>
  );
}

function Outputs({ workflow }: { workflow: WorkflowDescription }) {
  const outputs = Object.entries(workflow.outputs);
  if (!outputs.length) return null;
  return (
    <Card title={texts.outputs}>
      <div class="card-body">
        <Facts
          facts={outputs.map(([name, output]) => [
            name,
            <span dir="auto">{output.description || <code>{output.source}</code>}</span>,
          ])}
        />
      </div>
    </Card>
  );
}

function Runs({ workflow }: { workflow: WorkflowDescription }) {
  const { statistics } = workflow;
  const runs = useResource(
    `last runs ${workflow.name}`,
    (signal) => api.get("/api/runs", { query: { workflow: workflow.name, limit: SHOWN_RUNS }, signal }),
    (change) => isRunChange(change, workflow.name),
  );
  const average = statistics.average_duration_ms;
  return (
    <Card
      title={texts.lastRuns}
      aside={average == null ? texts.runCount(statistics.execution_count) : texts.average(formatDuration(average))}
    >
      <Loaded resource={runs}>
        {(page) =>
          page.runs.length ? (
            <>
              <ul class="plain-rows" aria-label={texts.lastRuns}>
                {page.runs.map((run) => (
                  <li key={run.id}>
                    <RunRow run={run} isOfOne />
                  </li>
                ))}
              </ul>
              {page.next !== null && (
                <p class="card-body">
                  <a href={formatRunsAddress(workflow.name, "")}>{texts.allRunsOf}</a>
                </p>
              )}
            </>
          ) : (
            <p class="card-body quiet">{texts.neverRan}</p>
          )
        }
      </Loaded>
    </Card>
  );
}

/** Ask for the name and the description of a draft, and move it to the library. */
function SaveDialog(props: { draft: WorkflowDescription; onClose: () => void; onSaved: () => void }) {
  const [name, setName] = useState(props.draft.name);
  const [description, setDescription] = useState(props.draft.description);
  const submission = useSubmission({
    name: findNameProblem(name),
    description: description.trim() ? undefined : texts.required,
  });
  async function save(): Promise<void> {
    const body = { final_name: name.trim(), description };
    const saved = await api.post("/api/drafts/{name}/save", { path: { name: props.draft.name }, body });
    showToast([texts.savedAs(saved.name), ...saved.warnings].join(" "));
    props.onClose();
    props.onSaved();
    navigate(formatPath("/workflows/{name}", { name: saved.name }), { replace: true });
  }
  return (
    <Dialog title={texts.saveToLibrary} onClose={props.onClose}>
      <SubmitForm submission={submission} action={texts.save} onSubmit={save} onCancel={props.onClose}>
        <TextField
          label={texts.name}
          hint={texts.nameHint}
          problem={submission.problems.name}
          value={name}
          onInput={setName}
          maxLength={100}
          isMono
        />
        <TextField
          label={texts.description}
          hint={texts.descriptionHint}
          problem={submission.problems.description}
          value={description}
          onInput={setDescription}
          lines={3}
          maxLength={500}
          autoFocus
        />
      </SubmitForm>
    </Dialog>
  );
}
