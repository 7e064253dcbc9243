import { attempt, showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import { formatPath, navigate } from "../data/router.ts";
import { universeTexts } from "./strings.ts";

const texts = universeTexts.universe;

/** Run a change; return whether it took effect. An error is shown. */
function change(run: () => Promise<unknown>, done: string): Promise<boolean> {
  return attempt(async () => {
    await run();
    showToast(done);
  });
}

export function undoLastChange(universe: string): Promise<boolean> {
  const path = { universe_id: universe };
  return change(() => api.post("/api/universes/{universe_id}/undo", { path }), texts.undone);
}

export function restoreVersion(universe: string, version: number): Promise<boolean> {
  const path = { universe_id: universe };
  const send = () => api.post("/api/universes/{universe_id}/restore", { path, body: { version } });
  return change(send, texts.restored(version));
}

/** Branch a universe at a version and open the branch. */
export function branchAt(universe: string, version: number): Promise<boolean> {
  return attempt(async () => {
    const made = await api.post("/api/universes/{universe_id}/branch", {
      path: { universe_id: universe },
      query: { return: "record" },
      body: { version },
    });
    navigate(formatPath("/universes/{id}", { id: made.id }));
  });
}
