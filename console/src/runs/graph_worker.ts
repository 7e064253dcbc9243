import { layOut } from "./graph_layout.ts";
import type { Graph } from "./graph_types.ts";

interface Scope {
  onmessage: ((event: MessageEvent<{ id: number; graph: Graph }>) => void) | null;
  postMessage(message: unknown): void;
}
const scope = globalThis as unknown as Scope;

scope.onmessage = ({ data }) => {
  try {
    scope.postMessage({ id: data.id, layout: layOut(data.graph) });
  } catch (error) {
    scope.postMessage({ id: data.id, problem: String(error) });
  }
};
