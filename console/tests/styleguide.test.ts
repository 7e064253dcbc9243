import { expect, test } from "vitest";

const components: Record<string, string> = import.meta.glob(
  ["../src/common/*.tsx", "../src/frame/{palette,key_help}.tsx", "../src/review/verdict.tsx"],
  {
    query: "?raw",
    import: "default",
    eager: true,
  },
);
const guide: Record<string, string> = import.meta.glob("../src/styleguide/*.tsx", {
  query: "?raw",
  import: "default",
  eager: true,
});

test("the style guide uses every component", () => {
  const sources = Object.values(components).join("\n");
  const uses = Object.values(guide).join("\n");
  const names = [...sources.matchAll(/^export function ([A-Z]\w*)/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(30);
  expect(names.filter((name) => !new RegExp(`<${name}\\b`).test(uses))).toEqual([]);
});
