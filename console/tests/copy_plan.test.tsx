import { fireEvent, render } from "@testing-library/preact";
import { beforeEach, expect, test, vi } from "vitest";
import type { QueryView } from "../src/data/api_types.ts";
import { CopyPlanDialog } from "../src/strategy/copy_plan_dialog.tsx";
import { applyCorrection, QueryProblems } from "../src/strategy/strategy_view.tsx";
import { strategyTexts } from "../src/strategy/strings.ts";

const writeText = vi.fn(async (_text: string) => undefined);

beforeEach(() => {
  writeText.mockClear();
  HTMLDialogElement.prototype.showModal = vi.fn();
  HTMLDialogElement.prototype.close = vi.fn();
  vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText } });
  const copies = [
    { platform: "pubmed", label: "PubMed", text: '"Gout"[Mesh]', changes: [] },
    { platform: "embase", label: "Embase (embase.com)", text: "'gout'/exp", changes: ["Look it up: Gout."] },
  ];
  vi.stubGlobal("fetch", async () => new Response(JSON.stringify({ copies })));
});

test("the plan is copied in the syntax of the database that was chosen, with what was changed", async () => {
  const { findByText, getByLabelText, getByRole, queryByText } = render(
    <CopyPlanDialog sessionId="s1" onClose={() => undefined} />,
  );
  await findByText('"Gout"[Mesh]');
  expect(queryByText(strategyTexts.planCopy.changes(0))).not.toBeNull();
  fireEvent.click(getByLabelText("Embase (embase.com)"));
  await findByText("'gout'/exp");
  expect(queryByText("Look it up: Gout.")).not.toBeNull();
  fireEvent.click(getByRole("button", { name: strategyTexts.planCopy.copy("Embase (embase.com)"), hidden: true }));
  await vi.waitFor(() => expect(writeText).toHaveBeenCalledWith("'gout'/exp"));
});

const QUERY: QueryView = {
  boolean_query: "𝛃-blocker[ti] or gout[ti]",
  words: "",
  rung: 0,
  keywords: [],
  read_as: "",
  translations: [],
  problems: Array.from({ length: 9 }, (_, index) => ({
    severity: index === 8 ? "error" : "warning",
    start: 14,
    end: 16,
    message: `Problem ${index}.`,
    hint: "",
    correction: index === 8 ? { start: 14, end: 16, text: "OR" } : null,
  })),
};

test("a correction counts characters, not UTF-16 units, and one click applies it", () => {
  const corrected: string[] = [];
  const { getByRole, getByText } = render(<QueryProblems query={QUERY} onCorrect={(text) => corrected.push(text)} />);
  fireEvent.click(getByRole("button", { name: strategyTexts.strategy.correctProblem("Problem 8.") }));
  expect(corrected).toEqual(["𝛃-blocker[ti] OR gout[ti]"]);
  expect(applyCorrection("a b", { start: 1, end: 2, text: "" })).toBe("ab");
  expect(getByText(strategyTexts.strategy.moreProblems(3))).toBeTruthy();
});

test("errors come first, and a plan that cannot be changed has no button", () => {
  const { container, queryByRole } = render(<QueryProblems query={QUERY} />);
  expect(container.querySelector("li")?.textContent).toContain("Problem 8.");
  expect(queryByRole("button")).toBeNull();
});
