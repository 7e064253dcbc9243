import type { Change } from "../../server_events.ts";

/** Tell whether a change is a new build of a shelf. Of shelves in folders of one name, all but one have a number. */
export function isBuildOfShelf(change: Change, shelf: string): boolean {
  if (change.kind !== "shelf") return false;
  const folder = change.subject.split(/[\\/]/).at(-1) ?? "";
  return shelf === folder || shelf.startsWith(`${folder}-`);
}
