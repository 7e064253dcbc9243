import { useSignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, ButtonLink, Tag } from "../common/controls.tsx";
import { Panes } from "../common/layout.tsx";
import { ErrorNote, Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { useSubmission } from "../common/submit_form.tsx";
import { showError, showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import { toApiError } from "../data/api_error.ts";
import type { Diagnostic, WorkflowText } from "../data/api_types.ts";
import { readDraftRevision, useDraft } from "../data/draft.ts";
import { useKeys } from "../data/keys.ts";
import { connection, listenForChanges } from "../data/live.ts";
import { useResource } from "../data/resource.ts";
import { formatPath, navigate, type Params, query } from "../data/router.ts";
import { readRefusal } from "../runs/started_run.ts";
import { applyCorrection, findCorrection } from "./corrections.ts";
import { FindingList } from "./finding_list.tsx";
import { findLine, findSyntaxProblem, JsonPositions } from "./json_positions.ts";
import { insertNode } from "./node_insertion.ts";
import { NodeTypes } from "./node_types.tsx";
import { workflowTexts as texts } from "./strings.ts";
import { TextArea } from "./text_area.tsx";
import { typeText } from "./text_change.ts";

const CHECK_MS = 300;
const RETRY_MS = 3_000;

/** The text of a workflow, checked while it is typed. */
export function WorkflowEditorPage({ params }: { params: Params }) {
  const name = params.name ?? "";
  const isDraft = query.value.get("source") === "draft";
  const text = useResource(`text ${name} ${isDraft}`, (signal) =>
    isDraft
      ? api.get("/api/drafts/{name}", { path: { name }, signal })
      : api.get("/api/workflows/{name}/document", { path: { name }, signal }),
  );
  return <Loaded resource={text}>{(value) => <Editor key={name} stored={value} />}</Loaded>;
}

/** A text of the server: with problems if the file is not a workflow. */
interface KnownText {
  text: string;
  revision: string;
  problems: readonly Diagnostic[];
}

function toKnownText({ document, text, revision, diagnostics }: WorkflowText): KnownText {
  // A field of the browser has no carriage returns
  const shown = document ? `${JSON.stringify(document, null, 2)}\n` : (text ?? "").replace(/\r\n?/g, "\n");
  return { text: shown, revision, problems: diagnostics ?? [] };
}

type FileEvent = "changed" | "broken" | "deleted";
const EVENT_CODES: Readonly<Record<string, FileEvent>> = {
  invalid_workflow: "broken",
  workflow_not_found: "deleted",
};

function Editor({ stored }: { stored: WorkflowText }) {
  const isDraft = stored.source !== "library";
  // The text that the server has, as far as this page knows: a change of somebody else is found when saving.
  const [known, setKnown] = useState(() => toKnownText(stored));
  const draftKey = `workflow ${stored.source} ${stored.name}`;
  // The revision that was read before typing: older than the known one if a draft is restored after such a change.
  const [base, setBase] = useState(() => readDraftRevision(draftKey) ?? stored.revision);
  const { text } = useDraft(draftKey, known.text, base);
  // The unsaved text that a text of somebody else has replaced; empty if there is none.
  const replaced = useDraft(`replaced ${draftKey}`);
  const area = useRef<HTMLTextAreaElement>(null);
  const { busy, error, send } = useSubmission<"save" | "resume" | "read">();
  const hasChanged = text.value !== known.text;
  const { findings, isChecking, hasChecked } = useFindings(text.value, hasChanged ? undefined : known.problems);
  // What somebody else has done to the file since it was read or saved here
  const [event, setEvent] = useState<FileEvent>();
  const isSaved = !hasChanged && event === undefined;
  const errors = findings.filter((one) => one.severity === "error").length;
  const runId = query.value.get("run");

  useEffect(() => select(area.current, text.value, 0, 0), []);

  async function save(): Promise<void> {
    const sent = text.value;
    const document = JSON.parse(sent) as Record<string, unknown>;
    const body = { document, ...(event === "deleted" ? { create: true } : { revision: base }) };
    const path = { name: stored.name };
    const written = isDraft
      ? await api.put("/api/drafts/{name}", { path, body })
      : await api.put("/api/workflows/{name}", { path, body });
    setKnown({ text: sent, revision: written.revision, problems: [] });
    setBase(written.revision);
    setEvent(undefined);
    replaced.clear();
    showToast(texts.textSaved(stored.name));
  }

  function readPresent(): Promise<WorkflowText> {
    const path = { name: stored.name };
    return isDraft ? api.get("/api/drafts/{name}", { path }) : api.get("/api/workflows/{name}/document", { path });
  }

  function showText(present: WorkflowText): void {
    const next = toKnownText(present);
    setEvent(undefined);
    setKnown(next);
    setBase(next.revision);
    text.value = next.text;
  }

  /** Show the text of somebody else. The text of this person can be shown again until the next save. */
  async function showOtherText(): Promise<void> {
    const present = await readPresent();
    if (hasChanged || event === "broken") replaced.text.value = text.value;
    showText(present);
  }

  /** Show the text of this person again. It can be saved: the person has seen the other text. */
  function showReplacedText(): void {
    const shown = text.value;
    changeText(replaced.text.value);
    replaced.text.value = shown === known.text ? "" : shown;
  }

  // Another tab, a person or an agent has written the file: show its text, unless this one was changed meanwhile or the
  // other one is broken.
  const latest = useRef({ known, base, busy });
  latest.current = { known, base, busy };
  function compareWith(present: WorkflowText): void {
    const now = latest.current;
    const canShow = text.peek() === now.known.text && (present.document !== null || now.known.problems.length > 0);
    if (now.busy) return;
    if (present.revision === now.base) setEvent(undefined);
    else if (canShow) showText(present);
    else setEvent(present.document ? "changed" : "broken");
  }
  useEffect(
    () =>
      listenForChanges((change) => {
        const isThis = change.kind === "workflow" && change.subject === stored.name;
        if (change.kind !== "reset" && (!isThis || (change.source === "draft") !== isDraft)) return;
        if (change.deleted) setEvent("deleted");
        // Other errors are shown when saving
        else void readPresent().then(compareWith, (thrown) => setEvent(EVENT_CODES[toApiError(thrown).code]));
      }),
    [],
  );

  /** Change the text in a way that Ctrl Z undoes. */
  function changeText(next: string): void {
    if (area.current) typeText(area.current, next);
  }

  function insert(node: string): void {
    const inserted = insertNode(text.value, node, area.current?.selectionEnd);
    changeText(inserted.text);
    select(area.current, text.value, inserted.start, inserted.end);
  }

  function discard(): void {
    changeText(known.text);
    setBase(known.revision);
  }

  /** Save the text if it has changed, and run the workflow of a run again. */
  async function resume(id: string): Promise<void> {
    if (hasChanged) await save();
    try {
      const started = await api.post("/api/runs/{run_id}/resume", { path: { run_id: id }, body: {} });
      const refusal = readRefusal(started);
      if (refusal) throw refusal;
      if (started.run_id) navigate(formatPath("/runs/{id}", { id: started.run_id }));
    } catch (thrown) {
      const problem = toApiError(thrown);
      if (!problem.facts.missing) throw problem;
      showError(problem);
      navigate(`${formatPath("/runs/{id}", { id })}?again=1`); // secrets are not stored: the form of the run asks for them
    }
  }

  function showFinding(finding: Diagnostic): void {
    const syntax = finding.code === "invalid_json" ? findSyntaxProblem(text.value)?.position : undefined;
    const position = new JsonPositions(text.value).findNearest(finding.path);
    if (syntax !== undefined) select(area.current, text.value, syntax, syntax + 1);
    else if (position) select(area.current, text.value, position.key?.start ?? position.start, position.end);
  }

  function correct(finding: Diagnostic): void {
    const correction = findCorrection(text.value, finding);
    if (!correction) return;
    changeText(applyCorrection(text.value, correction));
    select(area.current, text.value, correction.start, correction.start + correction.insert.length);
  }

  const canWrite = isDraft || (errors === 0 && event !== "deleted");
  const canSave = (hasChanged || event === "deleted") && canWrite && !findSyntaxProblem(text.value);
  const saveIfPossible = () => void (canSave && send("save", save));
  useKeys(texts.editor, [{ keys: "Control+s", label: texts.save, run: saveIfPossible }]);
  const address = formatPath("/workflows/{name}", { name: stored.name });
  const positions = new JsonPositions(text.value);
  return (
    <Panes
      detail={
        <div class="editor">
          <header class="editor-top">
            <div>
              <p class="tags quiet">
                <Tag>{isDraft ? texts.draft : texts.savedOne}</Tag>
                <span class="small" role="status">
                  {isSaved ? texts.allSaved : texts.unsaved}
                </span>
              </p>
              <h1 class="detail-title" dir="auto">
                <a href={address}>{stored.name}</a>
              </h1>
            </div>
          </header>
          {error && <ErrorNote error={error} />}
          {event && error?.code !== "workflow_changed" && (
            <p class="note-box editor-note" role="status">
              {event === "deleted" ? (isDraft ? texts.draftDeleted : texts.savedDeleted) : texts.fileEvents[event]}
            </p>
          )}
          {(event === "changed" || (event === "broken" && isDraft) || error?.code === "workflow_changed") && (
            <p class="editor-note">
              <Button isBusy={busy === "read"} onClick={() => void send("read", showOtherText)}>
                {texts.readAgain}
              </Button>
            </p>
          )}
          {replaced.text.value && (
            <p class="editor-note">
              <Button onClick={showReplacedText}>{texts.showReplaced}</Button>
            </p>
          )}
          <TextArea area={area} label={texts.text} text={text} lines={findLines(text.value, findings)} />
          <div class="decision-bar">
            <Button
              kind={runId ? "plain" : "primary"}
              isBusy={busy === "save"}
              isDisabled={!canSave}
              keyHint={commonTexts.keys.names["Control+s"]}
              onClick={saveIfPossible}
            >
              {texts.save}
            </Button>
            {runId && (
              <Button
                kind="primary"
                isBusy={busy === "resume"}
                isDisabled={errors > 0}
                onClick={() => void send("resume", () => resume(runId))}
              >
                {hasChanged ? texts.saveAndResume : texts.resumeRun}
              </Button>
            )}
            <ButtonLink href={runId ? formatPath("/runs/{id}", { id: runId }) : address}>
              {!runId && isSaved && errors === 0 ? texts.goToRun : commonTexts.actions.back}
            </ButtonLink>
            {hasChanged && (
              <Button kind="quiet" onClick={discard}>
                {texts.discard}
              </Button>
            )}
            <span class="quiet small wide-only">{isDraft ? texts.draftHint : texts.savedHint}</span>
          </div>
        </div>
      }
      contextLabel={texts.findings}
      context={
        <div class="context-body">
          <h2>{texts.findings}</h2>
          <p class={hasChecked ? "quiet" : "quiet first-check"} role="status">
            {isChecking
              ? texts.checking
              : findings.length
                ? texts.findingCount(findings)
                : event === "broken" || event === "deleted"
                  ? texts.noFindingsHere
                  : texts.noFindings}
          </p>
          <FindingList
            findings={findings}
            findLine={(finding) => findFindingLine(text.value, positions, finding)}
            onShow={showFinding}
            describeCorrection={(finding) => findCorrection(text.value, finding)?.shown}
            onCorrect={correct}
          />
          <NodeTypes onInsert={insert} />
        </div>
      }
    />
  );
}

/** Select a part of the text and scroll to it. */
function select(area: HTMLTextAreaElement | null, text: string, start: number, end: number): void {
  if (!area) return;
  area.focus();
  area.setSelectionRange(start, end);
  const height = Number.parseFloat(getComputedStyle(area).lineHeight) || 20;
  area.scrollTop = Math.max(0, (findLine(text, start).line - 4) * height);
}

/** Return the lines with findings, the worst finding of each. */
function findLines(text: string, findings: readonly Diagnostic[]): ReadonlyMap<number, "error" | "warning"> {
  const positions = new JsonPositions(text);
  const lines = new Map<number, "error" | "warning">();
  for (const finding of findings) {
    const line = findFindingLine(text, positions, finding);
    if (line !== undefined && lines.get(line) !== "error") lines.set(line, finding.severity);
  }
  return lines;
}

/** Return the line of a finding, or undefined if it is not in the text any more. */
function findFindingLine(text: string, positions: JsonPositions, finding: Diagnostic): number | undefined {
  const position =
    finding.code === "invalid_json" ? findSyntaxProblem(text)?.position : positions.findNearest(finding.path)?.start;
  return position === undefined ? undefined : findLine(text, position).line;
}

/**
 * The findings of the one checker about a text, a moment after it was typed. `problems` are those of a file that the
 * server cannot read although the browser can, for instance with a key that is given twice.
 */
function useFindings(
  text: string,
  problems: readonly Diagnostic[] = [],
): { findings: readonly Diagnostic[]; isChecking: boolean; hasChecked: boolean } {
  const findings = useSignal<readonly Diagnostic[]>([]);
  const checked = useSignal<string | undefined>(undefined);
  const isAway = connection.value === "reconnecting";
  useEffect(() => {
    const problem = findSyntaxProblem(text);
    if (problem) {
      const { column } = findLine(text, problem.position);
      const isComma = /,\s*$/.test(text.slice(0, problem.position)) && /[}\]]/.test(text[problem.position] ?? "");
      const message = isComma
        ? texts.extraComma
        : texts.syntax(column, problem.message.replace(/ at position \d.*$/, ""));
      findings.value = [{ severity: "error", code: "invalid_json", path: "", message, hint: texts.syntaxHint }];
      checked.value = text;
      return;
    }
    if (problems.length) {
      findings.value = problems;
      checked.value = text;
      return;
    }
    if (isAway) return; // the check is repeated when the server answers again
    const abort = new AbortController();
    let timer = setTimeout(check, CHECK_MS);
    async function check(): Promise<void> {
      try {
        const body = { document: JSON.parse(text) as unknown };
        const reply = await api.post("/api/workflows/check", { body, signal: abort.signal });
        findings.value = reply.diagnostics;
        checked.value = text;
      } catch (thrown) {
        if (abort.signal.aborted) return;
        const error = toApiError(thrown);
        if (error.isTemporary) timer = setTimeout(check, RETRY_MS);
        else showError(error);
      }
    }
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, problems.length, isAway]);
  return { findings: findings.value, isChecking: checked.value !== text, hasChecked: checked.value !== undefined };
}
