import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { Choices } from "../common/controls.tsx";
import { ErrorMessage, Loaded, markCode } from "../common/states.tsx";
import { attempt } from "../common/toasts.tsx";
import { VirtualList } from "../common/virtual_list.tsx";
import { api } from "../data/api.ts";
import type { RunItem } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import type { Change } from "../data/server_events.ts";
import { formatDuration } from "../data/times.ts";
import { formatFieldText } from "../workflows/input_values.ts";
import { describeNode } from "./run_words.ts";
import { runTexts as texts } from "./strings.ts";
import { readSize, ValueView } from "./value_view.tsx";

const PAGE = 200;
/** The shortest time between two readings of a list while its batch runs. */
const READ_MS = 1_000;
const HEIGHT = 36;
const SHOWN_CHARACTERS = 200;
const heightOf = () => HEIGHT;
const keyOf = (item: RunItem) => String(item.item);

interface Props {
  runId: string;
  node: string;
  /** The `seq` of the node once it has ended: then the log has all of its items. */
  seq: number | undefined;
  /** The index of the item to show. */
  current: number | undefined;
  hrefOf: (item: number) => string;
}

/** Return whether a change means that more items of a batch have ended. */
export function isItemChange(change: Change, runId: string, node: string): boolean {
  return change.kind === "node" && change.subject === runId && change.node === node;
}

/** The items of a batch that have ended, all or the failed ones, loaded page by page; and one of them in full. */
export function ItemList({ runId, node, seq, current, hrefOf }: Props) {
  const [isFailed, setFailed] = useState(false);
  const key = `items ${runId} ${node} ${isFailed}`;
  const state = useMemo(
    () => ({ items: signal<readonly RunItem[]>([]), next: null as number | null, readAt: 0 }),
    [key],
  );
  const readPage = (after: number, abort?: AbortSignal) =>
    api.get("/api/runs/{run_id}/items", {
      path: { run_id: runId },
      query: { node, after, limit: PAGE, ...(isFailed ? { status: "failed" as const } : {}) },
      ...(abort ? { signal: abort } : {}),
    });
  const counts = useResource(
    `${key} ${seq}`,
    async (abort) => {
      state.readAt = Date.now();
      // Items end in any order: everything that is shown is read again
      const wanted = Math.max(PAGE, state.items.peek().length);
      let page = await readPage(-1, abort);
      let items: readonly RunItem[] = page.items;
      while (page.next !== null && items.length < wanted) {
        page = await readPage(page.next, abort);
        items = [...items, ...page.items];
      }
      state.items.value = items;
      state.next = page.next;
      return page.counts;
    },
    (change) => isItemChange(change, runId, node) && Date.now() - state.readAt > READ_MS,
    `items ${runId} ${node}`, // the choice of items stays while others are read
  );
  async function loadMore(): Promise<void> {
    const { next } = state;
    if (next === null) return;
    state.next = null;
    const isRead = await attempt(async () => {
      const page = await readPage(next);
      state.items.value = [...state.items.peek(), ...page.items];
      state.next = page.next;
    });
    if (!isRead) state.next = next;
  }
  return (
    <Loaded resource={counts}>
      {(found) => {
        const total = Object.values(found).reduce((sum, count) => sum + count, 0);
        if (!total) return null;
        const items = state.items.value;
        return (
          <section class="items" aria-label={texts.itemsTitle}>
            <h3>{texts.itemsTitle}</h3>
            {found.failed ? (
              <Choices
                label={texts.itemsShown}
                value={isFailed ? "failed" : "all"}
                choices={[
                  { value: "all", label: texts.allItems(total) },
                  { value: "failed", label: texts.failedItems(found.failed) },
                ]}
                onChange={(value) => setFailed(value === "failed")}
              />
            ) : (
              <p class="quiet small">{texts.itemCount(total)}</p>
            )}
            <div class="item-list" style={{ "--rows": `${items.length}` }}>
              <VirtualList
                items={items}
                heightOf={heightOf}
                keyOf={keyOf}
                label={texts.itemsTitle}
                currentKey={current === undefined ? undefined : String(current)}
                onNearEnd={() => void loadMore()}
                render={(item) => <ItemRow item={item} isCurrent={item.item === current} href={hrefOf(item.item)} />}
              />
            </div>
            {current !== undefined && <ItemDetails key={current} runId={runId} node={node} index={current} />}
          </section>
        );
      }}
    </Loaded>
  );
}

function ItemRow({ item, isCurrent, href }: { item: RunItem; isCurrent: boolean; href: string }) {
  const { word, tone } = describeNode(item.status);
  return (
    <a class="item-row" href={href} aria-current={isCurrent ? "true" : undefined}>
      <span class="number quiet">{item.item + 1}</span>
      <span class={`graph-state ${tone}`}>{word}</span>
      <span class="item-text" dir="auto">
        {item.error?.message.slice(0, SHOWN_CHARACTERS) ?? describeItem(item.value)}
      </span>
    </a>
  );
}

/** Return an item in one line; nothing if the log does not have it. */
function describeItem(value: unknown): string {
  if (value === null || value === undefined) return "";
  const size = readSize(value);
  return size === undefined ? formatFieldText(value).slice(0, SHOWN_CHARACTERS) : texts.large(size);
}

/** One item with its value, its outputs and its error. */
function ItemDetails({ runId, node, index }: { runId: string; node: string; index: number }) {
  const resource = useResource(
    `item ${runId} ${node} ${index}`,
    async (signal) => {
      const query = { node, after: index - 1, limit: 1 };
      const page = await api.get("/api/runs/{run_id}/items", { path: { run_id: runId }, query, signal });
      return page.items.find((item) => item.item === index) ?? null;
    },
    (change) => isItemChange(change, runId, node),
  );
  return (
    <Loaded resource={resource}>
      {(item) =>
        item ? (
          <div class="item-details">
            <h4>
              {texts.itemTitle(index + 1)}
              {item.duration_ms !== null && (
                <span class="quiet small"> {texts.itemTook(formatDuration(item.duration_ms))}</span>
              )}
            </h4>
            {item.error && (
              <div class="failure">
                <ErrorMessage text={item.error.message} />
                {item.error.hint && <p dir="auto">{markCode(item.error.hint)}</p>}
              </div>
            )}
            <h5>{texts.itemValue}</h5>
            {item.value === null ? <p class="quiet">{texts.notStored}</p> : <ValueView value={item.value} />}
            {item.outputs !== null && item.outputs !== undefined && (
              <>
                <h5>{texts.outputs}</h5>
                <ValueView value={item.outputs} />
              </>
            )}
          </div>
        ) : (
          <p class="quiet">{texts.itemNotEnded}</p>
        )
      }
    </Loaded>
  );
}
