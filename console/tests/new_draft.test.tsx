import { fireEvent, render } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import { NewDraftDialog } from "../src/workflows/new_draft_dialog.tsx";
import { workflowTexts as texts } from "../src/workflows/strings.ts";

test("a new draft says what is wrong with its name, and sends nothing", () => {
  const fetch = vi.fn();
  vi.stubGlobal("fetch", fetch);
  Object.assign(HTMLDialogElement.prototype, { showModal: vi.fn(), close: vi.fn() });
  const { getByText, getByLabelText, queryByText } = render(<NewDraftDialog onClose={vi.fn()} onCreated={vi.fn()} />);
  expect(queryByText(texts.nameRequired)).toBeNull();
  fireEvent.click(getByText(texts.create));
  getByText(texts.nameRequired);
  for (const name of ["two words", "../up", "-first", "x".repeat(51)]) {
    fireEvent.input(getByLabelText(texts.name), { target: { value: name } });
    getByText(texts.nameProblem);
  }
  fireEvent.click(getByText(texts.create));
  fireEvent.input(getByLabelText(texts.name), { target: { value: "weekly-digest" } });
  getByText(texts.nameHint);
  expect(fetch).not.toHaveBeenCalled();
  vi.unstubAllGlobals();
});
