import { expect, test } from "vitest";
import { describeActor, describeAuthor } from "../src/common/actor_words.ts";
import type { Actor } from "../src/data/api_types.ts";
import { describeDecider } from "../src/inbox/question_words.ts";
import { describeStarter } from "../src/runs/run_words.ts";
import names from "./actor_names.json";

// The tests of the server read the same table.
test.each(names as [Actor | null, string][])("%o is %s", (actor, description) => {
  expect(describeActor(actor)).toBe(description);
});

test("how an actor was authenticated follows the description, and one without a record is unknown", () => {
  expect(describeAuthor("Tycho (console)", { kind: "person", name: "Tycho", authenticated: "sign_in" })).toBe(
    "Tycho, by sign-in",
  );
  expect(describeAuthor("claude (MCP)", { kind: "agent", name: "claude", authenticated: "credential" })).toBe(
    "claude (agent), by credential",
  );
  expect(describeAuthor(null, { kind: "software", name: "Tycho", authenticated: "none" })).toBe(
    "Tycho (software), not authenticated",
  );
  expect(describeAuthor("Tycho (REST)", null)).toBe("Tycho (REST), unknown");
  expect(describeAuthor(null, undefined)).toBe("unknown");
});

test("a program with the name of the person of this browser is not you", () => {
  expect(describeDecider({ decided_by: "Ada (software)" }, "Ada")).toBe("Ada (software)");
  expect(describeDecider({ decided_by: "Ada (she/her) (person)" }, "Ada (she/her)")).toBe("you");
});

test("a run of a program is not that of the person whose name it has", () => {
  const actor: Actor = { kind: "software", name: "Ada", authenticated: "token" };
  const starter = { door: "console", name: "Ada" } as const;
  expect(describeStarter({ starter, actor })).toBe("Ada (software), in the console");
  expect(describeStarter({ starter, actor: null })).toBe("Ada, in the console");
});
