import { signal } from "@preact/signals";
import { expect, test } from "vitest";
import { filterEntries } from "../src/frame/palette.tsx";
import { splitSentences } from "../src/jobs/job_result.tsx";
import { renderTransitsCsv } from "../src/jobs/transit_times.tsx";
import { chooseScale, formatLength } from "../src/sky/scale_bar.tsx";
import { makeUniverseEntries, type PaletteContext } from "../src/universes/command_entries.ts";
import { type CommandSchema, findProblems, flattenFields, makeCommand } from "../src/universes/command_fields.tsx";
import { listDifferences } from "../src/universes/compare_panel.tsx";
import { describeEntry, findEnd } from "../src/universes/log_panel.tsx";
import { makePanelState } from "../src/universes/panel_state.ts";
import { checkSetting, readSetting } from "../src/universes/setting_field.tsx";
import { findOffset } from "../src/universes/shelf_papers.ts";
import { numberSources, splitFields, tagStatus, type Value } from "../src/universes/value_origins.ts";

const UPDATE: CommandSchema = {
  type: "updateStar",
  fields: {
    id: { type: "string", required: true },
    payload: {
      type: "object",
      required: true,
      fields: {
        mass: { type: "number", minimum: 0 },
        name: { type: "string" },
        kepler: { type: "object", fields: { period: { type: "number", required: true } } },
        tags: { type: "array" },
        isFixed: { type: "boolean" },
      },
    },
  },
};
const FIELDS = flattenFields(UPDATE.fields);

test("a form has the fields of objects, and only fields of what is given are required", () => {
  expect(FIELDS.map((field) => field.path)).toEqual([
    "id",
    "payload.mass",
    "payload.name",
    "payload.kepler.period",
    "payload.tags",
    "payload.isFixed",
  ]);
  expect(FIELDS.filter((field) => field.isRequired).map((field) => field.path)).toEqual(["id"]);
});

test("all problems of a form are found at once", () => {
  const given = { "payload.mass": "-1", "payload.kepler.period": "long" };
  expect(Object.keys(findProblems(FIELDS, given))).toEqual(["id", "payload.mass", "payload.kepler.period"]);
  expect(findProblems(FIELDS, { id: "h", "payload.mass": "2e-6" })).toEqual({});
});

test("a command has the values that were typed, with their types", () => {
  const given = {
    id: " h ",
    "payload.mass": "2e-6",
    "payload.kepler.period": "18.8",
    "payload.tags": '["a"]',
    "payload.isFixed": "false",
  };
  expect(makeCommand("updateStar", FIELDS, given)).toEqual({
    type: "updateStar",
    id: "h",
    payload: { mass: 2e-6, kepler: { period: 18.8 }, tags: ["a"], isFixed: false },
  });
  expect(makeCommand("updateStar", FIELDS, { id: "h", "payload.tags": "[broken" })).toEqual({
    type: "updateStar",
    id: "h",
    payload: { tags: "[broken" },
  });
});

function makeContext(selected?: string): PaletteContext {
  return {
    universe: "u",
    version: 3,
    isPresent: true,
    commands: [UPDATE, { type: "tick", description: "Let time pass.", fields: {} }],
    bodies: [
      { id: "t-g", name: "TRAPPIST-1 g" },
      { id: "t-h", name: "TRAPPIST-1 h" },
    ],
    state: { selected: signal(selected), followed: signal(undefined) },
    panel: makePanelState("body"),
  };
}

test("the palette opens the form of a value of a body", () => {
  const context = makeContext();
  const [entry, ...others] = filterEntries(makeUniverseEntries(context), "set mass of trappist-1 h");
  expect([entry?.label, others]).toEqual(["Set mass of TRAPPIST-1 h …", []]);
  entry?.run();
  expect(context.state.selected.value).toBe("t-h");
  expect(context.panel.tab.value).toBe("commands");
  expect(context.panel.draft.value).toEqual({ type: "updateStar", field: "payload.mass" });
});

test("the palette offers few entries before something is typed, and all values of the selected body after it", () => {
  const entries = makeUniverseEntries(makeContext("t-h"));
  expect(filterEntries(entries, "").map((entry) => entry.label)).toEqual([
    "Undo the last change",
    "Branch at version 3",
    "Run N-body …",
    "Set mass of TRAPPIST-1 h …",
    "Set name of TRAPPIST-1 h …",
  ]);
  expect(filterEntries(entries, "set period").map((entry) => entry.label)).toEqual(["Set period of TRAPPIST-1 h …"]);
  expect(filterEntries(entries, "command tick")).toHaveLength(1);
});

test("the palette goes to a body, and does not undo while an earlier version is shown", () => {
  const context = { ...makeContext(), isPresent: false };
  const entries = makeUniverseEntries(context);
  filterEntries(entries, "go to trappist-1 g")[0]?.run();
  expect([context.state.selected.value, context.state.followed.value]).toEqual(["t-g", "t-g"]);
  expect(filterEntries(entries, "undo")).toEqual([]);
});

test("a page of the log has the version that is shown", () => {
  expect(findEnd(2_000, 2_000)).toBe(2_000);
  expect(findEnd(1_960, 2_000)).toBe(2_000);
  expect(findEnd(1_000, 2_000)).toBe(1_025);
  expect(findEnd(3, 2_000)).toBe(50);
  expect(findEnd(1, 1)).toBe(1);
});

test("an entry of the log says what was done", () => {
  const entry = { version: 2, kind: "command", at: "", author: null };
  const command = { type: "updateStar", id: "h", payload: { mass: 1, radius: 2 } };
  expect(describeEntry({ ...entry, command })).toBe("updateStar h (mass, radius)");
  expect(describeEntry({ ...entry, kind: "undo", events: [{ type: "x", reason: "undo of 2" }] })).toBe("undo of 2");
  expect(describeEntry({ ...entry, kind: "restore" })).toBe("restore");
});

test("differences of two universes are lines without the marks of authors", () => {
  const changed = { h: { mass: [1e-6, 2e-6], "setBy.mass": ["a", "b"] } };
  const counts = { addedCount: 1, removedCount: 1, changedCount: 1 };
  const lines = listDifferences({ differences: { stars: { ...counts, added: ["x"], removed: ["y"], changed } } });
  expect(lines).toEqual(["x: only here", "y: only in the other one", "h mass: 1e-6 → 2e-6"]);
});

test("settings have the types of their schema", () => {
  expect(readSetting({ type: "boolean" }, "false")).toBe(false);
  expect(readSetting({ type: "integer" }, "7")).toBe(7);
  expect(readSetting({ type: "integer" }, "many")).toBe("many");
  expect(readSetting(undefined, "7")).toBe("7");
});

test("a setting outside of its range or of another type has a problem", () => {
  const depth = { type: "integer", minimum: 1, maximum: 6 };
  expect(["", " ", "3", "6"].map((text) => checkSetting(depth, text))).toEqual(Array(4).fill(undefined));
  expect(["0", "7", "2.5", "deep"].map((text) => checkSetting(depth, text))).toEqual([
    "This must be at least 1.",
    "This must be at most 6.",
    "This must be a whole number.",
    "This must be a number.",
  ]);
  expect(checkSetting({ enum: ["a"] }, "b")).toBeUndefined();
});

test("values that repeat those of the orbit are not listed twice", () => {
  const make = (value: number): Value => ({ value, unit: "AU", status: "cited", mark: "", sources: [] });
  const fields = {
    "kepler.semiMajorAxis": make(1),
    semiMajorAxis: make(1),
    orbitalDistance: make(1),
    eccentricity: make(0.2),
    "kepler.eccentricity": make(0.1),
  };
  expect(splitFields(fields)[1].map(([name]) => name)).toEqual(["eccentricity"]);
});

test("sources are numbered in the order of the values, the main ones first", () => {
  const value = (sources: string[], status = "sourced"): Value => ({ value: 1, unit: "", status, mark: "", sources });
  const fields = { color: value(["c"]), mass: value(["b"]), "kepler.period": value(["b", "a"]) };
  expect([...numberSources(fields)]).toEqual([
    ["b", 1],
    ["a", 2],
    ["c", 3],
  ]);
  expect(splitFields(fields)[1].map(([name]) => name)).toEqual(["color"]);
  expect(tagStatus("unverified claim")?.word).toBe("unverified claim");
  expect(tagStatus("sourced")).toBeUndefined();
});

test("a value is found at its row, its passage, or else its section", () => {
  const page = {
    offset: 100,
    nodes: [
      { type: "paragraph", offset: 110, children: ["The mass of  h is small."] },
      { type: "table", offset: 150, rows: [{ offset: 160, cells: ["h", "0.326 ± 0.020"] }] },
    ],
  } as never;
  expect(findOffset(page, { row: ["h", "0.326  ± 0.020"] })).toBe(160);
  expect(findOffset(page, { passage: "mass of h" })).toBe(110);
  expect(findOffset(page, { row: ["g"] })).toBe(100);
});

test("the scale bar is a round length that fits, in units that suit it", () => {
  expect(chooseScale(50)).toEqual({ length: 2, pixels: 100 });
  expect(chooseScale(1e-6)?.length).toBe(1e8);
  expect(chooseScale(0)).toBeUndefined();
  expect(formatLength(0.05, true)).toBe("0.05 AU");
  expect(formatLength(0.0002, true)).toBe("30,000 km");
  expect(formatLength(20, false)).toBe("20 units");
});

test("a verdict is split into its sentences, and numbers and names stay whole", () => {
  expect(splitSentences("")).toEqual([]);
  expect(
    splitSentences("No two bodies collided. The largest is 0.01, of TRAPPIST-1 h. This holds (Gladman 1993)."),
  ).toEqual(["No two bodies collided.", "The largest is 0.01, of TRAPPIST-1 h.", "This holds (Gladman 1993)."]);
});

test("transits are saved as CSV with one line each", () => {
  const transit = { number: 0, time: 2457259.0612193053, ocMinutes: null, impactParameter: 0.1, durationMinutes: 36 };
  const planet = { status: "transits", period: null, ttvHalfRangeMinutes: null };
  const transits = [{ ...transit, kind: "full", errorSeconds: 1e-9 }];
  expect(
    renderTransitsCsv({ b: { ...planet, transits }, 'x,"y"': { ...planet, transits }, c: { ...planet, transits: [] } }),
  ).toBe(
    `body,number,time,ocMinutes,impactParameter,durationMinutes,kind,errorSeconds
b,0,2457259.0612193053,,0.1,36,full,1e-9
"x,""y""",0,2457259.0612193053,,0.1,36,full,1e-9
`,
  );
});

test("an id that a spreadsheet would run is text in the saved transits", () => {
  const transit = { number: 0, time: -1.5, ocMinutes: null, impactParameter: 0.1, durationMinutes: 36 };
  const planet = { status: "transits", period: null, ttvHalfRangeMinutes: null };
  const transits = [{ ...transit, kind: "full", errorSeconds: 1e-9 }];
  expect(renderTransitsCsv({ "=1+1": { ...planet, transits } }).split("\n")[1]).toBe("'=1+1,0,-1.5,,0.1,36,full,1e-9");
  expect(renderTransitsCsv({ "＝1+1": { ...planet, transits } }).split("\n")[1]).toMatch(/^'＝1\+1,/);
});
