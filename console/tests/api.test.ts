import { afterEach, expect, test, vi } from "vitest";
import { api, fetchFile, formatAddress, listenForSignOut } from "../src/data/api.ts";
import type { ApiError } from "../src/data/api_error.ts";
import { storeKey } from "../src/data/sign_in_key.ts";

afterEach(() => vi.unstubAllGlobals());

function answer(status: number, body: unknown): ReturnType<typeof vi.fn> {
  const fetch = vi.fn(() =>
    Promise.resolve(new Response(body === undefined ? null : JSON.stringify(body), { status })),
  );
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

async function catchError(promise: Promise<unknown>): Promise<ApiError> {
  return promise.then(
    () => expect.unreachable(),
    (error: ApiError) => error,
  );
}

test("parameters are encoded, and those without a value are left out", () => {
  expect(formatAddress("/api/x/{id}/y", { path: { id: "a/b:1 ü" }, query: { q: "a&b", none: undefined, n: 0 } })).toBe(
    "/api/x/a%2Fb%3A1%20%C3%BC/y?q=a%26b&n=0",
  );
});

test("a change carries the header that other sites cannot send", async () => {
  const fetch = answer(200, { name: "Sophie" });
  await api.post("/api/sign-in", { body: { token: "t", name: "Sophie" } });
  const init = fetch.mock.calls[0]?.[1] as RequestInit;
  expect(new Headers(init.headers).get("x-uraniborg")).toBe("1");
  expect(init.body).toBe('{"token":"t","name":"Sophie"}');
});

test("an error has message, hint, code and facts of the server", async () => {
  answer(409, { error: { code: "already_decided", message: "Decided.", hint: "Go on.", decided_by: "Ada" } });
  const error = await catchError(api.get("/api/me"));
  expect([error.message, error.hint, error.code, error.status]).toEqual(["Decided.", "Go on.", "already_decided", 409]);
  expect(error.facts).toEqual({ decided_by: "Ada" });
  expect(error.isTemporary).toBe(false);
});

test.each([
  ["session_not_found", "The resource paper-search://sessions lists all.", "Open the list of searches."],
  ["invalid_argument", "See /api/openapi.json.", "Correct the value."],
  ["constructor", "Wait.", "Wait."],
])("the hint of %s fits a page: %s becomes %s", async (code, hint, shown) => {
  answer(404, { error: { code, message: "No.", hint } });
  expect((await catchError(api.get("/api/me"))).hint).toContain(shown);
});

test("a server that is away and one that answers nonsense give errors, too", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("refused")));
  expect((await catchError(api.get("/api/me"))).code).toBe("offline");
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("<html>", { status: 502 })));
  const error = await catchError(api.get("/api/me"));
  expect([error.code, error.isTemporary]).toEqual(["http_502", true]);
});

test("a connection that ends within a reply of any kind is an error that can be tried again", async () => {
  const pull = (controller: ReadableStreamDefaultController) => controller.error(new TypeError("terminated"));
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(new ReadableStream({ pull }))));
  for (const read of [api.get, api.getText, api.getBytes]) {
    expect((await catchError(read("/api/me"))).code).toBe("offline");
  }
});

test("an expired sign-in is announced", async () => {
  const listener = vi.fn();
  listenForSignOut(listener);
  answer(401, { error: { code: "not_authorized", message: "You are not signed in.", hint: "" } });
  await catchError(api.get("/api/me"));
  expect(listener).toHaveBeenCalledOnce();
});

test("requests carry the key of this origin as a header, and no credentials that a browser adds itself", async () => {
  const sent: RequestInit[] = [];
  vi.stubGlobal("fetch", async (_address: string, init: RequestInit) => {
    sent.push(init);
    return Response.json({});
  });
  await api.get("/api/me");
  storeKey("abc");
  await api.get("/api/me");
  await fetchFile("/api/story/files/bundle.zip");
  const keys = sent.map((init) => new Headers(init.headers).get("authorization"));
  expect(keys).toEqual([null, "bearer abc", "bearer abc"]);
  expect(sent.map((init) => init.credentials)).toEqual(["omit", "omit", "omit"]);
  storeKey("");
});
