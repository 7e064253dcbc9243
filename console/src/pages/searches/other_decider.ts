import { useEffect, useRef } from "preact/hooks";
import { api } from "../../api.ts";
import { showToast } from "../../components/toasts.tsx";
import { removeDirections } from "../../inbox/words.ts";
import { strings } from "../../strings.ts";

const texts = strings.strategy;

/**
 * Say who decided a question that waited on this page and no longer does. Return a function to call before this page
 * decides the question itself.
 */
export function useOtherDecider(checkpointId: string | null | undefined): () => void {
  const last = useRef<string>(undefined);
  const own = useRef<string>(undefined);
  useEffect(() => {
    const before = last.current;
    last.current = checkpointId ?? undefined;
    if (before && before !== checkpointId && before !== own.current) void announceDecision(before);
  }, [checkpointId]);
  return () => {
    own.current = checkpointId ?? undefined;
  };
}

async function announceDecision(checkpointId: string): Promise<void> {
  try {
    const question = await api.get("/api/inbox/{entry_id}", { path: { entry_id: checkpointId } });
    if (question.state !== "decided") return;
    const door = question.door ?? "";
    const action = question.decision?.action ?? "";
    showToast(
      texts.decidedElsewhere(
        removeDirections(question.decided_by ?? texts.someone),
        texts.doors[door] ?? door,
        texts.actions[action] ?? action,
      ),
    );
  } catch {
    // The question was deleted with its search.
  }
}
