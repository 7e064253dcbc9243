import type { Signal } from "@preact/signals";
import { useId, useState } from "preact/hooks";
import { api } from "../api.ts";
import { toApiError } from "../api_error.ts";
import { Button, Tag } from "../components/controls.tsx";
import { Loaded } from "../components/states.tsx";
import { When } from "../components/time.tsx";
import { showError, showToast } from "../components/toasts.tsx";
import { useResource } from "../resource.ts";
import { formatPath, navigate } from "../router.ts";
import { strings } from "../strings.ts";
import { ComparePanel } from "./compare_panel.tsx";

const texts = strings.universe;
const PAGE = 50;
const MOST_ENTRIES = 1_000; // of one request
const MOST_REFUSED = 5;
const SEND_TOOL = "send_universe_command";

interface LogProps {
  universe: string;
  /** The present version. */
  current: number;
  version: Signal<number | undefined>;
}

interface Entry {
  version: number;
  kind: string;
  at: string;
  author: string | null;
  command?: { type?: string; id?: string; payload?: object };
  events?: { type: string; reason?: string }[];
}

/** The log: every version can be looked at, restored, or the start of a branch. */
export function LogPanel({ universe, current, version }: LogProps) {
  const [count, setCount] = useState(PAGE);
  const id = useId();
  const shown = version.value ?? current;
  const path = { universe_id: universe };
  const after = Math.max(0, current - count);
  const subject = `history ${universe}`;
  const history = useResource(
    `${subject} ${current} ${count}`,
    (signal) => loadEntries(universe, after, current, signal),
    undefined,
    subject,
  );
  async function change(run: () => Promise<unknown>, done: string): Promise<void> {
    try {
      await run();
      version.value = undefined;
      showToast(done);
    } catch (thrown) {
      showError(toApiError(thrown));
    }
  }
  const undo = () => change(() => api.post("/api/universes/{universe_id}/undo", { path }), texts.undone);
  const restore = (to: number) =>
    change(() => api.post("/api/universes/{universe_id}/restore", { path, body: { version: to } }), texts.restored(to));
  async function branch(from: number): Promise<void> {
    try {
      const made = await api.post("/api/universes/{universe_id}/branch", {
        path,
        query: { return: "record" },
        body: { version: from },
      });
      navigate(formatPath("/universes/{id}", { id: (made as unknown as { id: string }).id }));
    } catch (thrown) {
      showError(toApiError(thrown));
    }
  }
  return (
    <section class="panel-section" aria-label={texts.tabs.log}>
      <div class="field">
        <label for={id}>{texts.scrub(shown, current)}</label>
        <input
          id={id}
          type="range"
          min={1}
          max={current}
          value={shown}
          onInput={(event) => {
            const to = Number(event.currentTarget.value);
            version.value = to === current ? undefined : to;
          }}
        />
      </div>
      {version.value !== undefined && <p class="note-box small">{texts.past(shown)}</p>}
      <div class="tags">
        {version.value === undefined ? (
          <Button onClick={() => void undo()} isDisabled={current < 2}>
            {texts.undo}
          </Button>
        ) : (
          <>
            <Button onClick={() => void restore(shown)}>{texts.restore(shown)}</Button>
            <Button
              kind="quiet"
              onClick={() => {
                version.value = undefined;
              }}
            >
              {texts.toPresent}
            </Button>
          </>
        )}
        <Button onClick={() => void branch(shown)}>{texts.branch(shown)}</Button>
      </div>
      <Loaded resource={history}>
        {(entries) => (
          <ol class="log-list" aria-label={texts.tabs.log}>
            {entries.map((entry) => (
              <li key={entry.version} class={entry.version === shown ? "current" : ""}>
                <button
                  type="button"
                  onClick={() => {
                    version.value = entry.version === current ? undefined : entry.version;
                  }}
                >
                  <span class="mono quiet">{entry.version}</span>{" "}
                  <span class="mono small" dir="auto">
                    {describeEntry(entry)}
                  </span>
                </button>
                <span class="quiet small" dir="auto">
                  {entry.author ?? texts.unknown}, <When at={entry.at} />
                </span>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
      {after > 0 && <Button onClick={() => setCount(count + PAGE)}>{texts.earlier}</Button>}
      <Refused />
      <ComparePanel universe={universe} />
    </section>
  );
}

/** Return the entries after a version up to another, the last one first. */
async function loadEntries(universe: string, after: number, to: number, signal: AbortSignal): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let from = after; from < to; from += MOST_ENTRIES) {
    const reply = await api.get("/api/universes/{universe_id}/history", {
      path: { universe_id: universe },
      query: { after: from, limit: Math.min(to - from, MOST_ENTRIES) },
      signal,
    });
    entries.push(...(reply as unknown as { entries: Entry[] }).entries);
  }
  return entries.reverse();
}

/** Return what an entry did: its command with the fields it changed, or how the state came about. */
export function describeEntry(entry: Entry): string {
  const { command, events } = entry;
  if (!command?.type) return events?.[0]?.reason ?? entry.kind;
  const fields = Object.keys(command.payload ?? {});
  return [command.type, command.id, fields.length ? `(${fields.slice(0, 4).join(", ")})` : ""]
    .filter(Boolean)
    .join(" ");
}

/** The last commands of agents that were refused, in any universe, with the reason. The log has only those that took effect. */
function Refused() {
  const calls = useResource(
    "refused commands",
    (signal) => api.get("/api/calls", { query: { limit: 100 }, signal }),
    (change) => change.kind === "call" && change.tool === SEND_TOOL,
  );
  const refused = (calls.value.value?.calls ?? []).filter((call) => call.tool === SEND_TOOL && call.error);
  if (!refused.length) return null;
  return (
    <div>
      <h3>{texts.refused}</h3>
      <ul class="log-list">
        {refused.slice(0, MOST_REFUSED).map((call) => (
          <li key={`${call.at} ${call.error}`}>
            <span dir="auto">
              <Tag tone="no">{texts.refusedTag}</Tag> {call.error}
            </span>
            <span class="quiet small" dir="auto">
              {call.client ?? texts.unknown}, <When at={call.at} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
