import { fireEvent, render } from "@testing-library/preact";
import { useState } from "preact/hooks";
import { expect, test } from "vitest";
import { type FeedbackEdit, toFeedbackData } from "../src/strategy/feedback_edit.ts";
import { FeedbackFields } from "../src/strategy/feedback_fields.tsx";
import { strategyTexts } from "../src/strategy/strings.ts";

const texts = strategyTexts.feedback;
const EMPTY: FeedbackEdit = {
  add_terms: [],
  exclude_terms: [],
  drop_limits: [],
  year_from: "",
  year_to: "",
  use_suggestions: [],
};

test("the fields give the data of a decision, with the limits and suggestions that the plan has", () => {
  let latest = EMPTY;
  function Form() {
    const [edit, setEdit] = useState(EMPTY);
    latest = edit;
    const choices = {
      limits: ["years", "year_from", "language"],
      suggestions: [{ term: "encapsulation", reason: "in 9 of 20 papers", block: null }],
    };
    return (
      <FeedbackFields
        choices={choices}
        edit={edit}
        onChange={(fields) => setEdit((last) => ({ ...last, ...fields }))}
      />
    );
  }
  const { getByLabelText, getByRole, queryByLabelText } = render(<Form />);
  expect(toFeedbackData(latest)).toBeUndefined();
  for (const [label, term] of [
    [texts.add, "tandem cells"],
    [texts.exclude, "mice"],
  ] as const) {
    const field = getByLabelText(label);
    fireEvent.input(field, { target: { value: term } });
    fireEvent.keyDown(field, { key: "Enter" });
  }
  fireEvent.input(getByRole("textbox", { name: texts.yearFrom }), { target: { value: "2018" } });
  fireEvent.input(getByRole("textbox", { name: texts.yearTo }), { target: { value: "soon" } });
  fireEvent.click(getByLabelText(strategyTexts.strategy.parts.language ?? ""));
  fireEvent.click(getByLabelText("encapsulation"));
  expect(queryByLabelText("years")).toBeNull();
  expect(toFeedbackData(latest)).toEqual({
    add_terms: ["tandem cells"],
    exclude_terms: ["mice"],
    drop_limits: ["language"],
    use_suggestions: ["encapsulation"],
    set_years: { year_from: 2018, year_to: "soon" },
  });
});
