/**
 * Replace the text of a field as if it were typed, so that Ctrl Z undoes it. Only the part that differs is replaced. The
 * field has the focus afterwards.
 */
export function typeText(area: HTMLTextAreaElement, text: string): void {
  const { start, end, insert } = findDifference(area.value, text);
  area.focus();
  area.setSelectionRange(start, end);
  // The only way to change a text that keeps the history of the browser; it is deprecated and has no successor.
  if (insert) document.execCommand?.("insertText", false, insert);
  else if (start < end) document.execCommand?.("delete");
  if (area.value === text) return;
  area.value = text;
  area.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

/** Return the part of `before` that differs, [start, end), and the part of `after` that replaces it. */
export function findDifference(before: string, after: string): { start: number; end: number; insert: string } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let same = 0;
  while (same < shorter - start && before[before.length - 1 - same] === after[after.length - 1 - same]) same += 1;
  return { start, end: before.length - same, insert: after.slice(start, after.length - same) };
}
