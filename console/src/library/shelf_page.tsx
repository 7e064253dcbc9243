import { useEffect, useState } from "preact/hooks";
import { Button, Select } from "../common/controls.tsx";
import { Icon } from "../common/icon.tsx";
import { EmptyState, ErrorNote, ErrorState, LoadingState } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { api } from "../data/api.ts";
import type { PaperSearchPage, YearCount } from "../data/api_types.ts";
import { useKeys } from "../data/keys.ts";
import { useResource } from "../data/resource.ts";
import { query as addressQuery, navigate, type Params } from "../data/router.ts";
import { ActiveFilters, FilterPane } from "./filter_pane.tsx";
import { HitList } from "./hit_list.tsx";
import {
  type FilterName,
  formatLibraryQuery,
  KINDS,
  type LibraryQuery,
  makePaperAddress,
  makeShelfAddress,
  NO_QUERY,
  readLibraryQuery,
  SORTS,
} from "./library_query.ts";
import { CollectionLinks, NoteListView, useNotes } from "./note_list.tsx";
import { libraryTexts } from "./strings.ts";

const texts = libraryTexts.library;
const PAGE = 20;
const FACET_VALUES = 30;
const SORT_CHOICES = SORTS.map((value) => ({ value, label: texts.sorts[value] }));

/** A shelf: search as you type, filters, and the passages found. */
export function ShelfPage({ params }: { params: Params }) {
  const shelf = params.shelf ?? "";
  const query = readLibraryQuery(addressQuery.value);
  const notes = addressQuery.value.get("notes");
  const noteList = useNotes(shelf, "");
  const ownNotes = noteList.value.value;
  const found = useSearch(shelf, query);
  const years = useYears(shelf, query, found.page);
  const [isOpen, setOpen] = useState(false);
  const [current, setCurrent] = useState<number>();
  const address = formatLibraryQuery(query);
  useEffect(() => setCurrent(undefined), [shelf, address]);
  const change = (changes: Partial<LibraryQuery>, { replace = false } = {}) =>
    navigate(makeShelfAddress(shelf, { ...query, offset: 0, ...changes }), { replace });
  const setFilter = (name: FilterName, value: string | undefined) => {
    const { [name]: _, ...others } = query.filters;
    change({ filters: value ? { ...others, [name]: value } : others });
  };
  const hits = found.page?.results ?? [];
  const move = (step: number) => {
    const next = Math.min(hits.length - 1, Math.max(0, (current ?? -1) + step));
    setCurrent(next);
    document.querySelectorAll<HTMLElement>(".hit-title a")[next]?.focus();
  };
  useKeys(commonTexts.pages.library, [
    { keys: "/", label: texts.keys.find, run: () => document.getElementById("library-find")?.focus() },
    { keys: "j", label: texts.keys.next, run: () => move(1) },
    { keys: "k", label: texts.keys.previous, run: () => move(-1) },
    {
      keys: "Enter",
      label: texts.keys.open,
      run: () => {
        const hit = hits[current ?? 0];
        if (hit) navigate(makePaperAddress(shelf, hit.paper_id, query, hit.offset));
      },
    },
    {
      keys: "Escape",
      label: texts.keys.back,
      run: () => navigate("/library"),
    },
  ]);
  const count = Object.keys(query.filters).length;
  return (
    <div class="shelf-page">
      <header class="shelf-head">
        <a href="/library" class="up-link">
          <Icon name="back" />
          {commonTexts.pages.library}
        </a>
        <h1 dir="auto">{shelf}</h1>
      </header>
      <div class={isOpen ? "shelf-panes is-open" : "shelf-panes"}>
        <div class="shelf-main">
          <search class="shelf-find">
            <input
              id="library-find"
              type="search"
              aria-label={texts.find}
              placeholder={texts.findHint}
              maxLength={500}
              value={query.q}
              onInput={(event) => change({ q: event.currentTarget.value }, { replace: true })}
            />
            <Select
              label={texts.sort}
              value={query.sort}
              choices={SORT_CHOICES}
              onChange={(sort) => change({ sort })}
            />
            <button
              class="button filter-toggle"
              type="button"
              aria-expanded={isOpen}
              aria-controls="library-filters"
              onClick={() => setOpen(!isOpen)}
            >
              {texts.filters(count)}
            </button>
          </search>
          <ActiveFilters query={query} onFilter={setFilter} />
          {found.error && found.page && <ErrorNote error={found.error} onRetry={found.retry} />}
          {found.error && !found.page && <ErrorState error={found.error} onRetry={found.retry} />}
          {!found.error && !found.page && notes === null && <LoadingState />}
          {notes !== null && <NoteListView key={notes} shelf={shelf} collection={notes} />}
          {found.page && notes === null && (
            <Results shelf={shelf} query={query} page={found.page} current={current} onChange={change} />
          )}
        </div>
        <aside id="library-filters" class="shelf-filters" aria-label={texts.filterPane}>
          {ownNotes && <CollectionLinks shelf={shelf} notes={ownNotes} current={notes} />}
          {/* Links that arrived later would move the filters */}
          {found.page && (ownNotes || noteList.error.value) && (
            <FilterPane query={query} page={found.page} years={years} onFilter={setFilter} />
          )}
        </aside>
      </div>
    </div>
  );
}

function Results(props: {
  shelf: string;
  query: LibraryQuery;
  page: PaperSearchPage;
  current: number | undefined;
  onChange: (changes: Partial<LibraryQuery>) => void;
}) {
  const { shelf, query, page, onChange } = props;
  const { did_you_mean: meant, interpreted_query: read } = page;
  const end = page.offset + page.results.length;
  return (
    <>
      <p class="result-count" role="status">
        {texts.results(page.total)}
        {meant && page.results.length > 0 && (
          <span>
            {" · "}
            <Meant words={meant} onChange={onChange} />
          </span>
        )}
      </p>
      {read.ignored.map((note) => (
        <p key={note} class="quiet small" dir="auto">
          {note}
        </p>
      ))}
      {page.results.length ? (
        <HitList shelf={shelf} query={query} hits={page.results} current={props.current} />
      ) : (
        <NothingFound query={query} meant={meant} suggestions={page.suggestions ?? []} onChange={onChange} />
      )}
      {page.more && <p class="quiet small">{page.more}</p>}
      {(page.offset > 0 || page.next_offset !== null) && (
        <nav class="pager" aria-label={texts.pages}>
          <Button isDisabled={page.offset === 0} onClick={() => onChange({ offset: Math.max(0, page.offset - PAGE) })}>
            {texts.previous}
          </Button>
          <span class="quiet small">{texts.page(page.offset + 1, end, page.total)}</span>
          <Button isDisabled={page.next_offset === null} onClick={() => onChange({ offset: page.next_offset ?? 0 })}>
            {texts.next}
          </Button>
        </nav>
      )}
      <Syntax />
    </>
  );
}

/** The words that were probably meant, as a link that searches for them. */
function Meant({ words, onChange }: { words: string; onChange: (changes: Partial<LibraryQuery>) => void }) {
  return (
    <>
      {texts.didYouMean}{" "}
      <button class="link-button" type="button" onClick={() => onChange({ q: words })}>
        {words}
      </button>
      ?
    </>
  );
}

export function NothingFound(props: {
  query: LibraryQuery;
  meant: string | null | undefined;
  suggestions: readonly string[];
  onChange: (changes: Partial<LibraryQuery>) => void;
}) {
  const { query, meant, onChange } = props;
  const words = query.q.split(/\s+/).filter(Boolean).length;
  const filters = Object.keys(query.filters).length;
  if (!words && !filters && !query.offset) return <EmptyState title={texts.emptyShelf} hint={texts.emptyShelfHint} />;
  return (
    <EmptyState title={texts.nothing} hint={texts.nothingHint(words, filters)}>
      {meant && (
        <p>
          <Meant words={meant} onChange={onChange} />
        </p>
      )}
      {props.suggestions
        .filter((suggested) => suggested !== meant)
        .map((suggested) => (
          <Button key={suggested} kind="quiet" onClick={() => onChange({ q: suggested })}>
            {suggested}
          </Button>
        ))}
      <Button onClick={() => onChange(NO_QUERY)}>{texts.clear}</Button>
    </EmptyState>
  );
}

function Syntax() {
  return (
    <details class="more">
      <summary>{texts.syntax}</summary>
      <dl class="syntax">
        {texts.syntaxRows.map(([example, meaning]) => (
          <div key={example}>
            <dt class="mono">{example}</dt>
            <dd class="quiet">{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

/** Use the results of a search. The last ones stay until the next arrive; a request that is out of date is aborted. */
function useSearch(shelf: string, query: LibraryQuery) {
  const resource = useResource(
    `search ${shelf} ${formatLibraryQuery(query)}`,
    (signal) =>
      api.get("/api/shelves/{shelf}/search", {
        path: { shelf },
        query: {
          q: query.q,
          sort: query.sort,
          ...query.filters,
          limit: PAGE,
          offset: query.offset,
          facets: [...KINDS],
          facet_limit: FACET_VALUES,
          years: true,
        },
        signal,
      }),
    (change) => change.kind === "shelf",
    `search ${shelf}`,
  );
  return { page: resource.value.value, error: resource.error.value, retry: resource.reload };
}

/** Use the number of papers of each year, also of years that the filter leaves out. */
function useYears(shelf: string, query: LibraryQuery, page: PaperSearchPage | undefined): readonly YearCount[] {
  const { year, ...others } = query.filters;
  const words = { ...query, filters: others, offset: 0 };
  const resource = useResource(`years ${shelf} ${year ? formatLibraryQuery(words) : ""}`, async (signal) =>
    year
      ? api.get("/api/shelves/{shelf}/search", {
          path: { shelf },
          query: { q: query.q, ...others, limit: 1, years: true },
          signal,
        })
      : undefined,
  );
  return (year ? resource.value.value?.years : page?.years) ?? page?.years ?? [];
}
