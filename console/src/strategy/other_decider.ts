import { useEffect, useRef } from "preact/hooks";
import { showToast } from "../common/toasts.tsx";
import { api } from "../data/api.ts";
import { readOwnName } from "../data/session.ts";
import { describeDecided } from "../inbox/question_words.ts";

export type ExpectOwnDecision = () => () => void;

/**
 * Say who decided a question that waited on this page and no longer does. Return a function to call before this page
 * decides the question itself. It returns a function to call if that fails.
 */
export function useOtherDecider(checkpointId: string | null | undefined): ExpectOwnDecision {
  const last = useRef<string>(undefined);
  const own = useRef<string>(undefined);
  useEffect(() => {
    const before = last.current;
    last.current = checkpointId ?? undefined;
    if (before && before !== checkpointId && before !== own.current) void announceDecision(before);
  }, [checkpointId]);
  return () => {
    own.current = checkpointId ?? undefined;
    return () => {
      own.current = undefined;
    };
  };
}

async function announceDecision(checkpointId: string): Promise<void> {
  try {
    const question = await api.get("/api/inbox/{entry_id}", { path: { entry_id: checkpointId } });
    if (question.state !== "decided") return;
    showToast(`${describeDecided({ ...question, action: question.decision?.action }, readOwnName())}.`);
  } catch {
    // The question was deleted with its search.
  }
}
