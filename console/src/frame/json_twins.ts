import type { PathsOf } from "../data/api.ts";
import { matchPath } from "../data/router.ts";

/**
 * The operation of the API that returns the data of a page, by the form of the page's address. Parameters keep their
 * order; those that have no place in the address of the operation are in QUERIES.
 */
export const JSON_TWINS = {
  "/": "/api/inbox",
  "/inbox": "/api/inbox",
  "/inbox/{id}": "/api/inbox/{entry_id}",
  "/searches": "/api/searches",
  "/searches/{id}": "/api/searches/{session_id}",
  "/searches/{id}/strategy": "/api/searches/{session_id}/strategy",
  "/searches/{id}/progress": "/api/searches/{session_id}/flow",
  "/searches/{id}/review": "/api/searches/{session_id}/papers",
  "/searches/{id}/review/{paper}": "/api/searches/{session_id}/papers/{paper_id}",
  "/story": "/api/story",
  "/story/{step}": "/api/story/steps/{step_id}",
  "/library": "/api/shelves",
  "/library/{shelf}": "/api/shelves/{shelf}/search",
  "/library/{shelf}/{paper}": "/api/shelves/{shelf}/papers/{paper_id}",
  "/universes": "/api/universes",
  "/universes/{id}": "/api/universes/{universe_id}",
  "/workflows?view=runs": "/api/runs",
  "/workflows?view=schedules": "/api/schedules",
  "/workflows": "/api/workflows",
  "/workflows/{name}": "/api/workflows/{name}",
  "/workflows/{name}/edit": "/api/workflows/{name}/document",
  "/runs/{id}": "/api/runs/{run_id}",
  "/runs/{id}/compare/{other}": "/api/run-comparison",
  "/connections": "/api/connections",
  "/settings": "/api/settings",
} satisfies Record<string, PathsOf<"GET">>;
const QUERIES: Record<string, readonly string[]> = { "/runs/{id}/compare/{other}": ["first", "second"] };

/** Return the address of the data of a page as JSON, or undefined if there is no such page. */
export function findJsonTwin(address: string): string | undefined {
  const [path = "", text = ""] = address.split("?");
  const given = new URLSearchParams(text);
  for (const [form, operation] of Object.entries(JSON_TWINS)) {
    const [pattern = "", wanted = ""] = form.split("?");
    const params = matchPath(pattern, path);
    if (!params || [...new URLSearchParams(wanted)].some(([name, value]) => given.get(name) !== value)) continue;
    const values = Object.values(params);
    const found = operation.replace(/\{\w+\}/g, () => encodeURIComponent(values.shift() ?? ""));
    const names = QUERIES[form];
    return names ? `${found}?${new URLSearchParams(names.map((name, index) => [name, values[index] ?? ""]))}` : found;
  }
  return undefined;
}
