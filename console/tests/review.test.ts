import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FlowReply, SearchStrategy } from "../src/data/api_types.ts";
import { RESET, receiveChange } from "../src/data/live.ts";
import type { Change } from "../src/data/server_events.ts";
import { listSteps } from "../src/review/flow_diagram.tsx";
import { formatFilters, readFilters, toParameters } from "../src/review/review_filters.ts";
import { ReviewStore } from "../src/review/review_store.ts";
import { parseEdit, toEditData } from "../src/strategy/strategy_edit.ts";
import { getPlanRound } from "../src/strategy/strategy_form.tsx";
import { makeEarlierPlan, quoteWords } from "../src/strategy/strategy_view.tsx";

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

/** Run what has a lock one after the other, for all tabs. */
function makeLocks() {
  let last = Promise.resolve();
  return {
    request(_: string, run: () => Promise<void>): Promise<void> {
      last = last.then(run);
      return last;
    },
  };
}

function makeError(status: number): Response {
  return Response.json({ error: { code: "invalid_input", message: "No.", hint: "" } }, { status });
}

describe("marks on their way", () => {
  let stop: (() => void)[] = [];
  let fetched = answer();
  let locks = makeLocks();

  /** Return the modules of another tab of the same browser, or of a tab after it was reloaded. */
  async function openTab(name = "Ada") {
    vi.resetModules();
    const { session } = await import("../src/data/session.ts");
    session.value = { state: "signedIn", name };
    const { connection } = await import("../src/data/live.ts");
    const queue = await import("../src/review/mark_queue.ts");
    const { UnsentMarks } = await import("../src/review/unsent_marks.ts");
    stop.push(queue.startMarkQueue());
    const tab = {
      connection,
      sent: [] as string[],
      refuse: vi.fn(),
      openReview(id: string) {
        const marks = new UnsentMarks(id, name, (change) => tab.sent.push(...change.map(([one]) => one)), tab.refuse);
        stop.push(marks.start());
        return marks;
      },
    };
    return tab;
  }

  function listRequests(): string[] {
    return fetched.mock.calls.map((call) => {
      const [address, init] = call as unknown as [string, RequestInit];
      const { decisions } = JSON.parse(String(init.body)) as { decisions: Record<string, unknown> };
      return `${address.split("/").at(-2)} ${Object.keys(decisions).join()}`;
    });
  }

  beforeEach(() => {
    localStorage.clear();
    locks = makeLocks();
    vi.stubGlobal("navigator", { locks });
    fetched = answer();
  });
  afterEach(() => {
    for (const end of stop) end();
    stop = [];
    vi.unstubAllGlobals();
  });

  function loseServer(): void {
    fetched.mockImplementation(() => Promise.reject(new TypeError("offline")));
  }

  function findServer(): void {
    fetched.mockReset();
    fetched.mockImplementation(async () => Response.json({}));
  }

  it("are sent one change after another, in order", async () => {
    const tab = await openTab();
    const marks = tab.openReview("s");
    marks.add([["a", include]]);
    marks.add([["b", null]]);
    await marks.sendAll();
    expect(tab.sent).toEqual(["a", "b"]);
    expect(fetched).toHaveBeenCalledTimes(2);
    expect(marks.count.value).toBe(0);
  });

  it("stay in the browser while the server is away, and are there after a reload", async () => {
    loseServer();
    const marks = (await openTab()).openReview("s");
    marks.add([["a", include]]);
    await expect(marks.sendAll()).rejects.toMatchObject({ code: "marks_not_sent", message: "1 mark is not sent yet." });
    const reloaded = (await openTab()).openReview("s");
    expect(reloaded.count.value).toBe(1);
    expect(reloaded.get("a")).toEqual(include);
    expect((await openTab("Grace")).openReview("s").count.value).toBe(0);
  });

  it("of two tabs are all there after a reload of either, and sent once in their order", async () => {
    loseServer();
    const [first, second] = [await openTab(), await openTab()];
    const [one, other] = [first.openReview("s"), second.openReview("s")];
    one.add([["a", include]]);
    other.add([["b", include]]);
    one.add([["c", include]]);
    other.add([["a", null]]);
    await Promise.allSettled([one.sendAll(), other.sendAll()]);
    const reloaded = await openTab();
    const marks = reloaded.openReview("s");
    expect([marks.count.value, marks.get("a"), marks.get("c")]).toEqual([4, null, include]);
    findServer();
    for (const tab of [first, second, reloaded]) tab.connection.value = "live";
    await Promise.all([one.sendAll(), other.sendAll(), marks.sendAll()]);
    expect(listRequests()).toEqual(["s a", "s b", "s c", "s a"]);
    expect(localStorage).toHaveLength(0);
  });

  it("are sent from any page when the server is back, and by the person who made them", async () => {
    loseServer();
    const marks = (await openTab()).openReview("s");
    marks.add([["a", include]]);
    await expect(marks.sendAll()).rejects.toMatchObject({ code: "marks_not_sent", message: "1 mark is not sent yet." });
    findServer();
    (await openTab("Grace")).connection.value = "live";
    (await openTab()).connection.value = "live";
    await vi.waitFor(() => expect(localStorage).toHaveLength(0));
    expect(listRequests()).toEqual(["s a"]);
  });

  it("of one search do not wait for those of another", async () => {
    const tab = await openTab();
    fetched.mockImplementationOnce(async () => makeError(503));
    tab.openReview("busy").add([["a", include]]);
    const marks = tab.openReview("s");
    marks.add([["b", include]]);
    await marks.sendAll();
    expect(tab.sent).toEqual(["b"]);
    expect(localStorage).toHaveLength(1);
  });

  it("live as long as the page if the browser has no room for them", async () => {
    const marks = (await openTab()).openReview("s");
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    fetched.mockImplementationOnce(() => Promise.reject(new TypeError("offline")));
    marks.add([["a", include]]);
    await expect(marks.sendAll()).rejects.toMatchObject({ code: "marks_not_sent", message: "1 mark is not sent yet." });
    expect(marks.get("a")).toEqual(include);
    await marks.sendAll();
    expect(marks.count.value).toBe(0);
    expect(listRequests()).toEqual(["s a", "s a"]);
  });

  it("are given up when the server refuses them", async () => {
    const tab = await openTab();
    fetched.mockImplementationOnce(async () => makeError(422));
    const marks = tab.openReview("s");
    marks.add([["a", include]]);
    await marks.sendAll();
    expect(tab.refuse).toHaveBeenCalledOnce();
    expect(marks.count.value).toBe(0);
  });
});

describe("papers of a review", () => {
  const list = { papers: [], total: 0, counts: {}, facets: {}, is_complete: false, checkpoint_id: null };
  const decided: Change = { kind: "session", subject: "s", at: "", phase: "searching" };

  async function makeStoreBetweenReviews(): Promise<{ store: ReviewStore; fetched: ReturnType<typeof answer> }> {
    const fetched = answer();
    fetched.mockImplementation(async () => new Response(JSON.stringify({ ...list, next_offset: null })));
    const store = new ReviewStore("s", "Ada");
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
    question: "moons",
    date: "2026-01-01",
    software: "uraniborg",
    domain: "general",
    ended_by: null,
    incomplete_because: "",
    notes: [],
    identified: { arxiv: 30, crossref: 20 },
    matches: {},
    removed: { duplicate_within_round: 20 },
    screened: 30,
    judged_by_person: 7,
    judged_by_agent: 0,
    judged_by_program: 0,
    judged_by_software: 23,
    removed_by_automation: 5,
    unknown_years_kept: 0,
    included_by_agent: {},
    included_by_program: {},
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
    const steps = listSteps({ ...flow, is_complete: true }, { include: 4, maybe: 1, exclude: 2, undecided: 18 });
    expect(steps.map((step) => `${step.count} ${step.label}`).slice(-3)).toEqual([
      "25 listed",
      "7 / 25 judged by people",
      "23 kept, 18 not judged",
    ]);
    const decided = { ...flow, is_complete: true, included: 5, excluded: { by_person: 2 } };
    const label = (include: number, maybe: number) =>
      listSteps(decided, { include, maybe, exclude: 2, undecided: 0 }).at(-1)?.label;
    expect([label(4, 1), label(5, 0)]).toEqual(["kept, 1 maybe", "included"]);
  });
});

describe("an edited plan", () => {
  const proposed = {
    queries: [{ boolean_query: "a" }, { boolean_query: "b" }],
    sources: ["arxiv"],
    filters: { max_results: 10 },
  } as unknown as SearchStrategy;

  it("has the number of its round while the search runs and after its end", () => {
    expect(getPlanRound({ phase: "waiting_checkpoint", round: 1 })).toBe(2);
    expect(getPlanRound({ phase: "completed", round: 2 })).toBe(2);
  });

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

  it.each([
    ["(resonance OR chain", 0, 1, "(resonance …"],
    ["(resonance", 0, 1, "(resonance"],
    ["tides AND (moons AND  ", 10, 11, "(moons AND"],
    ["a (photometry-of-planets) b", 2, 3, "(photometry-of-planets) …"],
    ["🪐🪐 (tides OR 🪐🪐🪐🪐 x", 3, 4, "(tides OR …"],
    ["x".repeat(40), 0, 1, `${"x".repeat(24)}…`],
  ])("quotes whole words of a query with a problem: %s", (query, start, end, quoted) => {
    expect(quoteWords(query, start, end)).toBe(quoted);
  });

  it("sends numbers as numbers and leaves other text to the server", () => {
    const edit = {
      queries: ["a", " "].map((boolean_query) => ({ boolean_query, keywords: [] })),
      blocks: [],
      suggestions: [],
      changed: "queries" as const,
      sources: ["arxiv"],
      year_from: "2010",
      year_to: "x",
      language: " ",
      max_results: "",
      min_relevance: "0.3",
    };
    expect(toEditData(edit)).toEqual({
      queries: [{ boolean_query: "a", keywords: [] }],
      blocks: [],
      suggestions: [],
      sources: ["arxiv"],
      filters: { year_from: 2010, year_to: "x", language: null, max_results: null, min_relevance: 0.3 },
    });
    const { queries: _, blocks: __, suggestions: ___, ...limits } = toEditData({ ...edit, changed: undefined });
    expect(toEditData({ ...edit, changed: undefined })).toEqual(limits);
  });

  it("that cannot be read is none", () => {
    expect(parseEdit("{half")).toBeUndefined();
    expect(parseEdit("{}")).toBeUndefined();
  });
});
