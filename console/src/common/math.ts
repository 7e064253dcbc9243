/** Formulas in TeX as MathML. Loaded when a page shows the first formula, with the font of formulas. */
import temml from "temml";
import "temml/dist/Temml-STIX2.css";
import "../styles/math.css";

const MOST_CHARACTERS = 20_000;

/** Draw a formula into an element, as nodes. Return false if it cannot be read; the element is empty then. */
export function drawFormula(tex: string, element: HTMLElement, isBlock: boolean): boolean {
  element.textContent = "";
  if (tex.length > MOST_CHARACTERS) return false;
  try {
    temml.render(tex, element, { displayMode: isBlock, throwOnError: true, trust: false, maxSize: [20, 500] });
  } catch {
    element.textContent = "";
    return false;
  }
  // A foreign formula names no part of our page, and leads nowhere.
  for (const node of element.querySelectorAll("[id], [href]")) {
    node.removeAttribute("id");
    node.removeAttribute("href");
  }
  return true;
}
