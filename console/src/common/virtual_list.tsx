import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

const SPARE_PX = 400;

/** Return the indexes [first, last) of the items between two heights; `ends` are the lower edges of the items. */
export function findVisible(ends: Float64Array, top: number, bottom: number): [number, number] {
  return [findIndex(ends, top), Math.min(ends.length, findIndex(ends, bottom) + 1)];
}

/** Return the index of the first item whose lower edge is below `height`. */
function findIndex(ends: Float64Array, height: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] ?? 0) > height) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Props<T> {
  items: readonly T[];
  /** The height of an item in pixels, known without drawing it. */
  heightOf: (item: T) => number;
  keyOf: (item: T) => string;
  label: string;
  render: (item: T, index: number) => ComponentChildren;
  /** The item to keep in view, such as the selected one. */
  currentKey?: string | undefined;
  /** Called when the end of the list comes near, to load more. */
  onNearEnd?: (() => void) | undefined;
  /** The name under which the place in the list is remembered for the next visit. */
  placeKey?: string | undefined;
}

const places = new Map<string, number>();

/** A list that draws only the rows in view, so that ten thousand cost as much as ten. */
export function VirtualList<T>({ items, heightOf, keyOf, label, render, currentKey, onNearEnd, placeKey }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const ends = useMemo(() => {
    const found = new Float64Array(items.length);
    let total = 0;
    for (const [index, item] of items.entries()) {
      total += heightOf(item);
      found[index] = total;
    }
    return found;
  }, [items, heightOf]);
  const total = ends[ends.length - 1] ?? 0;
  /** The place to return to, until the list is long enough for it or somebody scrolls. */
  const wanted = useRef<number>(undefined);
  const restored = useRef(0);

  function restore(): void {
    const element = box.current;
    if (!element || wanted.current === undefined) return;
    element.scrollTop = wanted.current;
    restored.current = element.scrollTop;
    if (element.scrollTop > wanted.current - 1) wanted.current = undefined;
  }

  function measure(): void {
    const element = box.current;
    if (!element) return;
    if (placeKey && wanted.current === undefined) places.set(placeKey, element.scrollTop);
    setView((last) =>
      last.top === element.scrollTop && last.height === element.clientHeight
        ? last
        : { top: element.scrollTop, height: element.clientHeight },
    );
  }

  useLayoutEffect(() => {
    const element = box.current;
    if (!element || typeof ResizeObserver === "undefined") return;
    if (placeKey) wanted.current = places.get(placeKey) ?? 0;
    restore();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [placeKey]);

  useLayoutEffect(restore, [total]); // the rest of a long list comes later

  // Keep the current item in view when it changes or arrives, not when the list around it changes.
  const index = useMemo(
    () => (currentKey === undefined ? -1 : items.findIndex((item) => keyOf(item) === currentKey)),
    [items, keyOf, currentKey],
  );
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || index < 0) return;
    const bottom = ends[index] ?? 0;
    const top = ends[index - 1] ?? 0;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
    measure();
  }, [currentKey, index < 0]);

  const [first, last] = findVisible(ends, view.top - SPARE_PX, view.top + view.height + SPARE_PX);
  const isNearEnd = last >= items.length;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, items.length, onNearEnd]);

  return (
    <div
      class="virtual-list"
      ref={box}
      onScroll={(event) => {
        if (event.currentTarget.scrollTop !== restored.current) wanted.current = undefined;
        measure();
      }}
    >
      <ul aria-label={label} style={{ height: `${total}px` }}>
        {items.slice(first, last).map((item, offset) => {
          const position = first + offset;
          return (
            <li
              key={keyOf(item)}
              aria-posinset={position + 1}
              aria-setsize={items.length}
              style={{ top: `${ends[position - 1] ?? 0}px`, height: `${heightOf(item)}px` }}
            >
              {render(item, position)}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
