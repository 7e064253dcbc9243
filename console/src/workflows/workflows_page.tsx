import { useState } from "preact/hooks";
import { describeActor } from "../common/actor_words.ts";
import { Button, Tag } from "../common/controls.tsx";
import { PlainPage } from "../common/layout.tsx";
import { EmptyState, Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { Age } from "../common/time.tsx";
import { api } from "../data/api.ts";
import type { DraftSummary, SavedWorkflow, UnreadableFile } from "../data/api_types.ts";
import { makeListKeys, useKeys } from "../data/keys.ts";
import { useResource } from "../data/resource.ts";
import { formatPath, navigate, query } from "../data/router.ts";
import { RunList } from "../runs/run_list.tsx";
import { formatDraftEditorPath } from "./editor_path.ts";
import { NewDraftDialog } from "./new_draft_dialog.tsx";
import { ScheduleList } from "./schedule_list.tsx";
import { workflowTexts as texts } from "./strings.ts";
import { type WorkflowView, WorkflowViews } from "./workflow_views.tsx";

/** Saved workflows and drafts, runs, and schedules. The address holds the view and the filter. */
export function WorkflowsPage() {
  const view = (query.value.get("view") ?? "workflows") as WorkflowView;
  return (
    <div class="search-page">
      <WorkflowViews current={view} />
      {view === "runs" ? (
        <RunList workflow={query.value.get("workflow") ?? ""} status={query.value.get("status") ?? ""} />
      ) : view === "schedules" ? (
        <ScheduleList />
      ) : (
        <Library />
      )}
    </div>
  );
}

function Library() {
  const [words, setWords] = useState("");
  const isCreating = query.value.has("new");
  const create = () => navigate("/workflows?new=1");
  const workflows = useResource(
    "workflows",
    (signal) => api.get("/api/workflows", { signal }),
    (change) => change.kind === "run" || change.kind === "workflow",
  );
  useKeys(commonTexts.pages.workflows, [
    { keys: "n", label: texts.newDraft, run: create },
    ...makeListKeys(".search-item-title a"),
  ]);
  const known = workflows.value.value;
  const isEmpty = known && !known.workflows.length && !known.drafts.length && !known.problems.length;
  const isFound = (one: { name: string; description: string }) =>
    `${one.name} ${one.description}`.toLowerCase().includes(words.trim().toLowerCase());
  return (
    <PlainPage title={commonTexts.pages.workflows}>
      {!isEmpty && (
        <div class="toolbar">
          <Button kind="primary" icon="plus" keyHint="n" onClick={create}>
            {texts.newDraft}
          </Button>
          <search class="toolbar-find">
            <input
              type="search"
              aria-label={texts.find}
              placeholder={texts.find}
              value={words}
              onInput={(event) => setWords(event.currentTarget.value)}
            />
          </search>
        </div>
      )}
      <Loaded resource={workflows}>
        {({ workflows: saved, drafts, problems }) =>
          !isEmpty ? (
            <>
              {problems.length > 0 && <UnreadableFiles files={problems} />}
              <Group title={texts.saved} empty={texts.noneSaved} items={saved.filter(isFound)} />
              <Group title={texts.drafts} empty={texts.noDrafts} items={drafts.filter(isFound)} isDraft />
            </>
          ) : (
            <EmptyState title={texts.empty} hint={texts.emptyHint} command={texts.emptyCommand}>
              <Button kind="primary" icon="plus" onClick={create}>
                {texts.newDraft}
              </Button>
            </EmptyState>
          )
        }
      </Loaded>
      {isCreating && (
        <NewDraftDialog onClose={() => navigate("/workflows", { replace: true })} onCreated={openEditor} />
      )}
    </PlainPage>
  );
}

function openEditor(name: string): void {
  navigate(formatDraftEditorPath(name));
}

/** The files that are not workflows, such as broken JSON of an agent. Drafts open in the editor. */
function UnreadableFiles({ files }: { files: readonly UnreadableFile[] }) {
  return (
    <section class="workflow-group">
      <h2>
        {texts.unreadable} <span class="quiet">{files.length.toLocaleString("en-GB")}</span>
      </h2>
      <ul class="sheet-list" aria-label={texts.unreadable}>
        {files.map(({ path, problem, draft }) => (
          <li key={path} class="search-item">
            <div class="search-item-top">
              <h3 class="search-item-title">
                {draft ? (
                  <a href={formatDraftEditorPath(draft)} dir="auto">
                    {draft}
                  </a>
                ) : (
                  <span dir="auto">{path}</span>
                )}
              </h3>
              <Tag tone="no">{texts.error}</Tag>
            </div>
            <p class="problem small" dir="auto">
              {problem}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface GroupProps {
  title: string;
  empty: string;
  items: readonly (SavedWorkflow | DraftSummary)[];
  isDraft?: boolean;
}

function Group({ title, empty, items, isDraft = false }: GroupProps) {
  return (
    <section class="workflow-group">
      <h2>
        {title} <span class="quiet">{items.length.toLocaleString("en-GB")}</span>
      </h2>
      {items.length ? (
        <ul class="sheet-list" aria-label={title}>
          {items.map((one) => (
            <li key={one.name} class="search-item">
              <div class="search-item-top">
                <h3 class="search-item-title">
                  <a href={formatPath("/workflows/{name}", { name: one.name })} dir="auto">
                    {one.name}
                  </a>
                </h3>
                <span class="quiet small">
                  <Age at={one.updated_at} />
                </span>
              </div>
              {one.description && (
                <p class="quiet" dir="auto">
                  {one.description}
                </p>
              )}
              <p class="quiet small tags">
                {isDraft && <Tag>{texts.draft}</Tag>}
                <span dir="auto">{describeInputs(one.inputs)}</span>
                <span dir="auto">{commonTexts.actors.writtenBy(describeActor(one.actor))}</span>
                {"execution_count" in one && <span>{texts.runCount(one.execution_count)}</span>}
              </p>
            </li>
          ))}
        </ul>
      ) : (
        <p class="quiet">{empty}</p>
      )}
    </section>
  );
}

function describeInputs(names: readonly string[]): string {
  if (!names.length) return texts.noInputsShort;
  return texts.inputsOf(names.slice(0, 6).join(", ") + (names.length > 6 ? "…" : ""));
}
