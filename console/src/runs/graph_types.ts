interface GraphNode {
  id: string;
  width: number;
  height: number;
}
interface GraphEdge {
  from: string;
  to: string;
  /** Drawn beside the edge; empty for the usual way. */
  label: string;
}
export interface Graph {
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
}
export interface GraphPoint {
  x: number;
  y: number;
}
export interface Layout {
  width: number;
  height: number;
  /** The left upper corner of each node, in the order of the nodes. */
  nodes: readonly GraphPoint[];
  edges: readonly { edge: GraphEdge; points: readonly GraphPoint[] }[];
}

/** Return a smooth line through points, as the path of an SVG. */
export function formatCurve(points: readonly GraphPoint[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${round(first.x)},${round(first.y)}`;
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    const end = next ? { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 } : point;
    path += next
      ? `Q${round(point.x)},${round(point.y)} ${round(end.x)},${round(end.y)}`
      : `L${round(end.x)},${round(end.y)}`;
  }
  return path;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
