import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/**
 * Keep the text field in which a person types at its place on the screen when something above it grows or shrinks: the
 * pane scrolls by the difference.
 */
export function useSteadyFocus(content: RefObject<HTMLElement | null>): void {
  const field = document.activeElement;
  const isTyping = field instanceof HTMLTextAreaElement && content.current?.contains(field);
  const before = isTyping ? field.getBoundingClientRect().top : undefined; // the page is still as it was
  useLayoutEffect(() => {
    if (before === undefined || !field?.isConnected) return;
    const moved = field.getBoundingClientRect().top - before;
    const pane = content.current?.closest(".detail");
    if (moved && pane) pane.scrollTop += moved;
  });
}
