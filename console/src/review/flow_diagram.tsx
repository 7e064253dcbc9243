import type { FlowReply } from "../data/api_types.ts";
import type { Counts } from "./review_store.ts";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.review;
const BOX = { width: 126, height: 54, gap: 34, side: 138 };

interface Step {
  count: string;
  label: string;
  side?: { count: string; label: string } | undefined;
  isCurrent?: boolean;
}

/** Return the boxes of the flow. `counts` are the verdicts as the page shows them, which the flow follows later. */
export function listSteps(flow: FlowReply, counts: Counts): Step[] {
  const found = sum(flow.identified);
  const removed = sum(flow.removed);
  const { by_person = 0, by_agent = 0, by_program = 0 } = flow.excluded;
  const byReviewers = by_person + by_agent + by_program;
  const automatic = sum(flow.excluded) - byReviewers;
  const listed = counts.include + counts.maybe + counts.exclude + counts.undecided;
  const decided = listed - counts.undecided;
  const steps: Step[] = [
    { count: String(found), label: texts.found(Object.keys(flow.identified).length) },
    { count: String(flow.screened), label: texts.screened, side: { count: String(removed), label: texts.removed } },
  ];
  const side = { count: String(flow.is_complete ? byReviewers : counts.exclude), label: texts.excluded };
  if (automatic > 0) {
    steps.push({
      count: String(listed),
      label: texts.listed,
      side: { count: String(automatic), label: texts.notRelevant },
    });
  }
  steps.push({
    count: flow.is_complete ? `${flow.judged_by_person} / ${listed}` : `${decided} / ${listed}`,
    label: flow.is_complete ? texts.byAll : texts.byYou,
    side,
    isCurrent: !flow.is_complete,
  });
  steps.push({
    count: String(flow.is_complete ? flow.included : counts.include),
    label: flow.is_complete ? texts.includedFinal(counts.maybe, counts.undecided) : texts.included,
  });
  return steps;
}

/** The flow of records as boxes and arrows, as PRISMA draws it. */
export function FlowDiagram({ flow, counts }: { flow: FlowReply; counts: Counts }) {
  const steps = listSteps(flow, counts);
  const height = steps.length * (BOX.height + BOX.gap) - BOX.gap;
  return (
    <svg class="flow" viewBox={`0 0 ${BOX.side + BOX.width} ${height}`} role="img" aria-label={describeSteps(steps)}>
      {steps.map((step, index) => {
        const top = index * (BOX.height + BOX.gap);
        const middle = BOX.width / 2;
        return (
          <g key={step.label}>
            {index > 0 && <Arrow x1={middle} y1={top - BOX.gap} x2={middle} y2={top} />}
            <FlowBox x={0} y={top} count={step.count} label={step.label} isCurrent={step.isCurrent ?? false} />
            {step.side && (
              <>
                <Arrow x1={BOX.width} y1={top + BOX.height / 2} x2={BOX.side} y2={top + BOX.height / 2} />
                <FlowBox x={BOX.side} y={top} count={step.side.count} label={step.side.label} isCurrent={false} />
              </>
            )}
          </g>
        );
      })}
    </svg>
  );
}

function FlowBox(props: { x: number; y: number; count: string; label: string; isCurrent: boolean }) {
  return (
    <g class={props.isCurrent ? "flow-box current" : "flow-box"}>
      <rect x={props.x + 0.5} y={props.y + 0.5} width={BOX.width - 1} height={BOX.height - 1} rx={6} />
      <text class="flow-count" x={props.x + 12} y={props.y + 23}>
        {props.count}
      </text>
      <text class="flow-label" x={props.x + 12} y={props.y + 42}>
        {props.label}
      </text>
    </g>
  );
}

function Arrow({ x1, y1, x2, y2 }: { x1: number; y1: number; x2: number; y2: number }) {
  const isDown = x1 === x2;
  const head = isDown
    ? `M${x2 - 4} ${y2 - 6}L${x2} ${y2 - 1}L${x2 + 4} ${y2 - 6}`
    : `M${x2 - 6} ${y2 - 4}L${x2 - 1} ${y2}L${x2 - 6} ${y2 + 4}`;
  return <path class="flow-arrow" d={`M${x1} ${y1}L${x2} ${y2}${head}`} />;
}

function describeSteps(steps: readonly Step[]): string {
  const parts = steps.flatMap((step) => [
    `${step.count} ${step.label}`,
    ...(step.side ? [`${step.side.count} ${step.side.label}`] : []),
  ]);
  return `${texts.flowLabel}: ${parts.join("; ")}`;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
