import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../common/controls.tsx";
import type { WorkflowEdge, WorkflowNode } from "../data/api_types.ts";
import { formatDuration } from "../data/times.ts";
import { layOutInWorker } from "./graph_layout_requests.ts";
import { formatCurve, type Graph, type Layout } from "./graph_types.ts";
import type { NodeState } from "./run_store.ts";
import { describeNode } from "./run_words.ts";
import { runTexts as texts } from "./strings.ts";

const WIDTH = 208;
const HEIGHT = 54;
const USUAL = "default";
const LEAST_ZOOM = 0.25;
const MOST_ZOOM = 1.5;

interface GraphProps {
  nodes: readonly WorkflowNode[];
  edges: readonly WorkflowEdge[];
  states?: ReadonlyMap<string, NodeState> | undefined;
  current?: string | undefined;
  /** The address that shows a node. */
  hrefOf?: ((id: string) => string) | undefined;
}

/** The graph of a workflow, laid out in a worker. Nodes are links; their state is a word and a colour. */
export function GraphView({ nodes, edges, states, current, hrefOf }: GraphProps) {
  const layout = useLayout(nodes, edges);
  const box = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState<number>();
  useEffect(() => setZoom(undefined), [layout.value]);
  useEffect(() => {
    if (zoom !== undefined || !layout.value || !box.current) return;
    const room = box.current.clientWidth;
    if (room) setZoom(Math.min(1, Math.max(0.6, room / layout.value.width)));
  }, [zoom, layout.value]);
  const isOpen = zoom !== undefined && layout.value !== undefined;
  useEffect(() => {
    if (!isOpen) return;
    const place = layout.value?.nodes[findStart(nodes, edges)];
    if (place) showPlace(box.current, place, zoom);
  }, [isOpen, layout.value]);
  useEffect(() => {
    if (!isOpen || current === undefined) return;
    box.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [isOpen, layout.value, current]);
  if (layout.problem) return <p class="note-box">{texts.noLayout}</p>;
  if (!layout.value) return <p class="quiet graph-wait">{texts.layingOut(nodes.length)}</p>;
  const { width, height } = layout.value;
  const scale = zoom ?? 1;
  const change = (factor: number) => {
    const least = Math.min(LEAST_ZOOM, fitWhole(box.current, layout.value));
    setZoom(Math.min(MOST_ZOOM, Math.max(least, scale * factor)));
  };
  return (
    <div class="graph-frame">
      <div class="graph-tools">
        <Button kind="quiet" label={texts.zoomOut} onClick={() => change(1 / 1.25)}>
          −
        </Button>
        <Button kind="quiet" label={texts.zoomIn} onClick={() => change(1.25)}>
          +
        </Button>
        <Button kind="quiet" label={texts.fitHint} onClick={() => setZoom(fitWhole(box.current, layout.value))}>
          {texts.fit}
        </Button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <div class="graph-box" ref={box} tabIndex={0} role="region" aria-label={texts.graph}>
        <div class="graph-sheet" style={{ width: `${width * scale}px`, height: `${height * scale}px` }}>
          <div class="graph-scale" style={{ width: `${width}px`, height: `${height}px`, transform: `scale(${scale})` }}>
            <Edges layout={layout.value} states={states} />
            <ol class="graph-nodes" aria-label={texts.nodes}>
              {nodes.map((node, index) => (
                <NodeBox
                  key={node.id}
                  node={node}
                  place={layout.value?.nodes[index]}
                  state={states?.get(node.id)}
                  hasStates={states !== undefined}
                  isCurrent={node.id === current}
                  href={hrefOf?.(node.id)}
                />
              ))}
            </ol>
          </div>
        </div>
      </div>
    </div>
  );
}

/** Return the zoom at which the whole graph is in its frame. */
function fitWhole(box: HTMLDivElement | null, layout: Layout | undefined): number {
  if (!box || !layout) return 1;
  const height = Number.parseFloat(getComputedStyle(box).maxHeight) || innerHeight; // of a wide page, or of a narrow one
  return Math.min(1, box.clientWidth / layout.width, height / layout.height);
}

/** Return the index of the first node that no edge leads to. */
function findStart(nodes: readonly WorkflowNode[], edges: readonly WorkflowEdge[]): number {
  const targets = new Set(edges.map((edge) => edge.to));
  return Math.max(
    0,
    nodes.findIndex((node) => !targets.has(node.id)),
  );
}

/** Scroll the frame so that the node at this place is in the middle of its width. */
function showPlace(box: HTMLDivElement | null, place: { x: number; y: number }, scale: number): void {
  if (!box) return;
  const left = (place.x + WIDTH / 2) * scale - box.clientWidth / 2;
  const top = (place.y + HEIGHT) * scale - box.clientHeight;
  box.scrollTo({ left, top: Math.max(0, top) });
}

/** Lay the graph out again only if its nodes or edges change, not while it runs. */
function useLayout(
  nodes: readonly WorkflowNode[],
  edges: readonly WorkflowEdge[],
): { value?: Layout; problem?: boolean } {
  const key = JSON.stringify([nodes.map((node) => node.id), edges]);
  const [result, setResult] = useState<{ value?: Layout; problem?: boolean }>({});
  const graph = useMemo<Graph>(
    () => ({
      nodes: nodes.map(({ id }) => ({ id, width: WIDTH, height: HEIGHT })),
      edges: edges.map(({ from, to, action }) => ({ from, to, label: action === USUAL ? "" : action })),
    }),
    [key],
  );
  useEffect(() => {
    let isCurrent = true;
    layOutInWorker(graph).then(
      (value) => isCurrent && setResult({ value }),
      () => isCurrent && setResult({ problem: true }),
    );
    return () => {
      isCurrent = false;
    };
  }, [graph]);
  return result;
}

function Edges({ layout, states }: { layout: Layout; states: ReadonlyMap<string, NodeState> | undefined }) {
  return (
    <svg class="graph-edges" width={layout.width} height={layout.height} aria-hidden="true" focusable="false">
      <defs>
        <marker id="graph-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0,0.5 L7,4 L0,7.5" />
        </marker>
      </defs>
      {layout.edges.map(({ edge, points }, index) => {
        const middle = points[Math.floor(points.length / 2)];
        const source = states?.get(edge.from);
        const isTaken = source?.seq !== undefined && (source.action ?? USUAL) === (edge.label || USUAL);
        return (
          <g key={index} class={isTaken ? "taken" : ""}>
            <path class="graph-edge" d={formatCurve(points)} marker-end="url(#graph-arrow)" />
            {edge.label && middle && (
              <text x={middle.x + 6} y={middle.y + 4}>
                {edge.label.slice(0, 40)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

interface BoxProps {
  node: WorkflowNode;
  place: { x: number; y: number } | undefined;
  state: NodeState | undefined;
  hasStates: boolean;
  isCurrent: boolean;
  href: string | undefined;
}

function NodeBox({ node, place, state, hasStates, isCurrent, href }: BoxProps) {
  const { word, tone } = describeNode(state?.status ?? "pending", state);
  const contents = (
    <>
      <span class="graph-node-name" dir="auto">
        {node.id}
      </span>
      <span class="graph-node-line">
        {hasStates && <span class={`graph-state ${tone}`}>{word}</span>}
        <span class="quiet">{describeFact(node, state)}</span>
      </span>
    </>
  );
  const box = `graph-node ${hasStates ? tone : ""}${state?.status === "reused" ? " reused" : ""}`;
  return (
    <li style={{ left: `${place?.x ?? 0}px`, top: `${place?.y ?? 0}px` }}>
      {href ? (
        <a
          class={box}
          href={href}
          aria-current={isCurrent ? "true" : undefined}
          data-status={state?.status ?? "pending"}
        >
          {contents}
        </a>
      ) : (
        <div class={box} title={node.purpose ?? undefined}>
          {contents}
        </div>
      )}
    </li>
  );
}

function describeFact(node: WorkflowNode, state: NodeState | undefined): string {
  if (state?.items !== undefined && state.status === "running") return texts.items(state.itemsDone ?? 0, state.items);
  if (state?.durationMs !== undefined && state.status !== "skipped") return formatDuration(state.durationMs);
  return node.is_batch ? texts.batchOf(node.type) : node.type;
}
