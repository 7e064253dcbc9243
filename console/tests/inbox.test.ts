import { expect, test } from "vitest";
import type { QuestionSummary } from "../src/api_types.ts";
import { describeDecider, describeDoor, describeState, removeDirections } from "../src/inbox/words.ts";
import { mergeFirstPage } from "../src/stores/inbox.ts";

function make(...ids: string[]): QuestionSummary[] {
  return ids.map((id) => ({
    id,
    part: "pflow",
    kind: "approval",
    subject: id,
    title: id,
    created_at: "2026-11-17T09:00:00Z",
    state: "pending",
  }));
}

test("a new first page goes before the entries that were loaded after it", () => {
  const merged = mergeFirstPage(make("new", "a", "b"), make("a", "b", "c", "d"));
  expect(merged?.map((one) => one.id)).toEqual(["new", "a", "b", "c", "d"]);
  expect(mergeFirstPage(make("x", "y"), make("a", "b"))).toBeUndefined();
  expect(mergeFirstPage([], make("a"))).toBeUndefined();
});

test("a decision is described by what, who and where", () => {
  const decided = { state: "decided", action: "reject", door: "terminal", decided_by: "Ada" };
  expect(describeState("approval", decided)).toEqual({ tag: "Rejected", tone: "no" });
  expect(describeState("approval", { state: "pending" })).toEqual({ tag: "Workflow approval", tone: "waiting" });
  expect(describeState("something_new", { state: "pending" }).tag).toBe("Question");
  expect([describeDecider(decided, "Ada"), describeDecider(decided, "Bo")]).toEqual(["you", "Ada"]);
  expect(describeDecider({}, "Bo")).toBe("somebody");
  expect(describeDoor(decided)).toBe("in the terminal");
});

test("a name cannot turn the direction of the words after it", () => {
  expect(removeDirections("\u202eeve\u2066 שלום")).toBe("eve שלום");
  expect(describeDecider({ decided_by: "a\u202eb" }, "Ada")).toBe("ab");
});
