import { makeWorkerAddress, WORKER_ADDRESS } from "../trusted_types.ts";
import type { Graph, Layout } from "./graph_types.ts";

interface LayoutAnswer {
  id: number;
  layout?: Layout;
  problem?: string;
}
interface Waiting {
  resolve(layout: Layout): void;
  reject(problem: Error): void;
}

let worker: Worker | undefined;
let count = 0;
const waiting = new Map<number, Waiting>();

/** Lay a graph out in a worker: a graph of hundreds of nodes takes about a second. */
export function layOutInWorker(graph: Graph): Promise<Layout> {
  worker ??= startWorker();
  count += 1;
  const id = count;
  const started = worker;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    started.postMessage({ id, graph });
  });
}

function startWorker(): Worker {
  const started = new Worker(makeWorkerAddress(WORKER_ADDRESS), { type: "module" });
  started.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
    const asked = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.layout) asked?.resolve(data.layout);
    else asked?.reject(new Error(data.problem));
  };
  started.onerror = () => {
    for (const asked of waiting.values()) asked.reject(new Error("The layout cannot be computed."));
    waiting.clear();
    worker = undefined;
  };
  return started;
}
