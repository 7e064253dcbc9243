import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { session } from "../src/data/session.ts";
import { UnsentPlan } from "../src/strategy/unsent_plan.tsx";

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  session.value = { state: "checking" };
});

function setDecision(question: object): void {
  session.value = { state: "signedIn", name: "Ada" };
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(JSON.stringify({ id: "s:1", ...question }))),
  );
}

it("all parts of an edit for a plan that was decided elsewhere are shown until they are closed", async () => {
  setDecision({ state: "decided", decided_by: "Grace", door: "terminal" });
  const limits = { year_from: "2018", year_to: "", language: "fr", max_results: "70" };
  const edit = { queries: ["moons AND tides"], sources: ["arxiv", "dblp"], ...limits };
  sessionStorage.setItem("uraniborg.draft.strategy.s:1", JSON.stringify(edit));
  sessionStorage.setItem("uraniborg.draft.reject.s:1", "Only rocky planets");
  render(<UnsentPlan checkpointId="s:1" />);
  await screen.findByText("Your words were not sent: Grace decided first, in the terminal.");
  const lines = [...screen.getByRole("region", { name: "Not sent" }).querySelectorAll("p")].slice(1);
  expect(lines.map((line) => line.textContent)).toEqual([
    "“Only rocky planets”",
    "moons AND tides",
    "Sources arxiv, dblp",
    "From year 2018",
    "To year none",
    "Papers at most 70",
    "Language fr",
  ]);
  fireEvent.click(screen.getByRole("button", { name: "Close" }));
  expect(screen.queryByText("moons AND tides")).toBeNull();
  expect(sessionStorage.getItem("uraniborg.draft.strategy.s:1")).toBeNull();
  expect(sessionStorage.getItem("uraniborg.draft.reject.s:1")).toBeNull();
});

it.each([
  [{ state: "decided", decided_by: "Ada", door: "console" }, "you decided first, in another window."],
  [{ state: "decided", decided_by: "Ada", door: "terminal" }, "you decided first, in the terminal."],
  [{ state: "withdrawn" }, "the plan no longer waits for a decision."],
])("words that were not sent have the reason: %o", async (question, reason) => {
  setDecision(question);
  sessionStorage.setItem("uraniborg.draft.reject.s:3", "Only rocky planets");
  render(<UnsentPlan checkpointId="s:3" />);
  await screen.findByText(`Your words were not sent: ${reason}`);
});

it("nothing is shown for a plan without words", () => {
  const { container } = render(<UnsentPlan checkpointId="s:2" />);
  expect(container.innerHTML).toBe("");
});
