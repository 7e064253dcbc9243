import { useState } from "preact/hooks";
import { Select } from "../common/controls.tsx";
import { Loaded } from "../common/states.tsx";
import { api } from "../data/api.ts";
import type { UniverseDifferences } from "../data/api_types.ts";
import { useResource } from "../data/resource.ts";
import { navigate, path as page, query } from "../data/router.ts";
import { universeTexts } from "./strings.ts";
import { formatQuantity } from "./value_origins.ts";

const texts = universeTexts.universe;
const MOST = 40;
const HIDDEN = /^(setBy|sources)\b/; // who set a value, and why, is in the log

/** Choose another universe: both are shown side by side, with what differs. */
export function ComparePanel({ universe }: { universe: string }) {
  const [chosen, setChosen] = useState(query.peek().get("with") ?? "");
  const universes = useResource("universes to compare", (signal) =>
    api.get("/api/universes", { query: { limit: 100 }, signal }),
  );
  function choose(id: string): void {
    setChosen(id);
    const next = new URLSearchParams(query.peek());
    if (id) next.set("with", id);
    else next.delete("with");
    navigate(`${page.peek()}?${next}`, { replace: true });
  }
  const others = (universes.value.value?.universes ?? []).filter((one) => one.id !== universe);
  if (!others.length) return null;
  return (
    <div class="compare">
      <Select
        label={texts.compare}
        value={chosen}
        choices={[
          { value: "", label: texts.noComparison },
          ...others.map((one) => ({ value: one.id, label: one.name })),
        ]}
        onChange={choose}
      />
      {chosen && <DifferenceList universe={universe} other={chosen} />}
    </div>
  );
}

function DifferenceList({ universe, other }: { universe: string; other: string }) {
  const found = useResource(
    `differences ${universe} ${other}`,
    (signal) =>
      api.get("/api/universes/{universe_id}/differences", {
        path: { universe_id: universe },
        query: { with: other },
        signal,
      }),
    (change) => change.kind === "universe" && [universe, other].includes(change.subject),
  );
  return (
    <Loaded resource={found}>
      {(reply) => {
        const lines = listDifferences(reply);
        if (reply.equal || !lines.length) return <p class="quiet">{texts.equal}</p>;
        return (
          <>
            <ul class="difference-list small">
              {lines.slice(0, MOST).map((line) => (
                <li key={line} dir="auto">
                  {line}
                </li>
              ))}
            </ul>
            {lines.length > MOST && <p class="quiet small">{texts.moreDifferences(lines.length - MOST)}</p>}
          </>
        );
      }}
    </Loaded>
  );
}

/** Return one line for each difference: what was added or removed, and the old and the new value of a field. */
export function listDifferences({ differences }: Pick<UniverseDifferences, "differences">): string[] {
  return Object.values(differences).flatMap((kind) => [
    ...kind.added.map((id) => texts.added(id)),
    ...kind.removed.map((id) => texts.removed(id)),
    ...Object.entries(kind.changed).flatMap(([id, fields]) =>
      Object.entries(fields)
        .filter(([field]) => !HIDDEN.test(field))
        .map(([field, pair]) => `${id} ${field}: ${describePair(pair)}`),
    ),
  ]);
}

function describePair([before, after]: unknown[]): string {
  return `${describeValue(before)} → ${describeValue(after)}`;
}

function describeValue(value: unknown): string {
  if (typeof value === "number" || typeof value === "string") return formatQuantity(value, "");
  return value === undefined || value === null ? texts.unknown : JSON.stringify(value).slice(0, 80);
}
