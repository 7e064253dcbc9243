import temml from "temml";
import { expect, test } from "vitest";
import environments from "./formula_environments.json";

// jsdom has no styles of MathML elements: the text of the elements is tested, not the elements.
test.each(environments.map(({ tex }) => tex))("the contents of a LaTeX environment are drawn: %s", (tex) => {
  const drawn = temml.renderToString(tex, { displayMode: true, throwOnError: true, trust: false });
  expect(drawn).toContain("<math");
  expect(drawn).not.toMatch(/merror|temml-error/);
});
