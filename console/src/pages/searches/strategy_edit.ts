import type { Body_check_search_strategy, StrategyReply } from "../../api_types.ts";

/** A strategy as a person edits it: everything is text until it is sent. */
export interface StrategyEdit {
  queries: string[];
  sources: string[];
  year_from: string;
  year_to: string;
  language: string;
  max_results: string;
}

const FIELDS = [
  "queries",
  "sources",
  "filters.year_from",
  "filters.year_to",
  "filters.language",
  "filters.max_results",
];

/** Return whether the editor has a field for the path of a problem, and shows the problem there. */
export function hasField(path: string | null): boolean {
  return path !== null && FIELDS.includes(path);
}

export function startEdit(reply: StrategyReply): StrategyEdit {
  const filters = reply.strategy?.filters;
  return {
    queries: reply.queries.map((query) => query.boolean_query),
    sources: reply.sources.filter((source) => source.is_chosen).map((source) => source.name),
    year_from: filters?.year_from ? String(filters.year_from) : "",
    year_to: filters?.year_to ? String(filters.year_to) : "",
    language: filters?.language ?? "",
    max_results: String(filters?.max_results ?? ""),
  };
}

/** Return the edit as the API takes it. A number that is not one is sent as it is: the server explains the problem. */
export function toEditData(edit: StrategyEdit): Body_check_search_strategy["data"] {
  return {
    queries: edit.queries.filter((query) => query.trim()).map((query) => ({ boolean_query: query })),
    sources: edit.sources,
    filters: {
      year_from: toNumber(edit.year_from),
      year_to: toNumber(edit.year_to),
      language: edit.language.trim() || null,
      max_results: toNumber(edit.max_results),
    },
  };
}

function toNumber(text: string): number | string | null {
  const trimmed = text.trim();
  if (!trimmed) return null;
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** Return a stored edit, or undefined if there is none that can be read. */
export function parseEdit(text: string): StrategyEdit | undefined {
  if (!text) return undefined;
  try {
    const edit = JSON.parse(text) as StrategyEdit;
    return Array.isArray(edit.queries) && Array.isArray(edit.sources) ? edit : undefined;
  } catch {
    return undefined;
  }
}
