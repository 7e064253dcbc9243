import type { ReviewStatus } from "../data/api_types.ts";

/** Which papers a review lists, and in which order. The address of the page holds all of it. */
export interface ReviewFilters {
  q: string;
  status: ReviewStatus | "";
  source: string;
  round: string;
  year_from: string;
  year_to: string;
  score_from: string;
  sort: "rank" | "score" | "year" | "title" | "status" | "source";
}

const NO_FILTERS: ReviewFilters = {
  q: "",
  status: "",
  source: "",
  round: "",
  year_from: "",
  year_to: "",
  score_from: "",
  sort: "rank",
};
const STATUSES = new Set(["include", "exclude", "maybe", "undecided"]);
const SORTS = new Set(["rank", "score", "year", "title", "status", "source"]);

export function readFilters(query: URLSearchParams): ReviewFilters {
  const filters = { ...NO_FILTERS };
  for (const name of Object.keys(NO_FILTERS) as (keyof ReviewFilters)[]) {
    const value = query.get(name) ?? "";
    if (name === "status") filters.status = STATUSES.has(value) ? (value as ReviewStatus) : "";
    else if (name === "sort") filters.sort = SORTS.has(value) ? (value as ReviewFilters["sort"]) : "rank";
    else filters[name] = value;
  }
  return filters;
}

/** Return the filters as the query of an address; "" if there are none. */
export function formatFilters(filters: ReviewFilters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) {
    if (value && value !== NO_FILTERS[name as keyof ReviewFilters]) query.set(name, value);
  }
  const text = query.toString();
  return text ? `?${text}` : "";
}

export function countFilters(filters: ReviewFilters): number {
  return Object.entries(filters).filter(([name, value]) => value && name !== "sort" && name !== "q").length;
}

/** Return the filters as the parameters of the API; text that is not a number is left out. */
export function toParameters(filters: ReviewFilters) {
  return {
    q: filters.q,
    status: filters.status || null,
    source: filters.source || null,
    round: toNumber(filters.round),
    year_from: toNumber(filters.year_from),
    year_to: toNumber(filters.year_to),
    score_from: toNumber(filters.score_from),
    sort: filters.sort,
  };
}

function toNumber(text: string): number | null {
  const value = Number(text);
  return text.trim() && Number.isFinite(value) && value >= 0 ? value : null;
}
