import { useState } from "preact/hooks";
import { Button } from "../common/controls.tsx";
import type { FacetValue, PaperSearchPage, YearCount } from "../data/api_types.ts";
import { type FilterName, KINDS, type Kind, type LibraryQuery } from "./library_query.ts";
import { libraryTexts } from "./strings.ts";
import { YearChart } from "./year_chart.tsx";

const texts = libraryTexts.library;
const SHOWN = 6;

interface Props {
  query: LibraryQuery;
  page: PaperSearchPage;
  years: readonly YearCount[];
  onFilter: (name: FilterName, value: string | undefined) => void;
}

/** What narrows a search: years, and the most frequent values of the papers found. */
export function FilterPane({ query, page, years, onFilter }: Props) {
  return (
    <>
      <YearChart counts={years} years={query.filters.year} onYears={(value) => onFilter("year", value)} />
      {KINDS.map((kind) => (
        <FacetList
          key={kind}
          kind={kind}
          values={page.facets?.[kind] ?? []}
          chosen={query.filters[kind]}
          onChoose={(value) => onFilter(kind, value)}
        />
      ))}
    </>
  );
}

function FacetList(props: {
  kind: Kind;
  values: readonly FacetValue[];
  chosen: string | undefined;
  onChoose: (value: string | undefined) => void;
}) {
  const [isWhole, setWhole] = useState(false);
  const { kind, values, chosen, onChoose } = props;
  if (!values.length) return null;
  const shown = isWhole ? values : values.slice(0, SHOWN);
  return (
    <section class="facet">
      <h3>{texts.kinds[kind]}</h3>
      <ul>
        {shown.map((one) => (
          <li key={one.value}>
            <button
              type="button"
              class="facet-value"
              aria-pressed={one.value === chosen}
              onClick={() => onChoose(one.value === chosen ? undefined : one.value)}
            >
              <span class="facet-name" dir="auto">
                {one.value}
              </span>
              <span class="mono quiet">{one.paper_count.toLocaleString("en-GB")}</span>
            </button>
          </li>
        ))}
      </ul>
      {values.length > SHOWN && (
        <Button
          kind="quiet"
          label={`${isWhole ? texts.fewerValues : texts.moreValues}: ${texts.kinds[kind]}`}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? texts.fewerValues : texts.moreValues}
        </Button>
      )}
    </section>
  );
}

/** The filters in use, each with a button that removes it. */
export function ActiveFilters({ query, onFilter }: Pick<Props, "query" | "onFilter">) {
  const names = (["year", ...KINDS] as const).filter((name) => query.filters[name]);
  if (!names.length) return null;
  return (
    <ul class="active-filters">
      {names.map((name) => (
        <li key={name}>
          <button type="button" class="filter-chip" onClick={() => onFilter(name, undefined)}>
            <span class="visually-hidden">{texts.remove}</span>
            <span class="quiet">{texts.kinds[name]}</span> <span dir="auto">{query.filters[name]}</span>
            <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
