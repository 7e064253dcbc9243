import { Card } from "../common/layout.tsx";
import { EmptyState } from "../common/states.tsx";
import { VirtualList } from "../common/virtual_list.tsx";
import type { RunSummary } from "../data/api_types.ts";
import { formatDuration, readNow } from "../data/times.ts";
import type { NodeState, RunStore } from "./run_store.ts";
import { describeNode } from "./run_words.ts";
import { runTexts as texts } from "./strings.ts";

const HEIGHT = 40;
const heightOf = () => HEIGHT;

interface NodeBar {
  key: string;
  state: NodeState;
  /** Where the bar begins and how long it is, in parts of the whole time. */
  left: number;
  width: number;
}

/** Return the bars of all nodes, those that run now last, in parts of the time from the start to the end of the run. */
export function makeNodeBars(
  ended: readonly NodeState[],
  running: readonly NodeState[],
  startedAt: number,
  endedAt: number,
): readonly NodeBar[] {
  const whole = Math.max(1, endedAt - startedAt);
  return [...ended, ...running].map((state) => {
    const began = Date.parse(state.startedAt ?? "");
    const offset = Number.isNaN(began) ? whole : Math.min(whole, Math.max(0, began - startedAt));
    const duration = state.durationMs ?? (Number.isNaN(began) ? 0 : endedAt - began);
    const left = offset / whole;
    return {
      key: `${state.seq ?? `live ${state.node}`}`,
      state,
      left,
      width: Math.min(1 - left, Math.max(0, duration) / whole),
    };
  });
}

/** When each node ran, in the order in which the nodes ended. */
export function Timeline(props: {
  run: RunSummary;
  store: RunStore;
  current: string | undefined;
  hrefOf: (node: string) => string;
}) {
  const { run, store, current } = props;
  const ended = store.ended.value;
  const running = [...store.states.value.values()].filter((state) => state.status === "running");
  const end = run.ended_at ? Date.parse(run.ended_at) : readNow();
  const bars = makeNodeBars(ended, running, Date.parse(run.started_at), end);
  if (!bars.length) return <EmptyState title={texts.noNodes} hint={texts.noNodesHint} />;
  return (
    <Card title={texts.viewNames.timeline} aside={texts.nodeCount(bars.length)}>
      <div class="timeline" style={{ "--rows": `${bars.length}` }}>
        <VirtualList
          items={bars}
          heightOf={heightOf}
          keyOf={(bar) => bar.key}
          label={texts.viewNames.timeline}
          currentKey={bars.find((bar) => bar.state.node === current)?.key}
          render={(bar) => (
            <TimelineRow bar={bar} isCurrent={bar.state.node === current} href={props.hrefOf(bar.state.node)} />
          )}
        />
      </div>
    </Card>
  );
}

function TimelineRow({ bar, isCurrent, href }: { bar: NodeBar; isCurrent: boolean; href: string }) {
  const { state } = bar;
  const { word, tone } = describeNode(state.status, state);
  return (
    <a class="timeline-row" href={href} aria-current={isCurrent ? "true" : undefined}>
      <span class="timeline-name" dir="auto">
        {state.node}
      </span>
      <span class={`graph-state ${tone}`}>{word}</span>
      <span class="timeline-track" aria-hidden="true">
        <span
          class={`timeline-bar ${tone}`}
          style={{ left: `${bar.left * 100}%`, width: `max(3px, ${bar.width * 100}%)` }}
        />
      </span>
      <span class="quiet number">
        {state.status === "running" && state.items !== undefined
          ? texts.items(state.itemsDone ?? 0, state.items)
          : state.durationMs === undefined
            ? ""
            : formatDuration(state.durationMs)}
      </span>
    </a>
  );
}
