import { useId, useMemo, useState } from "preact/hooks";
import { strings } from "../strings.ts";
import { Key } from "./controls.tsx";
import { Dialog } from "./dialog.tsx";

export interface PaletteEntry {
  label: string;
  /** The keys that do the same. */
  keys?: string;
  run(): void;
}

/** Return the entries whose label has all words of the query, those that begin with it first. */
export function filterEntries(entries: readonly PaletteEntry[], query: string): PaletteEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = entries.filter((one) => words.every((word) => one.label.toLowerCase().includes(word)));
  const start = query.trim().toLowerCase();
  const rank = (one: PaletteEntry) => (one.label.toLowerCase().startsWith(start) ? 0 : 1);
  return matching.sort((a, b) => rank(a) - rank(b));
}

/** Find a page or a command by typing. */
export function Palette({ entries, onClose }: { entries: readonly PaletteEntry[]; onClose: () => void }) {
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const found = useMemo(() => filterEntries(entries, query), [entries, query]);
  const current = Math.min(chosen, Math.max(0, found.length - 1));

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
    <Dialog title={strings.palette.label} onClose={onClose} kind="palette">
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label={strings.palette.label}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={found.length ? `${id}-${current}` : undefined}
        autocomplete="off"
        spellcheck={false}
        placeholder={strings.palette.placeholder}
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={handleKey}
      />
      <div id={`${id}-list`} class="palette-list" role="listbox" aria-label={strings.palette.results(found.length)}>
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the text field
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field
          <div
            key={entry.label}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === current}
            class={index === current ? "palette-entry chosen" : "palette-entry"}
            onClick={() => run(entry)}
          >
            <span dir="auto">{entry.label}</span>
            {entry.keys && (
              <span class="key-hint" aria-hidden="true">
                {entry.keys.split(" ").map((key) => (
                  <Key key={key}>{key}</Key>
                ))}
              </span>
            )}
          </div>
        ))}
      </div>
      {!found.length && <p class="palette-nothing quiet">{strings.palette.nothing}</p>}
    </Dialog>
  );
}
