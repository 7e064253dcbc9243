import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

const PREFIX = "uraniborg.draft.";
const REVISION_PREFIX = "uraniborg.draft_revision.";

/**
 * Use a text that a person types. It survives reloading the page, signing in again and going to another page, until
 * `clear` is called. `key` names what the text is about. `revision` is stored with the text, for `readDraftRevision`.
 */
export function useDraft(key: string, initial = "", revision?: string): { text: Signal<string>; clear(): void } {
  // What was typed wins over a later initial text
  const text = useMemo(() => signal(read(PREFIX + key) ?? initial), [key]);
  useEffect(
    () =>
      text.subscribe((value) => {
        if (value !== initial) writeDraft(key, value, revision);
        else removeDraft(key);
      }),
    [key, text, initial, revision],
  );
  return {
    text,
    clear() {
      text.value = initial;
      removeDraft(key);
    },
  };
}

/** Return the revision that a stored text is a change of; undefined if no text is stored. */
export function readDraftRevision(key: string): string | undefined {
  return read(PREFIX + key) === null ? undefined : (read(REVISION_PREFIX + key) ?? undefined);
}

function read(name: string): string | null {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}

function writeDraft(key: string, value: string, revision: string | undefined): void {
  try {
    if (revision !== undefined) sessionStorage.setItem(REVISION_PREFIX + key, revision);
    sessionStorage.setItem(PREFIX + key, value);
  } catch {
    // No room, or storage is off: the text lives as long as the page.
  }
}

function removeDraft(key: string): void {
  try {
    sessionStorage.removeItem(PREFIX + key);
    sessionStorage.removeItem(REVISION_PREFIX + key);
  } catch {
    // See above.
  }
}
