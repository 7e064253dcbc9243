import type { ComponentChildren } from "preact";
import { Icon } from "./icon.tsx";
import { commonTexts } from "./strings.ts";

/**
 * The three panes of a page: list, detail, context. At phone width one of them is shown: the detail if `hasDetail`,
 * with a link back to the list.
 */
export function Panes(props: {
  list?: ComponentChildren;
  listLabel?: string;
  detail: ComponentChildren;
  context?: ComponentChildren;
  contextLabel?: string;
  hasDetail?: boolean;
  backTo?: string;
}) {
  const { list, listLabel, detail, context, contextLabel, hasDetail = true, backTo } = props;
  return (
    <div class={`panes${hasDetail ? " has-detail" : ""}${list ? " has-list" : ""}${context ? " has-context" : ""}`}>
      {list && (
        <section class="pane list-pane" aria-label={listLabel}>
          {list}
        </section>
      )}
      <div class="pane detail-pane">
        {backTo && list && (
          <a class="back-link" href={backTo}>
            <Icon name="back" />
            {commonTexts.actions.back}
          </a>
        )}
        {detail}
      </div>
      {context && (
        <aside class="pane context-pane" aria-label={contextLabel}>
          {context}
        </aside>
      )}
    </div>
  );
}

/** The part of a detail pane that scrolls; the decision bar below it does not move. */
export function Detail({ children, bar }: { children: ComponentChildren; bar?: ComponentChildren }) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <div class="detail" tabIndex={0} role="region" aria-label={commonTexts.states.details}>
        {children}
      </div>
      {bar && <div class="decision-bar">{bar}</div>}
    </>
  );
}

/** A page without panes. */
export function PlainPage({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="plain-page">
      <h1>{title}</h1>
      {children}
    </div>
  );
}

export function Card(props: { title: string; aside?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="card">
      <header>
        <h2>{props.title}</h2>
        {props.aside !== undefined && <span class="quiet">{props.aside}</span>}
      </header>
      {props.children}
    </section>
  );
}

interface Column {
  title: string;
  isNumber?: boolean;
  /** The title is for screen readers: buttons below it say what they do. */
  isTitleHidden?: boolean;
}

/** A table that becomes a list of definitions at phone width. */
export function Table(props: {
  label: string;
  columns: readonly Column[];
  rows: readonly (readonly ComponentChildren[])[];
}) {
  return (
    <table class="table" aria-label={props.label}>
      <thead>
        <tr>
          {props.columns.map((column) => (
            <th key={column.title} scope="col" class={column.isNumber ? "number" : ""}>
              <span class={column.isTitleHidden ? "visually-hidden" : ""}>{column.title}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, place) => (
              <td
                key={props.columns[place]?.title}
                data-title={props.columns[place]?.isTitleHidden ? "" : props.columns[place]?.title}
                class={props.columns[place]?.isNumber ? "number" : ""}
              >
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Names and values, one below the other. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
