import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FlowReply, SearchStrategy } from "../src/api_types.ts";
import { RESET, receiveChange } from "../src/live.ts";
import { listSteps } from "../src/pages/searches/flow_diagram.tsx";
import { formatFilters, readFilters, toParameters } from "../src/pages/searches/review_filters.ts";
import { ReviewStore } from "../src/pages/searches/review_store.ts";
import { parseEdit, toEditData } from "../src/pages/searches/strategy_edit.ts";
import { makeEarlierPlan } from "../src/pages/searches/strategy_view.tsx";
import { UnsentMarks } from "../src/pages/searches/unsent_marks.ts";
import type { Change } from "../src/server_events.ts";

const include = { status: "include", reason: null } as const;

function answer(...replies: (Response | Error)[]) {
  const fetched = vi.fn(async () => {
    const reply = replies.shift() ?? new Response("{}", { status: 200 });
    if (reply instanceof Error) throw reply;
    return reply;
  });
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

describe("marks on their way", () => {
  beforeEach(() => localStorage.clear());

  it("are sent one change after another, in order", async () => {
    const fetched = answer();
    const sent: string[] = [];
    const marks = new UnsentMarks("s", "Ada", (change) => sent.push(...change.map(([id]) => id)), vi.fn());
    marks.add([["a", include]]);
    marks.add([["b", null]]);
    await marks.send();
    expect(sent).toEqual(["a", "b"]);
    expect(fetched).toHaveBeenCalledTimes(2);
    expect(marks.count.value).toBe(0);
  });

  it("stay in the browser while the server is away, and are there after a reload", async () => {
    answer(new TypeError("offline"), new TypeError("offline"));
    const marks = new UnsentMarks("s", "Ada", vi.fn(), vi.fn());
    marks.add([["a", include]]);
    await marks.send();
    const reloaded = new UnsentMarks("s", "Ada", vi.fn(), vi.fn());
    expect(reloaded.count.value).toBe(1);
    expect(reloaded.get("a")).toEqual(include);
    expect(new UnsentMarks("s", "Grace", vi.fn(), vi.fn()).count.value).toBe(0);
  });

  it("are given up when the server refuses them", async () => {
    const error = { error: { code: "invalid_input", message: "No.", hint: "" } };
    answer(new Response(JSON.stringify(error), { status: 422 }));
    const refuse = vi.fn();
    const marks = new UnsentMarks("s", "Ada", vi.fn(), refuse);
    marks.add([["a", include]]);
    await marks.send();
    expect(refuse).toHaveBeenCalledOnce();
    expect(marks.count.value).toBe(0);
  });
});

describe("papers of a review", () => {
  const list = { papers: [], total: 0, counts: {}, facets: {}, is_complete: false, checkpoint_id: null };
  const decided: Change = { kind: "session", subject: "s", at: "", phase: "searching" };

  async function makeStoreBetweenReviews(): Promise<{ store: ReviewStore; fetched: ReturnType<typeof answer> }> {
    const fetched = answer();
    fetched.mockImplementation(async () => new Response(JSON.stringify({ ...list, next_offset: null })));
    const store = new ReviewStore("s", "Ada", vi.fn());
    await store.load(readFilters(new URLSearchParams()));
    stop = store.start();
    receiveChange(decided);
    store.refresh();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(fetched).toHaveBeenCalledTimes(1);
    return { store, fetched };
  }

  let stop = () => {};
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });

  it("are read again after a gap in the changes, which may have begun a review", async () => {
    const { fetched } = await makeStoreBetweenReviews();
    receiveChange(RESET);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(fetched).toHaveBeenCalledTimes(2);
  });

  it("are read again when a person asks for it", async () => {
    const { store, fetched } = await makeStoreBetweenReviews();
    store.retry();
    expect(fetched).toHaveBeenCalledTimes(2);
  });
});

describe("filters of a review", () => {
  it("are the address, without what is not set", () => {
    const filters = readFilters(new URLSearchParams("status=maybe&sort=year&q=moons&year_from=abc"));
    expect(formatFilters({ ...filters, year_from: "" })).toBe("?q=moons&status=maybe&sort=year");
    expect(toParameters(filters)).toMatchObject({ q: "moons", status: "maybe", sort: "year", year_from: null });
    expect(formatFilters(readFilters(new URLSearchParams("status=nonsense&sort=nonsense")))).toBe("");
  });
});

describe("the flow of records", () => {
  const flow: FlowReply = {
    identified: { arxiv: 30, crossref: 20 },
    removed: { duplicate_within_round: 20 },
    screened: 30,
    judged_by_person: 7,
    excluded: { by_person: 2, below_threshold: 5 },
    included: 23,
    round_count: 1,
    labels: {},
    reasons: {},
    counts: { include: 4, maybe: 1, exclude: 2, undecided: 18 },
    partial: false,
    is_complete: false,
  };

  it("follows the verdicts of the page before the server knows them", () => {
    const steps = listSteps(flow, { include: 5, maybe: 1, exclude: 3, undecided: 16 });
    expect(steps.map((step) => step.count)).toEqual(["50", "30", "25", "9 / 25", "5"]);
    expect(steps.map((step) => step.side?.count)).toEqual([undefined, "20", "5", "3", undefined]);
  });

  it("does not count papers without a verdict as judged when it is complete", () => {
    const steps = listSteps({ ...flow, is_complete: true }, { include: 4, maybe: 1, exclude: 0, undecided: 18 });
    expect(steps.map((step) => `${step.count} ${step.label}`).slice(-2)).toEqual([
      "7 / 25 judged by people",
      "23 kept, 18 not judged",
    ]);
  });
});

describe("an edited plan", () => {
  const proposed = {
    queries: [{ boolean_query: "a" }, { boolean_query: "b" }],
    sources: ["arxiv"],
    filters: { max_results: 10 },
  } as unknown as SearchStrategy;

  it("is shown as decided, with the queries that were struck", () => {
    const plan = makeEarlierPlan(proposed, {
      queries: ["b", { boolean_query: "c" }] as never,
      filters: { year_from: 2010 },
    });
    expect(plan.queries.map((query) => query.boolean_query)).toEqual(["b", "c"]);
    expect(plan.struck).toEqual(["a"]);
    expect(plan.strategy.filters).toEqual({ max_results: 10, year_from: 2010 });
    expect(makeEarlierPlan(proposed)).toMatchObject({ strategy: { sources: ["arxiv"] }, struck: [] });
  });

  it("sends numbers as numbers and leaves other text to the server", () => {
    const edit = {
      queries: ["a", " "],
      sources: ["arxiv"],
      year_from: "2010",
      year_to: "x",
      language: " ",
      max_results: "",
    };
    expect(toEditData(edit)).toEqual({
      queries: [{ boolean_query: "a" }],
      sources: ["arxiv"],
      filters: { year_from: 2010, year_to: "x", language: null, max_results: null },
    });
  });

  it("that cannot be read is none", () => {
    expect(parseEdit("{half")).toBeUndefined();
    expect(parseEdit("{}")).toBeUndefined();
  });
});
