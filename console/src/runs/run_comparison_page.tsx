import { useState } from "preact/hooks";
import { Checkbox, Tag } from "../common/controls.tsx";
import { Card, PlainPage, Table } from "../common/layout.tsx";
import { Loaded } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { When } from "../common/time.tsx";
import { api } from "../data/api.ts";
import type { NodeDifference, RunComparison, RunSummary, ValueDifference } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { formatPath, type Params } from "../data/router.ts";
import { formatDuration } from "../data/times.ts";
import { WorkflowViews } from "../workflows/workflow_views.tsx";
import { describeNode, describeRun } from "./run_words.ts";
import { runTexts as texts } from "./strings.ts";
import { ValueView } from "./value_view.tsx";

const SHOWN = 500;

/** Two runs beside each other: the inputs, outputs and nodes in which they differ. */
export function RunComparisonPage({ params }: { params: Params }) {
  const first = params.id ?? "";
  const second = params.other ?? "";
  const compared = useResource(`comparison ${first} ${second}`, (signal) =>
    api.get("/api/run-comparison", { query: { first, second }, signal }),
  );
  return (
    <div class="search-page">
      <WorkflowViews current="runs" />
      <PlainPage title={commonTexts.pages.comparison}>
        <Loaded resource={compared}>{(value) => <Comparison value={value} />}</Loaded>
      </PlainPage>
    </div>
  );
}

function Comparison({ value }: { value: RunComparison }) {
  const [isAll, setAll] = useState(false);
  const differing = value.nodes.filter((node) => node.differs);
  const nodes = isAll ? value.nodes : differing;
  return (
    <>
      <div class="compared-runs">
        <Summary title={texts.first} run={value.first} />
        <Summary title={texts.second} run={value.second} />
      </div>
      <Differences title={texts.inputs} values={value.inputs} />
      <Differences title={texts.outputs} values={value.outputs} />
      <Card title={texts.nodes} aside={texts.differing(differing.length, value.nodes.length)}>
        <div class="card-body">
          <Checkbox label={texts.allNodes} isChecked={isAll} onChange={setAll} />
        </div>
        {nodes.length > 0 && (
          <Table
            label={texts.nodes}
            columns={[{ title: texts.node }, { title: texts.first }, { title: texts.second }]}
            rows={nodes
              .slice(0, SHOWN)
              .map((node) => [
                <span dir="auto">{node.node}</span>,
                <Ending ending={node.first} />,
                <Ending ending={node.second} />,
              ])}
          />
        )}
      </Card>
    </>
  );
}

function Summary({ title, run }: { title: string; run: RunSummary }) {
  const { word, tone } = describeRun(run);
  return (
    <Card title={title}>
      <div class="card-body">
        <p class="tags">
          <Tag tone={tone}>{word}</Tag>
          <span class="quiet">
            <When at={run.started_at} />
          </span>
          {run.duration_ms !== null && <span class="quiet">{formatDuration(run.duration_ms)}</span>}
        </p>
        <p dir="auto">{run.workflow}</p>
        <a href={formatPath("/runs/{id}", { id: run.id })}>
          <code>{run.id}</code>
        </a>
      </div>
    </Card>
  );
}

function Differences({ title, values }: { title: string; values: readonly ValueDifference[] }) {
  return (
    <Card title={title} aside={values.length}>
      {values.length ? (
        <Table
          label={title}
          columns={[{ title: texts.name }, { title: texts.first }, { title: texts.second }]}
          rows={values.map((one) => [
            <span dir="auto">{one.name}</span>,
            "first" in one ? <ValueView value={one.first} /> : <span class="quiet">{texts.notThere}</span>,
            "second" in one ? <ValueView value={one.second} /> : <span class="quiet">{texts.notThere}</span>,
          ])}
        />
      ) : (
        <p class="card-body quiet">{texts.same}</p>
      )}
    </Card>
  );
}

function Ending({ ending }: { ending: NodeDifference["first"] }) {
  if (!ending) return <span class="quiet">{texts.notThere}</span>;
  const { word, tone } = describeNode(ending.status);
  return (
    <span class="tags">
      <Tag tone={tone}>{word}</Tag>
      {ending.duration_ms !== null && <span class="quiet">{formatDuration(ending.duration_ms)}</span>}
    </span>
  );
}
