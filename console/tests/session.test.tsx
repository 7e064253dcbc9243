import { render } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { Toasts } from "../src/common/toasts.tsx";
import { makeOfflineError } from "../src/data/api_error.ts";
import { session, signOut, startSession } from "../src/data/session.ts";

test("the token of the address is kept while the server starts, and leaves the address at once", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let isAway = true;
  vi.stubGlobal("fetch", async () => {
    if (isAway) throw new TypeError("refused");
    return Response.json({ name: null });
  });
  location.hash = "#token=abc&name=Sophie";
  await startSession();
  expect([session.value.state, location.hash]).toEqual(["offline", ""]);
  isAway = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(session.value).toEqual({ state: "signedOut", token: "abc", name: "Sophie", wasSignedIn: false });
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("a sign-out that does not reach the server says so, and the person stays signed in", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("refused")));
  session.value = { state: "signedIn", name: "Sophie" };
  const { findByText } = render(<Toasts />);
  await signOut();
  await findByText(makeOfflineError().message, { exact: false });
  expect(session.value).toEqual({ state: "signedIn", name: "Sophie" });
  vi.unstubAllGlobals();
});
