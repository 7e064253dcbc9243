import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StrategyForm } from "../src/pages/searches/strategy_form.tsx";

const QUERY = { boolean_query: "moons", keywords: [], read_as: "moons", problems: [], translations: [] };
const PLAN = {
  session_id: "s",
  question: "Moons?",
  round: 0,
  is_pending: true,
  checkpoint_id: "s:1",
  strategy: { queries: [QUERY], sources: ["arxiv"], filters: { max_results: 50 } },
  queries: [QUERY],
  sources: [{ name: "arxiv", is_chosen: true, is_available: true, remark: "" }],
  inherited: [],
  changes: [],
};
const VALID = { is_valid: true, problems: [], queries: [], language_read_as: null, changes: [], edits: [] };
const TOO_MANY = {
  path: "filters.max_results",
  message: "Papers at most must be a number from 1 to 1000.",
  hint: null,
};
const SWAPPED = { path: "filters.year_from", message: "From year must not be after To year.", hint: null };

let check: object;
const sent: string[] = [];

beforeEach(() => {
  sessionStorage.clear();
  sent.length = 0;
  check = VALID;
  vi.stubGlobal(
    "fetch",
    vi.fn(async (address: string) => {
      const path = new URL(address, location.href).pathname;
      sent.push(path);
      return new Response(JSON.stringify(path.endsWith("/check") ? check : PLAN));
    }),
  );
});
afterEach(cleanup);

async function startEdit(): Promise<void> {
  render(<StrategyForm sessionId="s" />);
  fireEvent.click(await screen.findByRole("button", { name: /Edit plan/ }));
}

test("every problem of an edited plan is shown at its field, and the bar stays short", async () => {
  const plan = { path: "queries", message: "Give at least one query.", hint: null };
  check = { ...VALID, is_valid: false, problems: [plan, TOO_MANY, SWAPPED] };
  await startEdit();
  await screen.findByText("Correct the errors first.");
  for (const [label, message] of [
    ["Query 1", plan.message],
    ["Papers at most", TOO_MANY.message],
    ["From year", SWAPPED.message],
  ] as const) {
    const field = screen.getByLabelText(label);
    expect(field.getAttribute("aria-invalid")).toBe("true");
    expect(document.getElementById(field.getAttribute("aria-describedby") ?? "")?.textContent).toBe(message);
  }
  expect(screen.getByLabelText("To year").getAttribute("aria-invalid")).toBeNull();
});

test("a problem without a field is shown in the bar", async () => {
  check = { ...VALID, is_valid: false, problems: [{ path: null, message: "Too large.", hint: "Shorten it." }] };
  await startEdit();
  await screen.findByText("Too large. Shorten it.");
});

test("an edit that is sent before its check arrived is checked first", async () => {
  await startEdit();
  await vi.waitFor(() => expect(sent.filter((path) => path.endsWith("/check"))).toHaveLength(1));
  check = { ...VALID, is_valid: false, problems: [TOO_MANY] };
  fireEvent.input(screen.getByLabelText("Papers at most"), { target: { value: "0" } });
  fireEvent.click(screen.getByRole("button", { name: "Search with these edits" }));
  await screen.findByText(TOO_MANY.message);
  expect(sent.filter((path) => path.endsWith("/decide"))).toEqual([]);
  check = VALID;
  fireEvent.input(screen.getByLabelText("Papers at most"), { target: { value: "9" } });
  await vi.waitFor(() => expect(screen.queryByText(TOO_MANY.message)).toBeNull());
  fireEvent.click(screen.getByRole("button", { name: "Search with these edits" }));
  await vi.waitFor(() => expect(sent.filter((path) => path.endsWith("/decide"))).toHaveLength(1));
});

test("a language that is not typed as a code shows the code it is read as", async () => {
  check = { ...VALID, language_read_as: "en" };
  await startEdit();
  fireEvent.input(screen.getByLabelText("Language"), { target: { value: "English" } });
  await screen.findByText("Read as the code en");
  fireEvent.input(screen.getByLabelText("Language"), { target: { value: "EN" } });
  await screen.findByText("A code such as en, or empty for all");
});
