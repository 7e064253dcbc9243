import type { Signal } from "@preact/signals";
import { useEffect, useId, useState } from "preact/hooks";
import { describeAuthor } from "../common/actor_words.ts";
import { Button, Tag } from "../common/controls.tsx";
import { Loaded } from "../common/states.tsx";
import { When } from "../common/time.tsx";
import { api } from "../data/api.ts";
import type { Actor } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { branchAt, restoreVersion, undoLastChange } from "./actions.ts";
import { ComparePanel } from "./compare_panel.tsx";
import { universeTexts } from "./strings.ts";

const texts = universeTexts.universe;
const PAGE = 50;
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
  actor?: Actor | null;
  command?: { type?: string; id?: string; payload?: object };
  events?: { type: string; reason?: string }[];
}

/** The log: every version can be looked at, restored, or the start of a branch. */
export function LogPanel({ universe, current, version }: LogProps) {
  const [chosenEnd, setChosenEnd] = useState<number>();
  const id = useId();
  const shown = version.value ?? current;
  const end = Math.min(chosenEnd ?? findEnd(shown, current), current);
  const after = Math.max(0, end - PAGE);
  const subject = `history ${universe}`;
  const history = useResource(
    `${subject} ${after} ${end}`,
    (signal) => loadEntries(universe, after, end - after, signal),
    undefined,
    subject,
  );
  useEffect(() => setChosenEnd(undefined), [shown]);
  async function restore(to: number): Promise<void> {
    if (await restoreVersion(universe, to)) version.value = undefined;
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
          <Button onClick={() => void undoLastChange(universe)} isDisabled={current < 2}>
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
        <Button onClick={() => void branchAt(universe, shown)}>{texts.branch(shown)}</Button>
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
                  {describeAuthor(entry.author, entry.actor)}, <When at={entry.at} />
                </span>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
      <div class="tags">
        {after > 0 && <Button onClick={() => setChosenEnd(after)}>{texts.earlier}</Button>}
        {end < current && <Button onClick={() => setChosenEnd(end + PAGE)}>{texts.later}</Button>}
      </div>
      <Refused universe={universe} />
      <ComparePanel universe={universe} />
    </section>
  );
}

/** Return the last version of the page of the log that has a version: the last page, or one about the version. */
export function findEnd(shown: number, current: number): number {
  return shown > current - PAGE ? current : Math.min(current, Math.max(PAGE, shown + PAGE / 2));
}

/** Return entries after a version, the last one first. */
async function loadEntries(universe: string, after: number, limit: number, signal: AbortSignal): Promise<Entry[]> {
  const reply = await api.get("/api/universes/{universe_id}/history", {
    path: { universe_id: universe },
    query: { after, limit: Math.max(limit, 1) },
    signal,
  });
  return (reply as unknown as { entries: Entry[] }).entries.reverse();
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

/** The last commands of agents that this universe refused, with the reason. The log has only those that took effect. */
function Refused({ universe }: { universe: string }) {
  const query = { tool: SEND_TOOL, about: universe, failed: true, limit: MOST_REFUSED };
  const calls = useResource(
    `refused commands ${universe}`,
    (signal) => api.get("/api/calls", { query, signal }),
    (change) => change.kind === "call" && change.tool === SEND_TOOL,
  );
  const refused = calls.value.value?.calls ?? [];
  if (!refused.length) return null;
  return (
    <div>
      <h3>{texts.refused}</h3>
      <ul class="log-list">
        {refused.map((call) => (
          <li key={`${call.at} ${call.error}`}>
            <span dir="auto">
              <Tag tone="no">{texts.refusedTag}</Tag> {call.message ?? call.error}
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
