import { expect, test } from "vitest";
import { findJsonTwin, JSON_TWINS } from "../src/frame/json_twins.ts";
import { PAGES } from "../src/pages.tsx";

test("every page has its data as JSON, and nothing else has", () => {
  const pages = PAGES.map((page) => page.path).filter((path) => path !== "/styleguide");
  expect(new Set(Object.keys(JSON_TWINS).map((form) => form.split("?")[0]))).toEqual(new Set(pages));
  expect(findJsonTwin("/nothing/here")).toBeUndefined();
});

test("the address of the data has the parameters of the page", () => {
  expect(findJsonTwin("/searches/a%2Fb/review/p1?status=maybe")).toBe("/api/searches/a%2Fb/papers/p1");
  expect(findJsonTwin("/runs/r1/compare/r2")).toBe("/api/run-comparison?first=r1&second=r2");
  expect(findJsonTwin("/workflows?view=runs&status=failed")).toBe("/api/runs");
  expect(findJsonTwin("/workflows?q=x")).toBe("/api/workflows");
});
