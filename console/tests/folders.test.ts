import { expect, test } from "vitest";

const MOST_MODULES = 20;
const SOURCES = Object.keys(import.meta.glob("../src/**/*.{ts,tsx}"));

test("no folder holds more modules than a reader can take in at once", () => {
  const counts = new Map<string, number>();
  for (const path of SOURCES) {
    const folder = path.slice(0, path.lastIndexOf("/"));
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  expect(counts.size).toBeGreaterThan(10);
  expect([...counts].filter(([, count]) => count > MOST_MODULES)).toEqual([]);
});

test("every module has a name of its own, except the texts of each folder", () => {
  const names = SOURCES.map((path) => path.slice(path.lastIndexOf("/") + 1)).filter((name) => name !== "strings.ts");
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
