import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { VerdictDraft } from "./verdict_form.tsx";

const PREFIX = "uraniborg.verdicts.";
const PLACE = "uraniborg.place.";

/** Use the verdicts that are chosen and not saved, by paper. They survive moving on and reloading the page. */
export function useVerdictDrafts(sessionId: string) {
  return useMemo(() => {
    const drafts = signal<Readonly<Record<string, VerdictDraft>>>(read(PREFIX + sessionId) ?? {});
    const change = (next: Record<string, VerdictDraft>) => {
      drafts.value = next;
      write(PREFIX + sessionId, next);
    };
    return {
      get: (id: string | undefined) => (id === undefined ? undefined : drafts.value[id]),
      set: (id: string, draft: VerdictDraft) => change({ ...drafts.value, [id]: draft }),
      clear(id: string) {
        const { [id]: _, ...rest } = drafts.value;
        change(rest);
      },
    };
  }, [sessionId]);
}

/** Remember where in a search the reader is, for the next visit from the list of searches. */
export function rememberPlace(sessionId: string, place: string): void {
  write(PLACE + sessionId, place);
}

/** Return the address to which a visit of the papers of a search returns. */
export function recallPlace(sessionId: string): string {
  const place = read<string>(PLACE + sessionId);
  return `/searches/${sessionId}${typeof place === "string" ? place : "/review"}`;
}

function read<T>(key: string): T | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? "null") as T | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(key: string, value: unknown): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // No room, or storage is off: it lives as long as the page.
  }
}
