import { describe, expect, it } from "vitest";
import type { Diagnostic, NodeResult, PlannedStep, RunSummary } from "../src/data/api_types.ts";
import { formatDuration } from "../src/data/times.ts";
import { layOut } from "../src/runs/graph_layout.ts";
import { formatCurve } from "../src/runs/graph_types.ts";
import { addAnswer, keepStart, readNodeChange, toState } from "../src/runs/run_store.ts";
import { describeNext, describeNode, describeRun } from "../src/runs/run_words.ts";
import { makeNodeBars } from "../src/runs/timeline.tsx";
import { applyCorrection, findCorrection } from "../src/workflows/corrections.ts";
import { listFields, readInputs, toTexts } from "../src/workflows/input_values.ts";
import { findLine, findSyntaxProblem, JsonPositions } from "../src/workflows/json_positions.ts";
import { insertNode } from "../src/workflows/node_insertion.ts";
import { countSteps, describeStep } from "../src/workflows/run_form.tsx";
import { findDifference } from "../src/workflows/text_change.ts";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: templates of workflows
const TEXT = `{
  "nodes": [
    {"id": "a", "type": "ehco", "params": {"mesage": "x"}},
    {"id": "b", "type": "echo", "params": {"message": "\${sya.echo} and \${a.echo}"}},
    {"id": "c", "type": "http", "params": {}},
    {"id": "d", "type": "http"}
  ]
}`;

function finding(path: string, code: string, more: Partial<Diagnostic> = {}): Diagnostic {
  return { severity: "error", code, path, message: "", ...more };
}

function correct(given: Diagnostic): string {
  const correction = findCorrection(TEXT, given);
  return correction ? applyCorrection(TEXT, correction) : "";
}

describe("corrections of the checker", () => {
  it("replace a wrong value by the nearest one", () => {
    expect(correct(finding("nodes[0].type", "unknown_type", { nearest: "echo" }))).toContain('"a", "type": "echo"');
  });

  it("rename a wrong key, unless the right one is there already", () => {
    const wrong = finding("nodes[0].params.mesage", "unknown_param", { nearest: "message" });
    expect(correct(wrong)).toContain('{"message": "x"}');
    expect(findCorrection(TEXT, { ...wrong, path: "nodes[1].params.message", nearest: "message" })).toBeUndefined();
  });

  it("replace only the template that the message names", () => {
    const wrong = finding("nodes[1].params.message", "unknown_root", {
      message: "In `${sya.echo}`, 'sya' is neither a declared input nor a node.",
      example: "${say.echo}",
      nearest: "say",
    });
    expect(correct(wrong)).toContain('"${say.echo} and ${a.echo}"');
  });

  it("replace the template of a node that has no such output", () => {
    const wrong = finding("nodes[1].params.message", "unknown_output", {
      message: "'sya' (echo) has no output `echo`.",
      example: "${sya.text}",
      available: ["${sya.text}"],
    });
    expect(correct(wrong)).toContain('"${sya.text} and ${a.echo}"');
  });

  it("add a missing parameter to parameters, and the parameters themselves", () => {
    const missing = { example: { url: "https://example.org" } };
    expect(correct(finding("nodes[2].params.url", "missing_param", missing))).toContain(
      '"params": {"url": "https://example.org"}',
    );
    const added = correct(finding("nodes[3].params.url", "missing_param", missing));
    expect(JSON.parse(added).nodes[3]).toEqual({ id: "d", type: "http", params: { url: "https://example.org" } });
  });

  it("are not offered if a person has to decide", () => {
    expect(findCorrection(TEXT, finding("nodes[1]", "unreachable"))).toBeUndefined();
    expect(findCorrection("not json", finding("nodes[0].type", "unknown_type", { nearest: "x" }))).toBeUndefined();
  });
});

describe("a node that is inserted", () => {
  const NODE = '{"id": "new"}';
  const LIST = `{
  "inputs": {},
  "nodes": [
    {"id": "a"},
    {"id": "b"}
  ],
  "edges": []
}
`;
  function insertAt(text: string, cursor?: number): string[] {
    const inserted = insertNode(text, NODE, cursor);
    expect(inserted.text.slice(inserted.start, inserted.end)).toBe(NODE);
    return JSON.parse(inserted.text).nodes.map((one: { id: string }) => one.id);
  }

  it("becomes the first one of an empty list, wherever the cursor is", () => {
    for (const text of ['{"nodes": []}', '{"nodes": [\n\n  ], "edges": []}', '{"edges": [], "nodes":[ ]}'])
      for (let cursor = 0; cursor <= text.length; cursor += 1) expect(insertAt(text, cursor)).toEqual(["new"]);
  });

  it("stands before, between or after the nodes around the cursor", () => {
    expect(insertAt(LIST, LIST.indexOf('{"id": "a"}'))).toEqual(["new", "a", "b"]);
    expect(insertAt(LIST, LIST.indexOf("[") + 1)).toEqual(["new", "a", "b"]);
    expect(insertAt(LIST, LIST.indexOf('"a"'))).toEqual(["a", "new", "b"]);
    expect(insertAt(LIST, LIST.indexOf("},\n    {") + 1)).toEqual(["a", "new", "b"]);
    expect(insertAt(LIST, LIST.indexOf('{"id": "b"}'))).toEqual(["a", "new", "b"]);
    expect(insertAt(LIST, LIST.indexOf("\n  ],"))).toEqual(["a", "b", "new"]);
    expect(insertAt('{"nodes":[{"id":"a"}]}', 10)).toEqual(["new", "a"]);
  });

  it("stands at the end if the cursor is outside the nodes, or was never set", () => {
    for (const cursor of [undefined, 0, LIST.indexOf('"inputs"'), LIST.indexOf('"edges"'), LIST.length])
      expect(insertAt(LIST, cursor)).toEqual(["a", "b", "new"]);
  });

  it("keeps any text JSON, wherever the cursor is", () => {
    for (let cursor = 0; cursor <= LIST.length; cursor += 1) expect(insertAt(LIST, cursor)).toContain("new");
    expect(insertNode(LIST, NODE).text).toContain('{"id": "b"},\n    {"id": "new"}\n  ],');
  });

  it("begins the list of a workflow that has none", () => {
    expect(insertAt("{}")).toEqual(["new"]);
    expect(insertAt('{\n  "edges": []\n}\n', 3)).toEqual(["new"]);
  });

  it("stands at the cursor of a text that is not JSON, or has no list for it", () => {
    expect(insertNode('{"nodes": [,]}', NODE, 11).text).toBe('{"nodes": [{"id": "new"},]}');
    expect(insertNode('{"nodes": ', NODE).text).toBe('{"nodes": {"id": "new"}');
    expect(insertNode('{"nodes": {}}', NODE, 0).text).toBe('{"id": "new"}{"nodes": {}}');
    expect(insertNode("[]", NODE, 1).text).toBe('[{"id": "new"}]');
  });
});

describe("positions in a JSON text", () => {
  it("are found by paths, also through keys with dots", () => {
    const text = '{"a.b": {"c": [1, {"d": 2}]}, "a": {"b": 3}}';
    const positions = new JsonPositions(text);
    const found = positions.find("a.b.c[1].d");
    expect(text.slice(found?.start, found?.end)).toBe("2");
    expect(positions.find("a.x")).toBeUndefined();
    expect(positions.has("a", "b")).toBe(true);
  });

  it("of a text that is not JSON are those of the problem", () => {
    const problem = findSyntaxProblem('{\n  "a": 1,\n}');
    expect(problem && findLine('{\n  "a": 1,\n}', problem.position).line).toBe(3);
    expect(findSyntaxProblem("{}")).toBeUndefined();
    expect(findSyntaxProblem('{"nodes": [}\n')).toEqual({ message: "Unexpected token '}'", position: 11 });
    const long = `{"nodes": [${'{"id": "a"}, '.repeat(50)}]}`;
    expect(findSyntaxProblem(long)?.position).toBe(long.length - 2);
    expect(findSyntaxProblem('{"a": tru, "b": 1}')?.position).toBe(9);
    expect(findSyntaxProblem("")?.position).toBe(0);
  });
});

describe("inputs of a run", () => {
  const fields = listFields(
    {
      topic: { type: "string", required: true, description: "" },
      days: { type: "integer", required: false, description: "", default: 7 },
      deep: { type: "boolean", required: false, description: "" },
      tags: { type: "array", required: false, description: "" },
      key: { type: "string", required: true, description: "", secret: true, default: "***" },
    },
    [{ name: "other", declared: false, required: true, paths: ["other"], used_in: [] }],
  );

  it("are read by their types, and empty ones are left to the workflow", () => {
    const { values, problems } = readInputs(fields, { topic: "007", days: "3", tags: '["a"]', other: "5" });
    expect(values).toEqual({ topic: "007", days: 3, tags: ["a"], other: 5 });
    expect(problems).toEqual({});
  });

  it("that do not fit are named", () => {
    const { problems } = readInputs(fields, { days: "1.5", tags: "{}", deep: "maybe" });
    expect(Object.keys(problems).sort()).toEqual(["days", "deep", "other", "tags", "topic"]);
  });

  it("of an earlier run are filled in, but not secrets", () => {
    expect(toTexts({ topic: "moons", key: "***", tags: [1] })).toEqual({ topic: "moons", tags: "[\n  1\n]" });
    expect(toTexts({ characters: 200_000, beginning: "{" })).toEqual({});
  });

  it("never show the default of a secret", () => {
    expect(fields.find((field) => field.name === "key")?.defaultText).toBe("");
  });
});

describe("a run", () => {
  it("waits until its question is decided or withdrawn, which are different words", () => {
    const describe = (state?: "pending" | "decided" | "withdrawn") =>
      describeRun({ status: "waiting", question_state: state ?? null }).word;
    expect([describe(), describe("pending")]).toEqual(["Waits for you", "Waits for you"]);
    expect([describe("decided"), describe("withdrawn")]).toEqual(["Decided", "Question withdrawn"]);
  });

  const result: NodeResult = {
    seq: 1,
    node: "a",
    type: "echo",
    status: "completed",
    action: "default",
    started_at: "2026-01-01T00:00:01.000000Z",
    duration_ms: 500,
    error: null,
    note: null,
  };

  it("is not said to continue after a rejection", () => {
    expect(describeNext("approve", true, {})).toBe("The run is resumed.");
    expect(describeNext("approve", false, {})).toMatch(/when you resume it here\.$/);
    expect(describeNext("approve", false, { token: "***" })).toMatch(/have to be given again\.$/);
    for (const isResumedSoon of [true, false])
      expect(describeNext("reject", isResumedSoon, {})).not.toMatch(/resumed|continue/);
  });

  it("shows the answer to its question at the node that asked it, and at no other", () => {
    const waiting = (node: string, id: string): NodeResult => ({
      ...result,
      node,
      status: "waiting",
      error: { code: "approval_required", message: "A person has to decide.", approval_id: id },
    });
    const answer = { action: "reject", note: null, door: "terminal", decided_by: "Tycho" };
    const run = { error: { code: "", message: "", approval_id: "apr_1" }, question_answer: answer } as RunSummary;
    const states = addAnswer([waiting("a", "apr_1"), waiting("b", "apr_2")].map(toState), run);
    expect(states.map((state) => describeNode(state.status, state).word)).toEqual(["Rejected", "Waits"]);
  });

  it("takes the state of a node from the log and from changes", () => {
    expect(toState(result)).toMatchObject({ node: "a", seq: 1, durationMs: 500, hasError: false });
    const change = { kind: "node", subject: "r", at: "t", node: "b", status: "running", items: 9, items_done: 2 };
    expect(readNodeChange(change)).toMatchObject({ node: "b", status: "running", items: 9, itemsDone: 2 });
    expect(readNodeChange({ kind: "node", subject: "r", at: "t" })).toBeUndefined();
  });

  it("marks a batch of which some items failed", () => {
    const state = toState({ ...result, failed_items: 11 });
    expect(describeNode(state.status, state)).toEqual({ word: "Done, 11 failed", tone: "maybe" });
  });

  it("keeps the start of a batch that announces its progress", () => {
    const began = { node: "b", status: "running", startedAt: "t1" } as const;
    expect(keepStart(began, { ...began, startedAt: "t2", itemsDone: 3 })).toMatchObject({
      startedAt: "t1",
      itemsDone: 3,
    });
    expect(keepStart(undefined, began)).toBe(began);
  });

  it("has bars in parts of its time, and never beyond it", () => {
    const start = Date.parse("2026-01-01T00:00:00Z");
    const skipped = { node: "b", status: "skipped", seq: 2 } as const;
    const bars = makeNodeBars([toState(result), skipped], [], start, start + 2_000);
    expect(bars.map((bar) => [bar.left, bar.width])).toEqual([
      [0.5, 0.25],
      [1, 0],
    ]);
  });

  it("says durations in words", () => {
    expect([3, 1_500, 65_000, 7_260_000].map(formatDuration)).toEqual(["3 ms", "1.5 s", "1 min 5 s", "2 h 1 min"]);
  });
});

describe("what would happen", () => {
  const step: PlannedStep = {
    node: "a",
    type: "echo",
    effect: "pure",
    params: {},
    will: "run",
    decided_by: [],
    waits_for: [],
  };

  it("counts only nodes that certainly run as such", () => {
    const ask: PlannedStep = { ...step, will: "ask", effect: "idempotent" };
    const branch: PlannedStep = { ...step, decided_by: ["ask"], waits_for: ["count.stdout", "ask"] };
    expect(countSteps([step, ask, branch, branch])).toBe(
      "1 node would run, 1 node would ask a person, 2 nodes may be reached",
    );
    expect(describeStep(ask)).toBe("The run stops until somebody has decided.");
    expect(describeStep(branch)).toBe("Changes nothing. Depends on the results of ask and count.");
  });
});

describe("the layout of a graph", () => {
  it("places every node once, and edges between known nodes only", () => {
    const nodes = ["a", "b", "constructor"].map((id) => ({ id, width: 100, height: 40 }));
    const edges = [
      { from: "a", to: "b", label: "" },
      { from: "a", to: "constructor", label: "error" },
      { from: "a", to: "nowhere", label: "" },
    ];
    const layout = layOut({ nodes, edges });
    expect(layout.nodes).toHaveLength(3);
    expect(layout.nodes[1]?.y).toBeGreaterThan(layout.nodes[0]?.y ?? 0);
    expect(layout.edges).toHaveLength(2);
    expect(formatCurve(layout.edges[0]?.points ?? [])).toMatch(/^M[\d.,]+/);
  });

  it("of a cycle ends", () => {
    const nodes = ["a", "b"].map((id) => ({ id, width: 100, height: 40 }));
    const edges = [
      { from: "a", to: "b", label: "" },
      { from: "b", to: "a", label: "again" },
    ];
    expect(layOut({ nodes, edges }).edges).toHaveLength(2);
  });
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: templates of workflows

it("only the part of a text that differs is replaced", () => {
  expect(findDifference("abc", "abXc")).toEqual({ start: 2, end: 2, insert: "X" });
  expect(findDifference("aXb", "ab")).toEqual({ start: 1, end: 2, insert: "" });
  expect(findDifference("aaa", "aaaa")).toEqual({ start: 3, end: 3, insert: "a" });
  expect(findDifference("", "new")).toEqual({ start: 0, end: 0, insert: "new" });
  expect(findDifference("same", "same")).toEqual({ start: 4, end: 4, insert: "" });
});
