import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

const PREFIX = "uraniborg.draft.";

/**
 * Use a text that a person types. It survives reloading the page, signing in again and going to another page, until
 * `clear` is called. `key` names what the text is about.
 */
export function useDraft(key: string, initial = ""): { text: Signal<string>; clear(): void } {
  // What was typed wins over a later initial text
  const text = useMemo(() => signal(readDraft(key) ?? initial), [key]);
  useEffect(
    () =>
      text.subscribe((value) => {
        if (value !== initial) writeDraft(key, value);
        else removeDraft(key);
      }),
    [key, text, initial],
  );
  return {
    text,
    clear() {
      text.value = initial;
      removeDraft(key);
    },
  };
}

function readDraft(key: string): string | null {
  try {
    return sessionStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

function writeDraft(key: string, value: string): void {
  try {
    sessionStorage.setItem(PREFIX + key, value);
  } catch {
    // No room, or storage is off: the text lives as long as the page.
  }
}

function removeDraft(key: string): void {
  try {
    sessionStorage.removeItem(PREFIX + key);
  } catch {
    // See above.
  }
}
