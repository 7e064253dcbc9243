import { graphlib, layout } from "@dagrejs/dagre";

import type { Graph, GraphPoint, Layout } from "./graph_types.ts";

/** Lay a graph out from top to bottom. */
export function layOut({ nodes, edges }: Graph): Layout {
  const drawn = new graphlib.Graph({ multigraph: true });
  drawn.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 36, edgesep: 16, marginx: 16, marginy: 16 });
  // Numbers instead of ids: dagre fails for a node that is called "constructor".
  const numbers = new Map(nodes.map((node, index) => [node.id, `${index}`]));
  for (const [index, { width, height }] of nodes.entries()) drawn.setNode(`${index}`, { width, height });
  const drawnEdges = edges.flatMap((edge, index) => {
    const [from, to] = [numbers.get(edge.from), numbers.get(edge.to)];
    return from === undefined || to === undefined ? [] : [{ edge, from, to, name: `${index}` }];
  });
  for (const { edge, from, to, name } of drawnEdges) {
    const size = edge.label ? { width: edge.label.length * 7, height: 16 } : { width: 0, height: 0 };
    drawn.setEdge(from, to, { ...size, labelpos: "r" }, name);
  }
  layout(drawn);
  const size = drawn.graph() as { width?: number; height?: number };
  return {
    width: size.width ?? 0,
    height: size.height ?? 0,
    nodes: nodes.map(({ width, height }, index) => {
      const middle = drawn.node(`${index}`) as GraphPoint;
      return { x: middle.x - width / 2, y: middle.y - height / 2 };
    }),
    edges: drawnEdges.map(({ edge, from, to, name }) => {
      const { points } = drawn.edge(from, to, name) as { points?: GraphPoint[] };
      return { edge, points: (points ?? []).map(({ x, y }) => ({ x, y })) };
    }),
  };
}
