import { useEffect, useRef, useState } from "preact/hooks";
import { api } from "../data/api.ts";
import type { StrategyCheck } from "../data/api_types.ts";
import { changeSide, followAlignment, type Side, type StrategyEdit, toEditData } from "./strategy_edit.ts";

const CHECK_MS = 250;

/**
 * Check an edit on the server while it is typed, and let the side of the plan follow that was not changed last. Nothing
 * is stored there. `read` returns the present edit, or the one that a first change begins; `write` stores an edit.
 */
export function useLiveCheck(
  sessionId: string,
  edit: StrategyEdit | undefined,
  read: () => StrategyEdit,
  write: (edit: StrategyEdit) => void,
) {
  const [check, setCheck] = useState<StrategyCheck>();
  const [isChecking, setChecking] = useState(false);
  const text = edit ? formatRequest(edit) : "";
  const abort = useRef<AbortController>(undefined);
  /** The request that is known to change nothing: its edit is in step, as the last check returned it. */
  const settled = useRef("");

  function receive(found: StrategyCheck): StrategyEdit {
    const next = followAlignment(read(), found);
    settled.current = formatRequest(next);
    setCheck(found);
    write(next);
    return next;
  }

  useEffect(() => {
    abort.current?.abort();
    if (!text) {
      setCheck(undefined);
      return;
    }
    if (text === settled.current) {
      setChecking(false);
      return;
    }
    const own = new AbortController();
    abort.current = own;
    setChecking(true);
    const timer = setTimeout(async () => {
      try {
        const found = await sendRequest(sessionId, text, own.signal);
        if (!own.signal.aborted) receive(found);
      } catch {
        // The server is away: the next change or the decision is checked.
      }
      if (!own.signal.aborted) setChecking(false);
    }, CHECK_MS);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [text, sessionId]);

  /** Check the edit as it is now. Return whether it can be sent: the last check may be about an earlier text. */
  async function checkNow(): Promise<boolean> {
    abort.current?.abort();
    try {
      const found = await sendRequest(sessionId, formatRequest(read()));
      receive(found);
      return found.is_valid;
    } catch {
      return true; // the decision meets the same error, and shows it
    }
  }

  /** Change one side, after what was typed on the other side has been read. */
  function change(side: Side, apply: (edit: StrategyEdit) => StrategyEdit): void {
    const now = read();
    const isBehind = now.changed !== undefined && now.changed !== side && formatRequest(now) !== settled.current;
    if (isBehind) void checkNow().then(() => write(changeSide(read(), side, apply)));
    else write(changeSide(now, side, apply));
  }

  const isComposing = isChecking && edit?.changed === "blocks" && text !== settled.current;
  return { check, isChecking, isComposing, checkNow, change };
}

function formatRequest(edit: StrategyEdit): string {
  return JSON.stringify({ data: toEditData(edit), changed_part: edit.changed ?? null });
}

function sendRequest(sessionId: string, text: string, signal?: AbortSignal): Promise<StrategyCheck> {
  const path = { session_id: sessionId };
  return api.post("/api/searches/{session_id}/strategy/check", { path, body: JSON.parse(text), signal });
}
