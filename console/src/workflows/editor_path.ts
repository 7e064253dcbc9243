import { formatPath } from "../data/router.ts";

/** Return the address of the editor of a draft. */
export function formatDraftEditorPath(name: string): string {
  return `${formatPath("/workflows/{name}/edit", { name })}?source=draft`;
}
