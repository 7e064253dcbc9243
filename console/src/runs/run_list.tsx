import { useEffect, useMemo } from "preact/hooks";
import { ButtonLink, Select } from "../common/controls.tsx";
import { ROW_HEIGHT, Row } from "../common/row.tsx";
import { EmptyState, Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { Age } from "../common/time.tsx";
import { VirtualList } from "../common/virtual_list.tsx";
import { api } from "../data/api.ts";
import type { RunSummary } from "../data/api_types.ts";
import { makeListKeys, useKeys } from "../data/keys.ts";
import { makePagedList } from "../data/paged_list.ts";
import { formatPath, navigate } from "../data/router.ts";
import { readOwnName } from "../data/session.ts";
import { formatDuration } from "../data/times.ts";
import { describeDecided } from "../inbox/question_words.ts";
import { formatFieldText } from "../workflows/input_values.ts";
import { workflowTexts as texts } from "../workflows/strings.ts";
import { describeRun, describeStarter, isRunChange, type RunStatus, shortenId } from "./run_words.ts";
import { runTexts } from "./strings.ts";

const PAGE = 100;
const STATUSES = ["", "running", "waiting", "success", "failed", "cancelled", "interrupted"] as const;
const CHOICES = STATUSES.map((value) => ({ value, label: value ? runTexts.statuses[value] : texts.allRuns }));
const heightOf = () => ROW_HEIGHT;
const keyOf = (run: RunSummary) => run.id;

/** All runs of all processes, the latest first, loaded page by page while you scroll. */
export function RunList({ workflow, status }: { workflow: string; status: string }) {
  const key = `runs ${workflow} ${status}`;
  const runs = useMemo(() => {
    const wanted = { workflow: workflow || null, status: (status || null) as RunStatus | null };
    return makePagedList<RunSummary>(async (before, abort) => {
      const page = await api.get("/api/runs", { query: { ...wanted, limit: PAGE, before }, signal: abort });
      return { rows: page.runs, next: page.next };
    }, isRunChange);
  }, [key]);
  useEffect(() => runs.first.start(), [runs]);
  const rows = runs.rows.value ?? [];
  useKeys(commonTexts.pages.runs, makeListKeys(".run-list-page .row"));
  const setStatus = (value: string) => navigate(formatRunsAddress(workflow, value), { replace: true });
  return (
    <div class="run-list-page">
      <div class="run-list-top">
        <h1>{workflow ? texts.runsOf(workflow) : commonTexts.pages.runs}</h1>
        <Select
          label={texts.status}
          value={status as (typeof STATUSES)[number]}
          choices={CHOICES}
          onChange={setStatus}
        />
        {workflow && <a href={formatRunsAddress("", status)}>{texts.showAllRuns}</a>}
      </div>
      <Loaded resource={runs.first}>
        {() =>
          rows.length ? (
            <VirtualList
              items={rows}
              heightOf={heightOf}
              keyOf={keyOf}
              label={commonTexts.pages.runs}
              onNearEnd={runs.loadMore}
              placeKey={key}
              render={(run) => <RunRow run={run} />}
            />
          ) : (
            <EmptyState
              title={status || workflow ? texts.noSuchRuns : texts.noRuns}
              hint={texts.noRunsHint}
              command={texts.noRunsCommand}
            >
              <ButtonLink href="/workflows">{texts.chooseWorkflow}</ButtonLink>
            </EmptyState>
          )
        }
      </Loaded>
    </div>
  );
}

export function formatRunsAddress(workflow: string, status: string): string {
  const found = new URLSearchParams({ view: "runs" });
  if (workflow) found.set("workflow", workflow);
  if (status) found.set("status", status);
  return `/workflows?${found.toString()}`;
}

/** A run in a list; of one workflow, its inputs are the title. */
export function RunRow({ run, isOfOne = false }: { run: RunSummary; isOfOne?: boolean }) {
  const { word, tone } = describeRun(run);
  return (
    <Row
      href={formatPath("/runs/{id}", { id: run.id })}
      tag={word}
      tone={tone}
      aside={<Age at={run.started_at} />}
      title={isOfOne ? describeInputs(run.inputs) : run.workflow}
      detail={describeDetail(run)}
      isCurrent={false}
    />
  );
}

function describeDetail(run: RunSummary): string {
  const parts = [
    shortenId(run.id),
    run.duration_ms === null ? "" : formatDuration(run.duration_ms),
    describeStarter(run),
    run.reused ? runTexts.reusedCount(run.reused) : "",
    run.question_answer
      ? describeDecided(run.question_answer, readOwnName())
      : (run.error?.message.split("\n")[0] ?? ""),
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Return the inputs of a run in one line. */
export function describeInputs(inputs: unknown): string {
  if (typeof inputs !== "object" || inputs === null || !Object.keys(inputs).length) return texts.noInputsShort;
  const parts = Object.entries(inputs).map(([name, value]) => `${name}: ${formatFieldText(value).slice(0, 60)}`);
  return parts.slice(0, 4).join(", ");
}
