import { effect, type ReadonlySignal, signal } from "@preact/signals";
import type { ApiError } from "./api_error.ts";
import { type Change, followStream } from "./server_events.ts";

/** Whether changes arrive: not connected yet, connected, or lost and trying again. */
export type Connection = "connecting" | "live" | "reconnecting";
export const connection = signal<Connection>("connecting");

/** Call `retry` whenever the connection is back after an error that may be over; return a function that ends this. */
export function retryWhenLive(error: ReadonlySignal<ApiError | undefined>, retry: () => void): () => void {
  return effect(() => {
    if (connection.value === "live" && error.peek()?.isTemporary) retry();
  });
}

type Listener = (change: Change) => void;
const listeners = new Set<Listener>();

/** Call `listener` for every change from now on; return a function that ends this. */
export function listenForChanges(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The change after which all data must be read again. */
export const RESET: Change = { kind: "reset", subject: "", at: "" };

const NAME = "uraniborg-events";
type Message =
  | { type: "change"; change: Change; position: string }
  | { type: "state"; connection: Connection; position: string }
  | { type: "hello" };

let position = "";

/** Pass a change to every listener. */
export function receiveChange(change: Change): void {
  for (const listener of [...listeners]) listener(change);
}

/**
 * Follow the changes until `stop` is aborted. The tabs of a browser share one stream: the tab that holds the lock
 * reads it and passes everything on. When that tab closes, the next one resumes where the first one was.
 */
export async function followChanges(onSignedOut: () => void, stop: AbortSignal): Promise<void> {
  const channel = new BroadcastChannel(NAME);
  stop.addEventListener("abort", () => channel.close());
  let isLeader = false;
  const send = (message: Message) => {
    if (!stop.aborted) channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => {
    if (data.type === "hello") {
      if (isLeader) send({ type: "state", connection: connection.value, position });
      return;
    }
    if (isLeader) return;
    position = data.position || position;
    if (data.type === "change") receiveChange(data.change);
    else connection.value = data.connection;
  };
  send({ type: "hello" });

  const setConnection = (value: Connection) => {
    connection.value = value;
    send({ type: "state", connection: value, position });
  };
  const read = async () => {
    isLeader = true;
    await followStream(
      {
        onChange(change, at) {
          position = at;
          send({ type: "change", change, position: at });
          receiveChange(change);
        },
        onPosition(at) {
          position = at;
          send({ type: "state", connection: connection.value, position: at });
        },
        onOpen: () => setConnection("live"),
        onLost: () => setConnection("reconnecting"),
        onSignedOut,
      },
      position,
      stop,
    );
    isLeader = false;
  };
  try {
    await navigator.locks.request(NAME, { signal: stop }, read);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
}
