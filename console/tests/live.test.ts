import { afterEach, expect, test, vi } from "vitest";
import { connection, followChanges, listenForChanges } from "../src/data/live.ts";
import { makeResource } from "../src/data/resource.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A stream that the test writes to. */
function openStream(): { send(text: string): void; end(): void; response: Response } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
  });
  return {
    send: (text) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
    response: new Response(stream),
  };
}

test("only the tab that holds the lock opens a stream, and passes its changes on", async () => {
  const stream = openStream();
  vi.stubGlobal("fetch", () => Promise.resolve(stream.response));
  vi.stubGlobal("navigator", {
    locks: { request: (_: string, __: object, run: () => Promise<void>) => run() },
  });
  const passed: unknown[] = [];
  const other = new BroadcastChannel("uraniborg-events");
  other.onmessage = ({ data }) => passed.push(data);
  const received: string[] = [];
  const end = listenForChanges((change) => received.push(`${change.kind} ${change.subject}`));
  const stop = new AbortController();
  const following = followChanges(() => undefined, stop.signal);
  stream.send('id: 1\n\nid: 2\nevent: run\ndata: {"kind":"run","subject":"r1","at":""}\n\n');
  await vi.waitFor(() => expect(received).toEqual(["run r1"]));
  expect(connection.value).toBe("live");
  await vi.waitFor(() => expect(passed.at(-1)).toMatchObject({ type: "change", position: "2" }));
  end();
  stop.abort();
  stream.end();
  other.close();
  await following;
});

test("a resource is read again after a change that affects it, once for many changes", async () => {
  vi.useFakeTimers();
  const load = vi.fn(() => Promise.resolve(load.mock.calls.length));
  const resource = makeResource(load, (change) => change.kind === "run");
  const stop = resource.start();
  await vi.advanceTimersByTimeAsync(1);
  expect(resource.value.value).toBe(1);
  resource.reload();
  resource.reload();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(load).toHaveBeenCalledTimes(2);
  stop();
});

test("a resource keeps its value after an error", async () => {
  vi.useFakeTimers();
  let isBroken = false;
  const resource = makeResource(() => (isBroken ? Promise.reject(new Error("no")) : Promise.resolve("value")));
  const stop = resource.start();
  await vi.advanceTimersByTimeAsync(1);
  isBroken = true;
  resource.reload();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([resource.value.value, resource.error.value?.code]).toEqual(["value", "unexpected"]);
  stop();
});
