import { type ReadonlySignal, signal } from "@preact/signals";
import { attempt } from "../common/toasts.tsx";
import { makeResource, type Resource } from "./resource.ts";
import type { Change } from "./server_events.ts";

/** Some rows of a list, and the position at which the following page begins; null after the last row. */
export interface ListPage<T> {
  rows: readonly T[];
  next: string | null;
}

/** Rows with the newest first: the first page stays current, the others are read while somebody scrolls. */
export interface PagedList<T> {
  /** All rows that were read; undefined before the first page. */
  readonly rows: ReadonlySignal<readonly T[] | undefined>;
  readonly first: Resource<true>;
  /** Read the page after the last row, if there is one and no request for it is on its way. */
  loadMore(): Promise<void>;
  remove(id: string): void;
}

/** Make a list. `readPage` reads the page that begins at a position; null is the first one. */
export function makePagedList<T extends { id: string }>(
  readPage: (before: string | null, abort?: AbortSignal) => Promise<ListPage<T>>,
  isAffected: (change: Change) => boolean,
): PagedList<T> {
  const rows = signal<readonly T[] | undefined>(undefined);
  let next: string | null = null;
  let isLoadingMore = false;

  const first = makeResource(async (abort) => {
    const page = await readPage(null, abort);
    const merged = page.next === null ? undefined : mergeFirstPage(page.rows, rows.peek() ?? []);
    rows.value = merged ?? page.rows;
    if (!merged) next = page.next;
    return true as const;
  }, isAffected);

  async function loadMore(): Promise<void> {
    const before = next;
    if (before === null || isLoadingMore) return;
    isLoadingMore = true;
    await attempt(async () => {
      const page = await readPage(before);
      if (next !== before) return; // the list was replaced meanwhile: the page would leave a gap
      const known = new Set(rows.peek()?.map((row) => row.id));
      rows.value = [...(rows.peek() ?? []), ...page.rows.filter((row) => !known.has(row.id))];
      next = page.next;
    });
    isLoadingMore = false;
  }

  return {
    rows,
    first,
    loadMore,
    remove(id: string) {
      rows.value = rows.peek()?.filter((row) => row.id !== id);
    },
  };
}

/** Put a new first page before the rows that were loaded after it; undefined if there is no common row. */
export function mergeFirstPage<T extends { id: string }>(
  page: readonly T[],
  loaded: readonly T[],
): readonly T[] | undefined {
  const last = page.at(-1);
  const index = last ? loaded.findIndex((row) => row.id === last.id) : -1;
  if (index < 0) return undefined;
  const ids = new Set(page.map((row) => row.id));
  return [...page, ...loaded.slice(index + 1).filter((row) => !ids.has(row.id))];
}
