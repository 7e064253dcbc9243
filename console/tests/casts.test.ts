import { parseAst } from "vite";
import { expect, test } from "vitest";

const SOURCES: Record<string, string> = import.meta.glob("../src/**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** The files that may cast, each with its number of casts, by the reason. A new cast needs a reason. */
const CASTS: { reason: string; files: Record<string, number> }[] = [
  {
    reason: "Texts are looked up by words of the server, of which some have no text.",
    files: {
      "common/strings.ts": 2,
      "inbox/strings.ts": 3,
      "jobs/strings.ts": 1,
      "library/strings.ts": 3,
      "review/strings.ts": 1,
      "searches/strings.ts": 2,
      "story/strings.ts": 2,
      "strategy/strings.ts": 1,
      "workflows/strings.ts": 2,
    },
  },
  {
    reason: "The client of the API gives each path its types; the request itself has none.",
    files: { "data/api.ts": 12 },
  },
  {
    reason: "The parameters of the request choose one of several replies, or its parts.",
    files: {
      "sky/bodies.ts": 1,
      "universes/body_values.tsx": 2,
      "universes/command_panel.tsx": 1,
      "universes/mass_note.tsx": 1,
      "universes/origin_dialog.tsx": 1,
      "universes/value_origins.ts": 2,
    },
  },
  {
    reason:
      "The API declares JSON without a shape, such as facts of errors, schemas of settings and commands of the log.",
    files: {
      "data/api_error.ts": 1,
      "inbox/question_view.tsx": 1,
      "runs/run_store.ts": 1,
      "story/step_inputs.tsx": 1,
      "universes/command_panel.tsx": 1,
      "universes/create_dialog.tsx": 3,
      "universes/log_panel.tsx": 1,
    },
  },
  {
    reason: "A form sends what a person wrote, and the server checks it.",
    files: {
      "strategy/feedback_edit.ts": 1,
      "strategy/strategy_edit.ts": 3,
      "strategy/strategy_fields.tsx": 1,
      "strategy/strategy_view.tsx": 1,
      "universes/command_fields.tsx": 1,
      "universes/command_panel.tsx": 1,
      "universes/file_import.tsx": 1,
      "workflows/corrections.ts": 1,
      "workflows/input_values.ts": 1,
      "workflows/new_draft_dialog.tsx": 1,
      "workflows/workflow_editor_page.tsx": 1,
    },
  },
  {
    reason: "JSON that this console or its server wrote is read back.",
    files: {
      "data/server_events.ts": 1,
      "review/mark_queue.ts": 1,
      "review/verdict_drafts.ts": 1,
      "sky/elements.ts": 1,
      "strategy/feedback_edit.ts": 1,
      "strategy/strategy_edit.ts": 1,
      "workflows/json_positions.ts": 1,
    },
  },
  {
    reason: "A word of an address, a control or a store was compared with the known words, or is looked up only.",
    files: {
      "common/controls.tsx": 1,
      "data/preferences.ts": 1,
      "review/review_filters.ts": 2,
      "runs/run_list.tsx": 2,
      "workflows/workflows_page.tsx": 1,
    },
  },
  {
    reason: "TypeScript types the keys of an object as any text.",
    files: {
      "common/icon.tsx": 1,
      "review/review_filters.ts": 2,
      "review/review_list.tsx": 2,
      "settings/settings_page.tsx": 1,
    },
  },
  {
    reason: "The types of the browser, or of a library, are wider than what it returns.",
    files: {
      "common/controls.tsx": 2,
      "common/text_tree.tsx": 1,
      "data/keys.ts": 2,
      "jobs/canvas.ts": 1,
      "runs/graph_layout.ts": 3,
      "runs/graph_worker.ts": 1,
      "sky/drawing/camera.ts": 1,
      "sky/drawing/geometries.ts": 1,
      "sky/drawing/model_export.ts": 2,
      "sky/drawing/scene.ts": 2,
      "sky/drawing/trails.ts": 1,
      "trusted_types.ts": 2,
    },
  },
  {
    reason: "A literal has a narrower type than the field that starts with it.",
    files: { "runs/item_list.tsx": 1 },
  },
];

/**
 * Return the number of casts of a source: `value as Type` and `<Type>value`. `as unknown as Type` is one cast; `as const`
 * and `as unknown` alone claim nothing.
 */
function countCasts(source: string, lang: "ts" | "tsx"): number {
  let count = 0;
  JSON.stringify(parseAst(source, { lang }), (_, node) => {
    if (node?.type === "TSAsExpression" || node?.type === "TSTypeAssertion") {
      const { type, typeName } = node.typeAnnotation;
      if (type !== "TSUnknownKeyword" && typeName?.name !== "const") count += 1;
    }
    return typeof node === "bigint" ? String(node) : node;
  });
  return count;
}

test("every cast has a reason, and no reason is out of date", () => {
  const allowed: Record<string, number> = {};
  for (const [file, count] of CASTS.flatMap(({ files }) => Object.entries(files))) {
    allowed[file] = (allowed[file] ?? 0) + count;
  }
  const counts = Object.entries(SOURCES).map(([path, source]): [string, number] => [
    path.replace("../src/", ""),
    countCasts(source, path.endsWith("x") ? "tsx" : "ts"),
  ]);
  expect(counts.length).toBeGreaterThan(200);
  expect(Object.fromEntries(counts.filter(([, count]) => count))).toEqual(allowed);
});

test.each([
  ["const a = b as Reply;", 1],
  ["const a = (b as unknown as { id: string }).id;", 1],
  ["const a = f({ c: d as never } as never);", 2],
  ["const a = <p>{b as string}</p>;", 1],
  ["const a = [1] as const;", 0],
  ["const a = JSON.parse(b) as unknown;", 0],
  ['import { a as b } from "c"; // a as Type', 0],
  ['const a = "b as Type";', 0],
])("the casts of %s are counted", (source, count) => {
  expect(countCasts(source, "tsx")).toBe(count);
});

test("a cast before its value is counted", () => {
  expect(countCasts("const a = <Reply>b;", "ts")).toBe(1);
});
