import { cleanup, fireEvent, render, screen } from "@testing-library/preact";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { StrategyForm } from "../src/strategy/strategy_form.tsx";

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
const VALID = {
  is_valid: true,
  problems: [],
  queries: [],
  language_read_as: null,
  changes: [],
  edits: [],
};
const TOO_MANY = {
  path: "filters.max_results",
  message: "Papers at most must be a number from 1 to 1000.",
  hint: null,
};
const SWAPPED = { path: "filters.year_from", message: "From year must not be after To year.", hint: null };

const BLOCK = { name: "moons", variants: ["moons"], active: true, share: null, reason: "from the question" };
const QUERIES = [
  { boolean_query: "moons AND tides", keywords: [], words: "moons tides", rung: 0, blocks: [] },
  { boolean_query: "moons", keywords: [], words: "", rung: 1, blocks: [] },
];
const CONCEPT_PLAN = {
  ...PLAN,
  strategy: { ...PLAN.strategy, queries: QUERIES, blocks: [BLOCK], suggestions: [] },
  queries: QUERIES.map((query) => ({ ...query, read_as: "", problems: [], translations: [] })),
};

let plan: object;
let check: object | ((body: { data: Record<string, unknown>; changed_part: string | null }) => object);
const sent: string[] = [];
const bodies: Record<string, unknown>[] = [];

beforeEach(() => {
  sessionStorage.clear();
  sent.length = 0;
  bodies.length = 0;
  plan = PLAN;
  check = VALID;
  vi.stubGlobal(
    "fetch",
    vi.fn(async (address: string, options?: RequestInit) => {
      const path = new URL(address, location.href).pathname;
      sent.push(path);
      if (path.endsWith("/decide")) bodies.push(JSON.parse(String(options?.body)));
      if (!path.endsWith("/check")) return new Response(JSON.stringify(plan));
      return new Response(
        JSON.stringify(typeof check === "function" ? check(JSON.parse(String(options?.body))) : check),
      );
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

/** Compose one query from the concepts, or read one concept from the queries, as the server does. */
function align({ data, changed_part }: { data: Record<string, unknown>; changed_part: string | null }): object {
  const { queries, blocks } = data as { queries: typeof QUERIES; blocks: (typeof BLOCK)[] };
  const strategy =
    changed_part === "blocks"
      ? { blocks, queries: [{ ...QUERIES[0], boolean_query: blocks.flatMap((block) => block.variants).join(" OR ") }] }
      : {
          queries,
          blocks: queries?.map((query) => ({ ...BLOCK, name: query.boolean_query, variants: [query.boolean_query] })),
        };
  return { ...VALID, strategy };
}

test("a changed chip starts an edit, and the queries follow", async () => {
  plan = CONCEPT_PLAN;
  check = align;
  render(<StrategyForm sessionId="s" />);
  const field = await screen.findByLabelText("Add a wording of moons");
  fireEvent.input(field, { target: { value: "satellites" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await vi.waitFor(() =>
    expect(screen.getByLabelText<HTMLTextAreaElement>("Query 1").value).toBe("moons OR satellites"),
  );
  expect(screen.queryByLabelText("Query 2")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: "Search with these edits" }));
  await vi.waitFor(() => expect(bodies).toHaveLength(1));
  const data = bodies[0]?.data as { blocks: (typeof BLOCK)[]; queries: typeof QUERIES };
  expect(data.blocks[0]?.variants).toEqual(["moons", "satellites"]);
  expect(data.queries.map((query) => query.boolean_query)).toEqual(["moons OR satellites"]);
});

test("the chips follow a query that is typed, and the text that is typed stays", async () => {
  plan = CONCEPT_PLAN;
  check = align;
  await startEdit();
  const field = screen.getByLabelText<HTMLTextAreaElement>("Query 2");
  fireEvent.input(field, { target: { value: "exomoons " } });
  await screen.findByRole("button", { name: /^Remove exomoons/ });
  expect(field.value).toBe("exomoons ");
  expect(screen.getByLabelText<HTMLTextAreaElement>("Query 1").value).toBe("moons AND tides");
});

test("queries that a person wrote come back after the concepts have replaced them", async () => {
  plan = CONCEPT_PLAN;
  check = align;
  await startEdit();
  fireEvent.input(screen.getByLabelText("Query 2"), { target: { value: "my own words" } });
  fireEvent.click(await screen.findByRole("button", { name: "Remove moons AND tides" }));
  await vi.waitFor(() => expect(screen.queryByLabelText("Query 2")).toBeNull());
  fireEvent.click(screen.getByRole("button", { name: "Take your queries back" }));
  await vi.waitFor(() => expect(screen.getByLabelText<HTMLTextAreaElement>("Query 2").value).toBe("my own words"));
});

test("a chip that is changed right after a query is typed loses neither", async () => {
  plan = CONCEPT_PLAN;
  check = align;
  await startEdit();
  fireEvent.input(screen.getByLabelText("Query 2"), { target: { value: "exomoons" } });
  const field = screen.getByLabelText("Add a concept");
  fireEvent.input(field, { target: { value: "tides" } });
  fireEvent.keyDown(field, { key: "Enter" });
  await vi.waitFor(() =>
    expect(screen.getByLabelText<HTMLTextAreaElement>("Query 1").value).toBe("moons AND tides OR exomoons OR tides"),
  );
});

test("an edit of limits alone sends neither concepts nor queries", async () => {
  plan = CONCEPT_PLAN;
  check = align;
  await startEdit();
  fireEvent.input(screen.getByLabelText("Least relevance"), { target: { value: "0.3" } });
  fireEvent.click(screen.getByRole("button", { name: "Search with these edits" }));
  await vi.waitFor(() => expect(bodies).toHaveLength(1));
  const data = bodies[0]?.data as Record<string, unknown>;
  expect(Object.keys(data)).toEqual(["sources", "filters"]);
  expect(data.filters).toMatchObject({ min_relevance: 0.3 });
});

test("the queries are grouped by rung, and a typed query says that it runs as written", async () => {
  plan = CONCEPT_PLAN;
  render(<StrategyForm sessionId="s" />);
  await screen.findByText("1 strict");
  screen.getByText("2 broad");
  screen.getByText("Ranking engines");
  cleanup();
  plan = PLAN;
  render(<StrategyForm sessionId="s" />);
  await screen.findByText("This query has no concepts: it runs exactly as written.");
  expect(screen.queryByText("1 strict")).toBeNull();
});
