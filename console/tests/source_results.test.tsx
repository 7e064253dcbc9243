import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, expect, it } from "vitest";
import type { QueryReport, SourceReportReply } from "../src/data/api_types.ts";
import { describeQuery, describeRung, isPartial, SourceResults } from "../src/searches/source_results.tsx";

const COMPLETE: QueryReport = { text: "moons AND tides", found: 40, fetched: 40, added: 38, stopped: "complete" };
const CUT: QueryReport = { text: "moons", rung: 1, found: 1204, fetched: 200, added: 150, stopped: "enough" };
const DRY = "2 rungs in a row added no paper.";
const NOT_RUN: QueryReport = { text: "tides", rung: 2, found: null, stopped: "not_run", reason: DRY };
const REPORT: SourceReportReply = {
  name: "semantic_scholar",
  label: "Semantic Scholar",
  status: "ok",
  received: 240,
  returned: 188,
  removed: {},
  found: null,
  calls: 3,
  seconds: 1,
  reason: null,
  retry_at: null,
  partial: false,
  queries: [COMPLETE, CUT, NOT_RUN],
};

afterEach(cleanup);

it.each([
  [COMPLETE, "40 matches, 40 fetched, 38 new; all matches fetched"],
  [CUT, "1,204 matches, 200 fetched, 150 new; stopped: enough papers"],
  [NOT_RUN, `not run: ${DRY}`],
  [{ ...CUT, found: null, stopped: "unknown" as const }, /^matches not stated, 200 fetched/],
  [{ ...CUT, stopped: "too_broad" as const, reason: "More than 800 match." }, /; More than 800 match\.$/],
])("what a source did with a query is stated with its own count: %o", (query, words) => {
  expect(describeQuery(query)).toMatch(words);
});

it("fetched fewer than matched is partial, and a query that did not run is not", () => {
  expect(isPartial(REPORT)).toBe(true);
  expect(isPartial({ ...REPORT, queries: [COMPLETE, NOT_RUN] })).toBe(false);
  expect(isPartial({ ...REPORT, queries: [{ ...CUT, found: null }] })).toBe(true);
  expect(isPartial({ ...REPORT, queries: [{ ...CUT, found: null, stopped: "unknown" }] })).toBe(false);
  expect(isPartial({ ...REPORT, queries: [], partial: true })).toBe(true);
});

it("a source is shown by the name people know, with each query as it received it", () => {
  render(<SourceResults reports={[REPORT]} />);
  expect(screen.getByText("Semantic Scholar")).toBeTruthy();
  expect(screen.getByText("in part, 240 records fetched, 188 new")).toBeTruthy();
  expect(screen.getByText("2 of 3 queries run")).toBeTruthy();
  expect(screen.getByText("1 query not run")).toBeTruthy();
  expect(screen.getByText("moons AND tides").tagName).toBe("CODE");
  expect(screen.getByText(/Rung 2: 1,204 matches/)).toBeTruthy();
});

it("a rung says what it did, or why it did not run", () => {
  expect(describeRung([REPORT, REPORT], 1)).toBe("ran: 300 new");
  const full = { ...NOT_RUN, reason: "The source had already sent 100 new papers; 100 were wanted." };
  expect(describeRung([REPORT, REPORT], 2)).toBe(`not run: ${DRY}`);
  expect(describeRung([REPORT, { ...REPORT, queries: [full] }], 2)).toBe(`not run: ${DRY} ${full.reason}`);
  expect(describeRung([{ ...REPORT, queries: [{ ...NOT_RUN, reason: null }] }], 2)).toBe("not run");
  expect(describeRung([{ ...REPORT, queries: [] }], 0)).toBe("");
});
