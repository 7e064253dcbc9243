import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { readQueryText } from "./strategy_edit.ts";
import { strategyTexts } from "./strings.ts";

const texts = strategyTexts.ladder;
/** The queries of a rung that are shown; the others are one click away. */
const SHOWN = 2;

interface PlannedQuery {
  boolean_query: string;
  words?: string;
  rung?: number;
}

interface Rung<Q> {
  rung: number;
  /** The queries of the rung, each with its index in the plan. */
  queries: { query: Q; index: number }[];
}

/** Return the queries by rung, the strictest rung first. */
function groupByRung<Q extends PlannedQuery>(queries: readonly Q[]): Rung<Q>[] {
  const rungs = new Map<number, Rung<Q>>();
  queries.forEach((query, index) => {
    const rung = query.rung ?? 0;
    const group = rungs.get(rung) ?? { rung, queries: [] };
    group.queries.push({ query, index });
    rungs.set(rung, group);
  });
  return [...rungs.values()].sort((one, other) => one.rung - other.rung);
}

/** The queries of a plan in the order in which a search climbs them. A single rung needs no name. */
export function Ladder<Q extends PlannedQuery>(props: {
  queries: readonly Q[];
  render: (query: Q, index: number) => ComponentChildren;
  /** What a rung did, if it had its turn. */
  describe?: (rung: number) => string;
}) {
  const rungs = groupByRung(props.queries);
  return (
    <>
      {rungs.map(({ rung, queries }, place) => {
        const outcome = props.describe?.(rung);
        const shown = queries.length > SHOWN + 1 ? SHOWN : queries.length; // no click for a single further query
        return (
          <section key={rung} class="rung">
            {rungs.length > 1 && (
              <h3 class="rung-title">
                {texts.rung(place, rungs.length)}
                {outcome && <span class="quiet small">{outcome}</span>}
              </h3>
            )}
            <QueryList queries={queries.slice(0, shown)} render={props.render} />
            {queries.length > shown && (
              <FoldedQueries count={queries.length - shown} isNew={queries.some(({ query }) => !readQueryText(query))}>
                <QueryList queries={queries.slice(shown)} render={props.render} />
              </FoldedQueries>
            )}
          </section>
        );
      })}
    </>
  );
}

function QueryList<Q extends PlannedQuery>(props: {
  queries: Rung<Q>["queries"];
  render: (query: Q, index: number) => ComponentChildren;
}) {
  return (
    <ol class="queries" start={(props.queries[0]?.index ?? 0) + 1}>
      {props.queries.map(({ query, index }) => (
        <li key={index}>{props.render(query, index)}</li>
      ))}
    </ol>
  );
}

/** Further queries of a rung, closed unless a new one is among them. */
function FoldedQueries(props: { count: number; isNew: boolean; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(props.isNew);
  useEffect(() => {
    if (props.isNew) setOpen(true);
  }, [props.isNew]);
  return (
    <details class="more folded" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{texts.moreQueries(props.count)}</summary>
      {isOpen && props.children}
    </details>
  );
}
