import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { Key } from "../common/controls.tsx";
import { Dialog } from "../common/dialog.tsx";
import { nameKeys } from "../data/keys.ts";
import { useSettled } from "../data/settled.ts";
import { frameTexts } from "./strings.ts";

export interface PaletteEntry {
  label: string;
  /** The keys that do the same. */
  keys?: string;
  /** The heading above the entry. */
  group?: string;
  /** Distinguishes entries with the same label within a group. */
  key?: string;
  /** A quiet line below the label. */
  detail?: string;
  /** Only offered when something is typed: one of many. */
  isTyped?: boolean;
  /** The label has the words of a paper. */
  isForeign?: boolean;
  run(): void;
}

/** Finds entries that are not known beforehand, and shows them as they arrive. */
export type FindEntries = (
  words: string,
  signal: AbortSignal,
  show: (entries: PaletteEntry[]) => void,
) => Promise<void>;

const SHORTEST = 2;

/** Return the entries whose label has all words of the query, those that begin with it first. */
export function filterEntries(entries: readonly PaletteEntry[], query: string): PaletteEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const offered = words.length ? entries : entries.filter((one) => !one.isTyped);
  const matching = offered.filter((one) => words.every((word) => one.label.toLowerCase().includes(word)));
  const start = query.trim().toLowerCase();
  const rank = (one: PaletteEntry) => (one.label.toLowerCase().startsWith(start) ? 0 : 1);
  return matching.sort((a, b) => rank(a) - rank(b));
}

/** Return the entries in groups, in the order in which the groups first appear. */
function groupEntries(entries: readonly PaletteEntry[]): [string, PaletteEntry[]][] {
  const groups = new Map<string, PaletteEntry[]>();
  for (const entry of entries) {
    const group = entry.group ?? "";
    groups.set(group, [...(groups.get(group) ?? []), entry]);
  }
  return [...groups];
}

/** Find a page, a command or anything on the server by typing. */
export function Palette(props: { entries: readonly PaletteEntry[]; find?: FindEntries; onClose: () => void }) {
  const { entries, onClose } = props;
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const remote = useRemoteEntries(query, props.find);
  const groups = useMemo(
    () => groupEntries([...filterEntries(entries, query), ...remote.entries]),
    [entries, query, remote.entries],
  );
  const found = groups.flatMap(([, ofGroup]) => ofGroup);
  const current = Math.min(chosen, Math.max(0, found.length - 1));
  useEffect(() => {
    list.current?.querySelector(".chosen")?.scrollIntoView?.({ block: "nearest" });
  }, [current]);

  function run(entry: PaletteEntry | undefined): void {
    if (!entry) return;
    onClose();
    entry.run();
  }
  function handleKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setChosen((current + step + found.length) % Math.max(1, found.length));
    } else if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault();
      run(found[current]);
    }
  }

  return (
    <Dialog title={frameTexts.palette.label} onClose={onClose} kind="palette">
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label={frameTexts.palette.label}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length ? `${id}-${current}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={500}
        placeholder={frameTexts.palette.placeholder}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={handleKey}
      />
      <div
        id={`${id}-list`}
        ref={list}
        class="palette-list"
        role="listbox"
        aria-label={frameTexts.palette.results(found.length)}
      >
        {groups.map(([group, ofGroup]) => (
          <div key={group} role="group" aria-label={group || frameTexts.palette.label}>
            {group && (
              <p class="palette-group" aria-hidden="true">
                {group}
              </p>
            )}
            {ofGroup.map((entry) => {
              const index = found.indexOf(entry);
              return (
                <Option
                  key={entry.key ?? entry.label}
                  id={`${id}-${index}`}
                  entry={entry}
                  isChosen={index === current}
                  onRun={() => run(entry)}
                />
              );
            })}
          </div>
        ))}
      </div>
      <p class="palette-nothing quiet" role="status">
        {remote.isLoading ? frameTexts.palette.searching : found.length ? "" : frameTexts.palette.nothing}
      </p>
    </Dialog>
  );
}

function Option(props: { id: string; entry: PaletteEntry; isChosen: boolean; onRun: () => void }) {
  const { entry } = props;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field
    <div
      id={props.id}
      role="option"
      aria-selected={props.isChosen}
      class={props.isChosen ? "palette-entry chosen" : "palette-entry"}
      onClick={props.onRun}
    >
      <span class="palette-words">
        <span class={entry.isForeign ? "palette-label foreign" : "palette-label"} dir="auto">
          {entry.label}
        </span>
        {entry.detail && (
          <span class="palette-detail quiet small" dir="auto">
            {entry.detail}
          </span>
        )}
      </span>
      {entry.keys && (
        <span class="key-hint" aria-hidden="true">
          {nameKeys(entry.keys).map((key) => (
            <Key key={key}>{key}</Key>
          ))}
        </span>
      )}
    </div>
  );
}

/** Use what is found on the server for a query. A query that is out of date is aborted. */
function useRemoteEntries(query: string, find: FindEntries | undefined) {
  const [found, setFound] = useState<{ words: string; entries: readonly PaletteEntry[] }>({ words: "", entries: [] });
  const [isLoading, setLoading] = useState(false);
  const words = query.trim();
  const settled = useSettled(words);
  useEffect(() => {
    if (!find || settled.length < SHORTEST) {
      setLoading(false);
      return;
    }
    const abort = new AbortController();
    const end = () => {
      if (!abort.signal.aborted) setLoading(false);
    };
    setLoading(true);
    find(settled, abort.signal, (entries) => setFound({ words: settled, entries })).then(end, end);
    return () => abort.abort();
  }, [settled, find]);
  const isPending = find !== undefined && words !== settled && words.length >= SHORTEST;
  return { entries: found.words === words ? found.entries : NOTHING, isLoading: isLoading || isPending };
}

const NOTHING: readonly PaletteEntry[] = [];
