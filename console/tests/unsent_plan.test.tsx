import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, expect, it } from "vitest";
import { UnsentPlan } from "../src/pages/searches/unsent_plan.tsx";

afterEach(() => {
  cleanup();
});

it("words for a plan that somebody else decided are shown until they are closed", () => {
  const edit = { queries: ["moons AND tides"], sources: ["arxiv"] };
  sessionStorage.setItem("uraniborg.draft.strategy.s:1", JSON.stringify(edit));
  sessionStorage.setItem("uraniborg.draft.reject.s:1", "Only rocky planets");
  render(<UnsentPlan checkpointId="s:1" />);
  screen.getByText("Your words were not sent: somebody else decided first.");
  screen.getByText("moons AND tides");
  screen.getByText("“Only rocky planets”");
  fireEvent.click(screen.getByRole("button", { name: "Close" }));
  expect(screen.queryByText("moons AND tides")).toBeNull();
  expect(sessionStorage.getItem("uraniborg.draft.strategy.s:1")).toBeNull();
  expect(sessionStorage.getItem("uraniborg.draft.reject.s:1")).toBeNull();
});

it("nothing is shown for a plan without words", () => {
  const { container } = render(<UnsentPlan checkpointId="s:2" />);
  expect(container.innerHTML).toBe("");
});
