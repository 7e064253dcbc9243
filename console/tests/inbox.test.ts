import { expect, test } from "vitest";
import { removeDirections } from "../src/common/actor_words.ts";
import { describeDecider, describeDoor, describeState } from "../src/inbox/question_words.ts";

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
