import { formatPath } from "../data/router.ts";

export const KINDS = ["author", "venue", "keyword", "tag", "institution"] as const;
export type Kind = (typeof KINDS)[number];
export type FilterName = Kind | "year";
export const SORTS = ["relevance", "year_desc", "year_asc", "title_asc", "title_desc"] as const;

/** A search in a shelf. The address of the page holds all of it. */
export interface LibraryQuery {
  q: string;
  sort: (typeof SORTS)[number];
  filters: Readonly<Partial<Record<FilterName, string>>>;
  offset: number;
}

const YEARS = /^\d{4}$|^\d{0,4}\.\.\d{0,4}$/;

/** Return the search of an address. Values that a shelf cannot use are left out. */
export function readLibraryQuery(query: URLSearchParams): LibraryQuery {
  const filters: Partial<Record<FilterName, string>> = {};
  for (const kind of KINDS) {
    const value = query.get(kind)?.slice(0, 500);
    if (value?.trim()) filters[kind] = value;
  }
  const year = query.get("year") ?? "";
  if (YEARS.test(year) && year !== "..") filters.year = year;
  const sort = SORTS.find((one) => one === query.get("sort")) ?? "relevance";
  const offset = Number(query.get("offset") ?? 0);
  return {
    q: (query.get("q") ?? "").slice(0, 500),
    sort,
    filters,
    offset: Number.isInteger(offset) && offset > 0 && offset <= 10_000 ? offset : 0,
  };
}

/** Return the search as the query of an address; "" for all papers in the usual order. */
export function formatLibraryQuery(given: LibraryQuery, more: Record<string, string> = {}): string {
  const query = new URLSearchParams();
  if (given.q) query.set("q", given.q);
  if (given.sort !== "relevance") query.set("sort", given.sort);
  for (const name of [...KINDS, "year"] as const) {
    const value = given.filters[name];
    if (value) query.set(name, value);
  }
  if (given.offset) query.set("offset", String(given.offset));
  for (const [name, value] of Object.entries(more)) query.set(name, value);
  const text = query.toString();
  return text ? `?${text}` : "";
}

export function makeShelfAddress(shelf: string, query: LibraryQuery): string {
  return formatPath("/library/{shelf}", { shelf }) + formatLibraryQuery(query);
}

/** Return the address of a paper. It keeps the search, so that the way back leads to its results. */
export function makePaperAddress(shelf: string, paper: string, query?: LibraryQuery, at?: number | null): string {
  const more: Record<string, string> = typeof at === "number" ? { at: String(at) } : {};
  const path = formatPath("/library/{shelf}/{paper}", { shelf, paper });
  return path + (query ? formatLibraryQuery(query, more) : formatLibraryQuery(NO_QUERY, more));
}

export const NO_QUERY: LibraryQuery = { q: "", sort: "relevance", filters: {}, offset: 0 };

/** Return the first and the last year of a filter such as `2015..2020`; an open end is undefined. */
export function readYears(text: string | undefined): [number | undefined, number | undefined] {
  const [first = "", last = first] = (text ?? "").split("..");
  return [first ? Number(first) : undefined, last ? Number(last) : undefined];
}

/** Return the filter of a range of years; undefined for all years. */
export function formatYears(first: number | undefined, last: number | undefined): string | undefined {
  if (first === undefined && last === undefined) return undefined;
  if (first === last) return String(first);
  if (first !== undefined && last !== undefined && first > last) return `${last}..${first}`;
  return `${first ?? ""}..${last ?? ""}`;
}

export interface YearBar {
  first: number;
  last: number;
  count: number;
}

const MOST_BARS = 48;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/**
 * Return the bars of a histogram: years without papers too, and several years in one bar if there are many.
 * The first bar begins, and the last one ends, with a year that has papers.
 */
export function makeYearBars(counts: readonly { year: number; paper_count: number }[]): YearBar[] {
  if (!counts.length) return [];
  const years = counts.map((one) => one.year);
  const lowest = Math.min(...years);
  const highest = Math.max(...years);
  const step = STEPS.find((one) => (highest - lowest + 1) / one <= MOST_BARS) ?? 1_000;
  const start = Math.floor(lowest / step) * step;
  const bars: YearBar[] = [];
  for (let first = start; first <= highest; first += step) {
    bars.push({ first: Math.max(first, lowest), last: Math.min(first + step - 1, highest), count: 0 });
  }
  for (const one of counts) {
    const bar = bars[Math.floor((one.year - start) / step)];
    if (bar) bar.count += one.paper_count;
  }
  return bars;
}
