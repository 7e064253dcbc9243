import { signal } from "@preact/signals";
import { render } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import type { DraftSummary, QuestionSummary, RunSummary, SearchSummary, ShelfSummary } from "../src/data/api_types.ts";
import { HomePage } from "../src/home/home_page.tsx";
import { findMainOffer, type HomeContents, makeOffers } from "../src/home/offers.ts";
import { homeTexts as texts } from "../src/home/strings.ts";

vi.mock("../src/inbox/waiting_list.ts", () => ({
  waiting: { first: { value: signal(true), error: signal(undefined) }, rows: signal([]) },
  waitingCount: signal(0),
}));

const NOTHING: HomeContents = {
  questions: [],
  waitingCount: 0,
  searches: [],
  shelves: [],
  runs: { runs: [], workflows: [] },
  universes: [],
};
const search = (id: string, more: Partial<SearchSummary> = {}) =>
  ({ session_id: id, query: `Question ${id}`, phase: "completed", paper_count: 3, ...more }) as SearchSummary;
const REVIEW = search("r", { phase: "waiting", checkpoint_kind: "result_review", paper_count: 1 });
const question = (id: string, kind: string) => ({ id, kind, title: id, state: "pending" }) as QuestionSummary;

/** Return the titles of what each offer lists, and where its button leads. */
function summarise(contents: Partial<HomeContents>) {
  const offers = makeOffers({ ...NOTHING, ...contents });
  return Object.fromEntries(
    offers.map((one) => [one.title, [...(one.things ?? []).map((thing) => thing.href), one.action.href]]),
  );
}

test("with nothing in the data folder every offer says what it is for and begins it", () => {
  for (const offer of makeOffers(NOTHING)) expect([offer.title, offer.empty.length > 40]).toEqual([offer.title, true]);
  expect(summarise({})).toEqual({
    [texts.search.title]: ["/searches?new=1"],
    [texts.review.title]: ["/searches"],
    [texts.decide.title]: ["/connections"],
    [texts.read.title]: ["/library"],
    [texts.run.title]: ["/workflows?new=1"],
    [texts.explore.title]: ["/universes?new=1"],
  });
  expect(findMainOffer(makeOffers(NOTHING))?.title).toBe(texts.search.title);
});

test("an open review is continued, and is not listed as a search or a question, too", () => {
  const questions = [question("q1", "result_review"), question("q2", "approval")];
  const found = summarise({ searches: [search("a"), REVIEW], questions, waitingCount: 2 });
  expect(found[texts.search.title]).toEqual(["/searches/a", "/searches?new=1"]);
  expect(found[texts.review.title]).toEqual(["/searches/r/review", "/searches/r/review"]);
  expect(found[texts.decide.title]).toEqual(["/inbox/q2", "/inbox"]);
});

test("the main button is that of what waits, the review before the questions", () => {
  const main = (contents: Partial<HomeContents>) => findMainOffer(makeOffers({ ...NOTHING, ...contents }))?.title;
  const questions = [question("q2", "approval")];
  expect(main({ searches: [search("a")] })).toBe(texts.search.title);
  expect(main({ questions })).toBe(texts.decide.title);
  expect(main({ questions, searches: [REVIEW] })).toBe(texts.review.title);
});

test("shelves of a person come before the sample, and shelves that cannot be read are left out", () => {
  const shelf = (name: string, more: Partial<ShelfSummary> = {}) =>
    ({ name, papers: 2, problem: null, is_sample: false, ...more }) as ShelfSummary;
  const shelves = [shelf("sample", { is_sample: true }), shelf("broken", { problem: "It is damaged." }), shelf("own")];
  expect(summarise({ shelves })[texts.read.title]).toEqual(["/library/own", "/library/sample", "/library"]);
});

test("without runs the workflows that can be run are listed", () => {
  const run = { id: "run_1", workflow: "digest", status: "success", started_at: "" } as RunSummary;
  const draft = { name: "a/b", updated_at: "" } as DraftSummary;
  expect(summarise({ runs: { runs: [run], workflows: [] } })[texts.run.title]).toEqual(["/runs/run_1", "/workflows"]);
  const found = summarise({ runs: { runs: [], workflows: [draft] } });
  expect(found[texts.run.title]).toEqual(["/workflows/a%2Fb", "/workflows"]);
});

test("a part that cannot be read says so in its card, and the others are there", async () => {
  const replies: Record<string, unknown> = {
    "/api/searches": { sessions: [search("a")], total: 1, next_offset: null },
    "/api/shelves": { shelves: [], build_command: "" },
    "/api/runs": { runs: [], next: null },
    "/api/workflows": { workflows: [], drafts: [], problems: [] },
  };
  const refusal = { error: { code: "store_unreadable", message: "The universes cannot be read.", hint: "Look." } };
  vi.stubGlobal(
    "fetch",
    vi.fn(async (address: string) => {
      const reply = replies[new URL(address, location.href).pathname];
      return new Response(JSON.stringify(reply ?? refusal), { status: reply ? 200 : 500 });
    }),
  );
  const { findByText, getByRole, queryByText } = render(<HomePage />);
  expect((await findByText("Question a")).getAttribute("href")).toBe("/searches/a");
  expect(getByRole("alert").textContent).toContain("The universes cannot be read.");
  expect(queryByText(texts.explore.empty)).toBeNull();
  expect(queryByText(texts.run.empty)).not.toBeNull();
});

test("if nothing can be read one error says why, and no card says that there is nothing", async () => {
  const refusal = { error: { code: "disk_full", message: "The disk is full.", hint: "Delete files." } };
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(JSON.stringify(refusal), { status: 500 })),
  );
  const { findAllByRole, queryByText } = render(<HomePage />);
  expect(await findAllByRole("alert")).toHaveLength(1);
  expect(queryByText(texts.search.empty)).toBeNull();
});
