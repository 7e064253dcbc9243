import { cleanup, fireEvent, render, screen, within } from "@testing-library/preact";
import { useState } from "preact/hooks";
import { afterEach, expect, it } from "vitest";
import type { ConceptBlock } from "../src/data/api_types.ts";
import { ConceptCard } from "../src/strategy/concept_card.tsx";
import { describeShare } from "../src/strategy/concept_row.tsx";
import type { StrategyEdit } from "../src/strategy/strategy_edit.ts";

const SHIFTS = {
  name: "shift work",
  variants: ["shift work", "night work"],
  share: 0.0002,
  reason: "from the question",
};
const CANCER = { name: "cancer", variants: ["cancer"], reason: "in 14 of the 20 best papers" };
const SUGGESTIONS = [
  { term: "light at night", reason: "in 9 of the 20 best papers", block: "shift work" },
  { term: "melatonin", reason: "in 12 of the 20 best papers" },
];

let edit: StrategyEdit;
afterEach(cleanup);

function Editor({ blocks }: { blocks: ConceptBlock[] }) {
  const [state, setState] = useState({ blocks, suggestions: SUGGESTIONS } as unknown as StrategyEdit);
  edit = state;
  return (
    <ConceptCard
      blocks={state.blocks}
      suggestions={state.suggestions}
      onChange={(change) => setState((before) => change(before))}
    />
  );
}

const show = (...blocks: ConceptBlock[]) => render(<Editor blocks={blocks} />);
const readBlocks = () => edit.blocks.map((block) => [block.name, ...block.variants]);
const focused = () => document.activeElement?.getAttribute("aria-label");

it("Enter adds a wording, once, and Escape empties the field", () => {
  show(SHIFTS, CANCER);
  const field = screen.getByLabelText<HTMLInputElement>("Add a wording of shift work");
  for (const text of [" rotating shifts ", "Rotating  Shifts", "  "]) {
    fireEvent.input(field, { target: { value: text } });
    fireEvent.keyDown(field, { key: "Enter" });
  }
  expect(readBlocks()).toEqual([
    ["shift work", "shift work", "night work", "rotating shifts"],
    ["cancer", "cancer"],
  ]);
  fireEvent.input(field, { target: { value: "half" } });
  fireEvent.keyDown(field, { key: "Escape" });
  expect(field.value).toBe("");
});

it("what was typed is added when the field is left", () => {
  show(SHIFTS);
  const field = screen.getByLabelText("Add a concept");
  fireEvent.input(field, { target: { value: "melatonin" } });
  fireEvent.blur(field);
  expect(edit.blocks[1]).toEqual({
    name: "melatonin",
    variants: ["melatonin"],
    active: true,
    reason: "added by you",
    learned: false,
  });
});

it("arrows move among the chips, Delete removes, and the focus goes to the chip that takes the place", () => {
  show({ ...SHIFTS, variants: ["shift work", "night work", "night shift"] }, CANCER);
  const remove = (term: string) => screen.getByRole("button", { name: `Remove ${term}` });
  expect([remove("shift work").tabIndex, remove("night work").tabIndex]).toEqual([0, -1]);
  remove("shift work").focus();
  fireEvent.keyDown(remove("shift work"), { key: "ArrowRight" });
  expect(focused()).toBe("Remove night work");
  fireEvent.keyDown(remove("night work"), { key: "Delete" });
  expect(focused()).toBe("Remove night shift");
  fireEvent.keyDown(remove("night shift"), { key: "Backspace" });
  expect(focused()).toBe("Remove shift work");
  expect(readBlocks()).toEqual([
    ["shift work", "shift work"],
    ["cancer", "cancer"],
  ]);
});

it("a concept is named by its next wording, and goes with its last one", () => {
  show(SHIFTS);
  fireEvent.click(screen.getByRole("button", { name: "Remove shift work" }));
  expect(readBlocks()).toEqual([["night work", "night work"]]);
});

it("a concept that is off says so, and a plan without one that is on is not complete", () => {
  show(SHIFTS);
  const row = screen.getAllByRole("listitem")[0] as HTMLElement;
  expect(within(row).getByText(/from the question/)).toBeTruthy();
  expect(within(row).getByText(/≈ 1 in 5,000 papers/)).toBeTruthy();
  fireEvent.click(screen.getByRole("checkbox", { name: "shift work" }));
  expect(edit.blocks[0]?.active).toBe(false);
  expect(screen.getByText("off: no query uses it")).toBeTruthy();
  expect(screen.getByText("Switch on at least one concept.")).toBeTruthy();
});

it("a suggested term joins its concept, or becomes a concept, by one click", () => {
  show(SHIFTS);
  expect(screen.getByText("in 9 of the 20 best papers").parentElement?.textContent).toBe(
    "in 9 of the 20 best papers, joins shift work",
  );
  fireEvent.click(screen.getByRole("button", { name: "Add light at night to shift work" }));
  expect(focused()).toBe("Add melatonin as a concept");
  fireEvent.click(screen.getByRole("button", { name: "Add melatonin as a concept" }));
  expect(readBlocks()).toEqual([
    ["shift work", "shift work", "night work", "light at night"],
    ["melatonin", "melatonin"],
  ]);
  expect(edit.blocks[1]?.reason).toBe("in 12 of the 20 best papers");
  expect(edit.suggestions).toEqual([]);
  expect(focused()).toBe("Add a concept");
});

it("500 wordings are shown in part until all are asked for", () => {
  show({ ...SHIFTS, variants: Array.from({ length: 500 }, (_, index) => `wording ${index}`) });
  expect(screen.getAllByRole("button", { name: /^Remove wording/ })).toHaveLength(12);
  fireEvent.click(screen.getByRole("button", { name: "488 more" }));
  expect(screen.getAllByRole("button", { name: /^Remove wording/ })).toHaveLength(500);
});

it("a plan that is only shown has no controls, and a typed query has no concepts", () => {
  const { container } = render(<ConceptCard blocks={[SHIFTS, CANCER]} suggestions={SUGGESTIONS} />);
  expect(container.querySelectorAll("button, input")).toHaveLength(0);
  expect(container.textContent).toContain("night work");
  cleanup();
  expect(render(<ConceptCard blocks={[]} />).container.textContent).toBe("");
});

it.each([
  [null, ""],
  [0, ""],
  [0.34, "≈ 34 % of papers"],
  [0.01, "≈ 1 % of papers"],
  [0.0042, "≈ 1 in 200 papers"],
  [0.0000031, "≈ 1 in 300,000 papers"],
])("a share of %s is described as %j", (share, words) => {
  expect(describeShare(share)).toBe(words);
});
