import { makeKeyHeader } from "./sign_in_key.ts";

/** One change of one process, as the event stream sends it. Further facts depend on the kind. */
export interface Change {
  kind: string;
  subject: string;
  at: string;
  [fact: string]: unknown;
}

interface StreamListener {
  /** A change, with the position to resume from. After a change of kind `reset`, everything must be read again. */
  onChange(change: Change, position: string): void;
  onPosition(position: string): void;
  onOpen(): void;
  onLost(): void;
  onSignedOut(): void;
}

const SILENCE_MS = 40_000; // the server sends a heartbeat every 15 s
const RETRY_MS = [250, 500, 1_000, 2_000, 3_000];

/** Splits the text of an event stream into events, however it is cut into pieces. */
export class EventParser {
  private rest = "";
  private id = "";
  private data = "";

  constructor(
    private readonly onEvent: (data: string, id: string) => void,
    private readonly onId: (id: string) => void,
  ) {}

  push(piece: string): void {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.readLine(line.endsWith("\r") ? line.slice(0, -1) : line);
  }

  private readLine(line: string): void {
    if (line === "") {
      if (this.data) this.onEvent(this.data, this.id);
      else if (this.id) this.onId(this.id);
      this.data = "";
      return;
    }
    const colon = line.indexOf(":");
    if (colon < 1) return; // a comment, such as a heartbeat
    const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    const name = line.slice(0, colon);
    if (name === "id") this.id = value;
    if (name === "data") this.data += value;
  }
}

/** Reads the event stream until `signal` is aborted, and resumes it after every loss of the connection. */
export async function followStream(listener: StreamListener, position: string, signal: AbortSignal): Promise<void> {
  let last = position;
  let failures = 0;
  while (!signal.aborted) {
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    signal.addEventListener("abort", stop);
    let silence = setTimeout(stop, SILENCE_MS);
    try {
      const response = await fetch("/api/events", {
        headers: { ...makeKeyHeader(), ...(last && { "Last-Event-ID": last }) },
        signal: attempt.signal,
        cache: "no-store",
        credentials: "omit",
      });
      if (response.status === 401) {
        listener.onSignedOut();
        return;
      }
      if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
      failures = 0;
      listener.onOpen();
      const remember = (id: string) => {
        last = id;
        listener.onPosition(id);
      };
      const parser = new EventParser((data, id) => {
        last = id;
        listener.onChange(JSON.parse(data) as Change, id);
      }, remember);
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        clearTimeout(silence);
        silence = setTimeout(stop, SILENCE_MS);
        parser.push(decoder.decode(value, { stream: true }));
      }
    } catch {
      // The server is away or restarts: try again below.
    } finally {
      clearTimeout(silence);
      signal.removeEventListener("abort", stop);
      attempt.abort(); // a stream that is not read to its end stays open otherwise
    }
    if (signal.aborted) return;
    listener.onLost();
    await wait(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 1_000, signal);
    failures += 1;
  }
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener("abort", end);
  });
}
