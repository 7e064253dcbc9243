import { useId, useState } from "preact/hooks";
import { Button, Select, Tag, TextField } from "../common/controls.tsx";
import { EmptyState } from "../common/states.tsx";
import { commonTexts } from "../common/strings.ts";
import { VirtualList } from "../common/virtual_list.tsx";
import type { PaperRow } from "../data/api_types.ts";
import { searchTexts } from "../searches/strings.ts";
import { toneOf } from "./paper_panel.tsx";
import { countFilters, type ReviewFilters } from "./review_filters.ts";
import type { ReviewStore } from "./review_store.ts";
import { reviewTexts } from "./strings.ts";

const texts = reviewTexts.review;
const ROW_HEIGHT = 104;
const heightOf = () => ROW_HEIGHT;
const keyOf = (row: PaperRow) => row.id;
const SORTS = (Object.entries(texts.sorts) as [ReviewFilters["sort"], string][]).map(([value, label]) => ({
  value,
  label,
}));
const STATUSES = (Object.entries(texts.statuses) as [ReviewFilters["status"] | "all", string][]).map(
  ([value, label]) => ({ value, label }),
);

interface Selection {
  isOn: boolean;
  ids: ReadonlySet<string>;
  toggle: (id: string) => void;
  start: () => void;
  merge: () => void;
  set: (ids: readonly string[]) => void;
}

interface Props {
  store: ReviewStore;
  filters: ReviewFilters;
  currentId: string | undefined;
  selection: Selection;
  onFilters: (changes: Partial<ReviewFilters>) => void;
  hrefOf: (id: string) => string;
  onEnter: () => void;
}

/** The papers of a review, with what chooses and orders them. */
export function ReviewList({ store, filters, currentId, selection, onFilters, hrefOf, onEnter }: Props) {
  const rows = store.rows.value;
  return (
    <>
      <div class="pane-title review-title">
        <h2 class="large">{texts.title(store.total.value)}</h2>
        <Select label={texts.sortedBy} value={filters.sort} choices={SORTS} onChange={(sort) => onFilters({ sort })} />
      </div>
      <FilterBar store={store} filters={filters} onFilters={onFilters} selection={selection} />
      {selection.isOn && (
        <div class="selection-bar">
          <span role="status">{texts.selected(selection.ids.size)}</span>
          <Button kind="quiet" onClick={() => selection.set(rows.map(keyOf))}>
            {texts.selectAll(rows.length)}
          </Button>
          <Button kind="quiet" onClick={() => selection.set([])}>
            {texts.selectNone}
          </Button>
          {selection.ids.size > 1 && (
            <Button kind="quiet" keyHint="w" onClick={selection.merge}>
              {reviewTexts.duplicates.mergeWith}
            </Button>
          )}
        </div>
      )}
      {rows.length ? (
        <VirtualList
          items={rows}
          heightOf={heightOf}
          keyOf={keyOf}
          label={texts.list}
          currentKey={currentId}
          placeKey={`review.${store.sessionId}`}
          render={(row) => (
            <ReviewRow
              row={row}
              href={hrefOf(row.id)}
              isCurrent={row.id === currentId}
              isSelected={selection.ids.has(row.id)}
              isComplete={store.isComplete.value}
              labelSource={(source) => store.labelSource(source)}
              hasSources={filters.sort === "source"}
              {...(selection.isOn ? { onSelect: () => selection.toggle(row.id) } : {})}
              onEnter={onEnter}
            />
          )}
        />
      ) : (
        <EmptyState title={texts.none} hint={texts.noneHint} />
      )}
    </>
  );
}

function ReviewRow(props: {
  row: PaperRow;
  href: string;
  isCurrent: boolean;
  isSelected: boolean;
  isComplete: boolean;
  labelSource: (source: string) => string;
  hasSources: boolean;
  onSelect?: () => void;
  onEnter: () => void;
}) {
  const { row } = props;
  const facts =
    row.status === "exclude" && row.reason
      ? row.reason
      : [row.short_authors, row.year_unknown_kept ? texts.yearUnknown : row.year].filter(Boolean).join(", ");
  const detail = props.hasSources ? `${row.sources.map(props.labelSource).join(", ")} · ${facts}` : facts;
  return (
    <div class={props.onSelect ? "review-row selectable" : "review-row"}>
      {props.onSelect && (
        <input
          type="checkbox"
          checked={props.isSelected}
          aria-label={texts.selectPaper(row.title.slice(0, 120))}
          onChange={props.onSelect}
        />
      )}
      <a
        class="row"
        href={props.href}
        aria-current={props.isCurrent ? "true" : undefined}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !props.isCurrent) return;
          event.preventDefault(); // the paper is open: Enter saves its verdict, as everywhere on the page
          props.onEnter();
        }}
      >
        <span class="row-top">
          <span class="tags">
            <Tag tone={toneOf(row.status)}>
              {props.isComplete && row.status === "undecided" ? texts.notJudged : commonTexts.decision[row.status]}
            </Tag>
            {row.retraction && <Tag tone="no">{texts.retracted}</Tag>}
            {row.differs && <Tag tone="waiting">{texts.differs}</Tag>}
          </span>
          <span class="quiet small">{row.relevance_score.toFixed(2)}</span>
        </span>
        <span class="row-title foreign" dir="auto">
          {row.title}
        </span>
        <span class="row-detail quiet small" dir="auto">
          {detail}
        </span>
      </a>
    </div>
  );
}

function FilterBar({
  store,
  filters,
  onFilters,
  selection,
}: Pick<Props, "store" | "filters" | "onFilters" | "selection">) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const facets = store.facets.value;
  const count = countFilters(filters);
  return (
    <div class="filter-bar">
      <div class="filter-line">
        <input
          id="review-find"
          type="search"
          aria-label={texts.find}
          placeholder={texts.findShort}
          value={filters.q}
          onInput={(event) => onFilters({ q: event.currentTarget.value })}
        />
        <button class="button" type="button" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
          {texts.filters(count)}
        </button>
        {store.canMark.value && (
          <button
            class="button"
            type="button"
            aria-pressed={selection.isOn}
            aria-keyshortcuts="b"
            onClick={selection.start}
          >
            {selection.isOn ? texts.stopSelecting : texts.select}
          </button>
        )}
      </div>
      {isOpen && (
        <div id={id} class="filters">
          <Select
            label={searchTexts.searches.phase}
            value={filters.status || "all"}
            choices={STATUSES}
            onChange={(value) => onFilters({ status: value === "all" ? "" : value })}
          />
          <Select
            label={texts.source}
            value={filters.source}
            choices={[
              { value: "", label: texts.allSources },
              ...Object.entries(facets?.sources ?? {}).map(([name, n]) => ({
                value: name,
                label: `${store.labelSource(name)} (${n})`,
              })),
            ]}
            onChange={(source) => onFilters({ source })}
          />
          <Select
            label={texts.round}
            value={filters.round}
            choices={[
              { value: "", label: texts.allRounds },
              ...Object.entries(facets?.rounds ?? {}).map(([name, n]) => ({
                value: name,
                label: `${texts.roundNumber(name)} (${n})`,
              })),
            ]}
            onChange={(round) => onFilters({ round })}
          />
          <div class="field-row">
            <TextField
              label={texts.yearFrom}
              value={filters.year_from}
              placeholder={String(facets?.year_min ?? "")}
              maxLength={4}
              onInput={(year_from) => onFilters({ year_from })}
            />
            <TextField
              label={texts.yearTo}
              value={filters.year_to}
              placeholder={String(facets?.year_max ?? "")}
              maxLength={4}
              onInput={(year_to) => onFilters({ year_to })}
            />
            <TextField
              label={texts.scoreFrom}
              value={filters.score_from}
              placeholder="0.50"
              maxLength={5}
              onInput={(score_from) => onFilters({ score_from })}
            />
          </div>
          {count > 0 && (
            <Button
              kind="quiet"
              onClick={() =>
                onFilters({ status: "", source: "", round: "", year_from: "", year_to: "", score_from: "" })
              }
            >
              {texts.clearFilters}
            </Button>
          )}
        </div>
      )}
    </div>
  );
}
