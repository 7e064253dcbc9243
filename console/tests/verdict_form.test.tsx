import { fireEvent, render } from "@testing-library/preact";
import { useState } from "preact/hooks";
import { expect, test } from "vitest";
import { ReviewStore } from "../src/review/review_store.ts";
import { type VerdictDraft, VerdictForm } from "../src/review/verdict_form.tsx";

const REASONS = ["off topic", "no data"];

function Form({ store }: { store: ReviewStore }) {
  const [draft, setDraft] = useState<VerdictDraft>({ verdict: "exclude", reason: "" });
  return (
    <>
      <VerdictForm
        store={store}
        draft={draft}
        reasons={REASONS}
        selectedCount={undefined}
        url={undefined}
        onDraft={setDraft}
        onSave={() => undefined}
        onUndo={() => undefined}
      />
      <output>{draft.reason}</output>
    </>
  );
}

test("a reason that begins as a known one stays in its field while it is typed", () => {
  const { getByLabelText, getByRole } = render(<Form store={new ReviewStore("s", "Ada")} />);
  const field = getByLabelText("Another reason") as HTMLInputElement;
  fireEvent.input(field, { target: { value: "off topic" } });
  expect(field.value).toBe("off topic");
  fireEvent.input(field, { target: { value: `${field.value} for us` } });
  expect(document.querySelector("output")?.textContent).toBe("off topic for us");
  fireEvent.input(field, { target: { value: "no data" } });
  fireEvent.blur(field);
  expect(field.value).toBe("");
  expect((getByRole("checkbox", { name: "no data" }) as HTMLInputElement).checked).toBe(true);
});
