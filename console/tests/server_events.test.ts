import { expect, test, vi } from "vitest";
import { type Change, EventParser, followStream } from "../src/data/server_events.ts";

function parse(pieces: string[]): { events: [string, string][]; ids: string[] } {
  const events: [string, string][] = [];
  const ids: string[] = [];
  const parser = new EventParser(
    (data, id) => events.push([data, id]),
    (id) => ids.push(id),
  );
  for (const piece of pieces) parser.push(piece);
  return { events, ids };
}

test("an event is read however the text is cut", () => {
  const text = 'retry: 1000\n\nid: 7\n\n: heartbeat\n\nid: 8\nevent: inbox\ndata: {"a": 1}\n\n';
  const whole = parse([text]);
  expect(whole.events).toEqual([['{"a": 1}', "8"]]);
  expect(whole.ids[0]).toBe("7");
  expect(parse([...text]).events).toEqual(whole.events);
});

function respondWith(blocks: string[], status = 200): Response {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const block of blocks) controller.enqueue(new TextEncoder().encode(block));
      controller.close();
    },
  });
  return new Response(stream, { status });
}

test("a lost stream is resumed from the last position", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const stop = new AbortController();
  const sent: (string | null)[] = [];
  const changes: string[] = [];
  const states: string[] = [];
  const replies = [
    () => respondWith(["id: 3\n\n"]),
    () => Promise.reject(new TypeError("connection refused")),
    () => respondWith(['id: 4\nevent: run\ndata: {"kind":"run","subject":"r1","at":""}\n\n']),
    () => respondWith([], 401),
  ];
  vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
    sent.push(new Headers(init.headers).get("last-event-id"));
    return Promise.resolve(replies.shift()?.());
  });
  const following = followStream(
    {
      onChange: (change: Change) => changes.push(change.subject),
      onPosition: () => undefined,
      onOpen: () => states.push("open"),
      onLost: () => states.push("lost"),
      onSignedOut: () => states.push("signed out"),
    },
    "",
    stop.signal,
  );
  await vi.advanceTimersByTimeAsync(10_000);
  await following;
  expect(sent).toEqual([null, "3", "3", "4"]);
  expect(changes).toEqual(["r1"]);
  expect(states).toEqual(["open", "lost", "lost", "open", "lost", "signed out"]);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a stream whose change cannot be handled is closed before it is opened again, and leaves no listener", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const stop = new AbortController();
  const added = vi.spyOn(stop.signal, "addEventListener");
  const removed = vi.spyOn(stop.signal, "removeEventListener");
  const signals: AbortSignal[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    expect(signals.map((one) => one.aborted)).toEqual(signals.map(() => true));
    signals.push(init.signal as AbortSignal);
    if (signals.length === 2) return respondWith([], 503);
    if (signals.length === 3) return respondWith([], 401);
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
      controller.enqueue(new TextEncoder().encode('id: 4\ndata: {"kind":"run"}\n\n')); // and it stays open
    return new Response(new ReadableStream({ start }));
  });
  const ignore = () => undefined;
  const onChange = () => {
    throw new Error("broken");
  };
  const listener = { onChange, onPosition: ignore, onOpen: ignore, onLost: ignore, onSignedOut: ignore };
  const following = followStream(listener, "", stop.signal);
  await vi.advanceTimersByTimeAsync(10_000);
  await following;
  expect(signals.map((one) => one.aborted)).toEqual([true, true, true]);
  expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});
