import { matchPath } from "./router.ts";

let patterns: readonly string[] = [];

/** Make the addresses of all pages known to code that the pages themselves import. */
export function setPagePaths(given: readonly string[]): void {
  patterns = given;
}

/** Return whether there is a page at this address. */
export function hasPage(path: string): boolean {
  return patterns.some((pattern) => matchPath(pattern, path) !== undefined);
}
