import { expect, test } from "vitest";
import { formatPath, matchPath, navigate, path, query, startRouter } from "../src/data/router.ts";
import { findPage } from "../src/pages.tsx";

test("a path gives its parameters, whatever characters they have", () => {
  const id = "3f/6c:0 ü%";
  const made = formatPath("/searches/{id}/review", { id });
  expect(matchPath("/searches/{id}/review", made)).toEqual({ id });
  expect(matchPath("/searches/{id}", made)).toBeUndefined();
  expect(matchPath("/inbox", "/inbox/")).toEqual({});
  expect(matchPath("/inbox/{id}", "/inbox/%E0%A4%A")).toBeUndefined();
});

test("going to a page changes the address, and the back button returns", async () => {
  startRouter();
  navigate("/inbox");
  navigate("/settings?x=1");
  expect([path.value, query.value.get("x"), location.pathname]).toEqual(["/settings", "1", "/settings"]);
  const back = new Promise((resolve) => addEventListener("popstate", resolve, { once: true }));
  history.back();
  await back;
  expect(path.value).toBe("/inbox");
});

test("an unknown address has a page that says so", () => {
  expect(findPage("/nothing/here").page.title).toBe("There is no such page.");
  expect(findPage("/inbox/a%3A0").params).toEqual({ id: "a:0" });
});
