import { expect, test, vi } from "vitest";
import { type ListPage, makePagedList, mergeFirstPage } from "../src/data/paged_list.ts";

interface Row {
  id: string;
}

function make(...ids: string[]): Row[] {
  return ids.map((id) => ({ id }));
}

test("a new first page goes before the rows that were loaded after it", () => {
  const merged = mergeFirstPage(make("new", "a", "b"), make("a", "b", "c", "d"));
  expect(merged?.map((one) => one.id)).toEqual(["new", "a", "b", "c", "d"]);
  expect(mergeFirstPage(make("x", "y"), make("a", "b"))).toBeUndefined();
  expect(mergeFirstPage([], make("a"))).toBeUndefined();
});

test("a page that arrives after the list was replaced is dropped, and the next one is read from the new list", async () => {
  const firstPages: ListPage<Row>[] = [
    { rows: make("c", "b"), next: "b" },
    { rows: make("z", "y"), next: "y" },
  ];
  const answers = new Map<string, (page: ListPage<Row>) => void>();
  const list = makePagedList<Row>(
    async (before) => {
      if (before === null) return firstPages.shift() ?? { rows: [], next: null };
      return new Promise<ListPage<Row>>((resolve) => answers.set(before, resolve));
    },
    () => false,
  );
  const readIds = () => list.rows.value?.map((row) => row.id).join(" ");
  const stop = list.first.start();
  await vi.waitFor(() => expect(readIds()).toBe("c b"));
  const late = list.loadMore();
  list.first.reload();
  await vi.waitFor(() => expect(readIds()).toBe("z y"));
  answers.get("b")?.({ rows: make("a"), next: null });
  await late;
  expect(readIds()).toBe("z y");
  const following = list.loadMore();
  answers.get("y")?.({ rows: make("y", "x"), next: null });
  await following;
  expect(readIds()).toBe("z y x");
  stop();
});

test("the following pages are read one after the other, also after a change of the first", async () => {
  const pages = new Map<string | null, ListPage<Row>>([
    [null, { rows: make("f", "e"), next: "e" }],
    ["e", { rows: make("d", "c"), next: "c" }],
    ["c", { rows: make("b"), next: "b" }],
    ["b", { rows: make("a"), next: null }],
  ]);
  const asked: (string | null)[] = [];
  const list = makePagedList<Row>(
    async (before) => {
      asked.push(before);
      return pages.get(before) ?? { rows: [], next: null };
    },
    () => false,
  );
  const readIds = () => list.rows.value?.map((row) => row.id).join(" ");
  const stop = list.first.start();
  await vi.waitFor(() => expect(readIds()).toBe("f e"));
  await Promise.all([list.loadMore(), list.loadMore()]);
  expect(readIds()).toBe("f e d c");
  pages.set(null, { rows: make("g", "f"), next: "f" });
  list.first.reload();
  await vi.waitFor(() => expect(readIds()).toBe("g f e d c"));
  await list.loadMore();
  await list.loadMore();
  await list.loadMore();
  expect(readIds()).toBe("g f e d c b a");
  expect(asked).toEqual([null, "e", null, "c", "b"]);
  stop();
});
