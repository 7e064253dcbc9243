import { useState } from "preact/hooks";
import { Button, Tag } from "../common/controls.tsx";
import { Loaded } from "../common/states.tsx";
import { api } from "../data/api.ts";
import { useResource } from "../data/resource.ts";
import { OriginDialog } from "./origin_dialog.tsx";
import { findOnShelf, makePaperAddress, type Source } from "./shelf_papers.ts";
import { universeTexts } from "./strings.ts";
import {
  describePlanetMass,
  formatQuantity,
  nameField,
  numberSources,
  SOLAR_MASSES,
  splitFields,
  tagStatus,
  type Value,
} from "./value_origins.ts";

const texts = universeTexts.universe;

interface BodyProps {
  universe: string;
  body: string;
  version: number;
}

interface BodyData {
  name: string;
  type: string;
  fields: Record<string, Value>;
  sources: Source[];
}

/** The values of a body, each with the number of its source, and the sources. */
export function BodyValues(props: BodyProps & { onFollow: () => void; isFollowed: boolean }) {
  const { universe, body, version } = props;
  const subject = `values ${universe} ${body}`;
  const values = useResource(`${subject} ${version}`, (signal) => loadValues(props, signal), undefined, subject);
  const [field, setField] = useState<string>();
  return (
    <section class="panel-section" aria-label={texts.body}>
      <Loaded resource={values}>
        {(found) => {
          const [main, rest] = splitFields(found.fields);
          const numbers = numberSources(found.fields);
          const rows = (list: [string, Value][]) => (
            <ul class="body-values">
              {list.map(([name, value]) => (
                <ValueRow key={name} name={name} value={value} numbers={numbers} onOpen={() => setField(name)} />
              ))}
            </ul>
          );
          return (
            <>
              <header class="panel-head">
                <h2 dir="auto">{found.name}</h2>
                {found.type && <Tag>{found.type}</Tag>}
                <Button kind="quiet" onClick={props.onFollow} keyHint="f">
                  {props.isFollowed ? texts.unfollow : texts.follow}
                </Button>
              </header>
              {rows(main)}
              {rest.length > 0 && (
                <details>
                  <summary>{texts.moreValues(rest.length)}</summary>
                  {rows(rest)}
                </details>
              )}
              <SourceList sources={found.sources} numbers={numbers} />
            </>
          );
        }}
      </Loaded>
      {field !== undefined && <OriginDialog {...props} field={field} onClose={() => setField(undefined)} />}
    </section>
  );
}

async function loadValues({ universe, body, version }: BodyProps, signal: AbortSignal): Promise<BodyData> {
  const path = { universe_id: universe };
  const [cited, state] = await Promise.all([
    api.get("/api/universes/{universe_id}/cite", { path, query: { body, version }, signal }),
    api.get("/api/universes/{universe_id}", { path, query: { ids: [body], version }, signal }),
  ]);
  const { stars } = (state as { state?: { stars?: Record<string, { bodyType?: string }> } }).state ?? {};
  return { ...(cited as Omit<BodyData, "type">), type: stars?.[body]?.bodyType ?? "" };
}

function ValueRow(props: { name: string; value: Value; numbers: Map<string, number>; onOpen: () => void }) {
  const { name, value, numbers, onOpen } = props;
  const tag = tagStatus(value.status);
  const planet = value.unit === SOLAR_MASSES ? describePlanetMass(value.value) : undefined;
  const label = nameField(name);
  const number = value.sources.map((id) => numbers.get(id)).join(", ") || "?";
  return (
    <li class={value.status === "unverified claim" ? "unverified" : ""}>
      <span>{label}</span>
      <span class="mono small value">
        {formatQuantity(value.value, value.unit)}
        {planet && <span class="same-value">{planet}</span>}
      </span>
      <button type="button" class="source-number" aria-label={texts.originOf(number, label)} onClick={onOpen}>
        {number}
      </button>
      {(tag || value.mark) && (
        <span class="value-mark small">
          {tag && !(value.mark && value.status === "set") && <Tag tone={tag.tone}>{tag.word}</Tag>}{" "}
          <span class="quiet" dir="auto">
            {value.mark}
          </span>
        </span>
      )}
    </li>
  );
}

/** The publications of the values, by number, with those on a shelf as links. */
function SourceList({ sources, numbers }: { sources: readonly Source[]; numbers: Map<string, number> }) {
  const used = sources.filter((source) => numbers.has(source.id));
  used.sort((a, b) => (numbers.get(a.id) ?? 0) - (numbers.get(b.id) ?? 0));
  if (!used.length) return <p class="quiet small">{texts.noSources}</p>;
  return (
    <div class="source-list">
      <h3>{texts.sources}</h3>
      <ol>
        {used.map((source) => (
          <li key={source.id} value={numbers.get(source.id)}>
            <span dir="auto">{source.shortCitation}</span>{" "}
            <cite class="foreign" dir="auto">
              {source.title}
            </cite>{" "}
            <ShelfLink source={source} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function ShelfLink({ source }: { source: Source }) {
  const found = useResource(`on shelf ${source.doi} ${source.arxiv}`, async (signal) => {
    const paper = await findOnShelf(source, signal);
    return paper ? { ...paper, address: await makePaperAddress(paper, undefined, signal) } : null;
  }).value.value;
  if (!found) return null;
  return (
    <a class="tag accent" href={found.address}>
      {texts.onShelf(found.shelf)}
    </a>
  );
}
