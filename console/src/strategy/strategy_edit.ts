import type {
  Body_check_search_strategy,
  ConceptBlock,
  SearchQuery,
  StrategyCheck,
  StrategyReply,
  TermSuggestion,
} from "../data/api_types.ts";

/** The two sides of a plan that the server keeps in step. */
export type Side = "blocks" | "queries";

/** A strategy as a person edits it: every limit is text until it is sent. */
export interface StrategyEdit {
  queries: SearchQuery[];
  blocks: ConceptBlock[];
  suggestions: TermSuggestion[];
  sources: string[];
  year_from: string;
  year_to: string;
  language: string;
  max_results: string;
  min_relevance: string;
  /** The side that was changed last; the other one follows it. */
  changed?: Side | undefined;
  /** The queries that the person had written before a change of the concepts replaced them. */
  written?: SearchQuery[] | undefined;
}

const FIELDS = [
  "queries",
  "sources",
  "filters.year_from",
  "filters.year_to",
  "filters.language",
  "filters.max_results",
  "filters.min_relevance",
];

/** Return whether the editor has a field for the path of a problem, and shows the problem there. */
export function hasField(path: string | null): boolean {
  return path !== null && FIELDS.includes(path);
}

export function startEdit(reply: StrategyReply): StrategyEdit {
  const { strategy } = reply;
  const filters = strategy?.filters;
  return {
    queries: strategy?.queries ?? [],
    blocks: strategy?.blocks ?? [],
    suggestions: strategy?.suggestions ?? [],
    sources: reply.sources.filter((source) => source.is_chosen).map((source) => source.name),
    year_from: filters?.year_from ? String(filters.year_from) : "",
    year_to: filters?.year_to ? String(filters.year_to) : "",
    language: filters?.language ?? "",
    max_results: String(filters?.max_results ?? ""),
    min_relevance: String(filters?.min_relevance ?? ""),
  };
}

/** Return the edit with one side changed. Queries that a person wrote are stored when the concepts replace them. */
export function changeSide(edit: StrategyEdit, side: Side, change: (edit: StrategyEdit) => StrategyEdit): StrategyEdit {
  const replaced = edit.changed === "queries" ? edit.queries : edit.written;
  return { ...change(edit), changed: side, written: side === "blocks" ? replaced : undefined };
}

/** Return the edit with the side that follows as the server aligned it; the side that was changed stays. */
export function followAlignment(edit: StrategyEdit, { strategy }: Pick<StrategyCheck, "strategy">): StrategyEdit {
  if (edit.changed === "blocks") return { ...edit, queries: strategy.queries };
  if (edit.changed === "queries") return { ...edit, blocks: strategy.blocks ?? [] };
  return edit;
}

/** Return the text of a query: that for Boolean sources, or the words of a query that only ranking sources receive. */
export function readQueryText(query: { boolean_query: string; words?: string }): string {
  return query.boolean_query || query.words || "";
}

/** Return the query with another text; what was known about the earlier text is left out. */
export function rewriteQuery(query: SearchQuery, change: { boolean_query: string } | { words: string }): SearchQuery {
  const { keywords: _, synonym_map: __, ...kept } = query;
  return { ...kept, ...change } as SearchQuery;
}

/** Return the edit as the API takes it. A number that is not one is sent as it is: the server explains the problem. */
export function toEditData(edit: StrategyEdit): Body_check_search_strategy["data"] {
  const queries = edit.queries.filter((query) => readQueryText(query).trim());
  return {
    ...(edit.changed && { queries, blocks: edit.blocks, suggestions: edit.suggestions }),
    sources: edit.sources,
    filters: {
      year_from: toNumber(edit.year_from),
      year_to: toNumber(edit.year_to),
      language: edit.language.trim() || null,
      max_results: toNumber(edit.max_results),
      min_relevance: toNumber(edit.min_relevance ?? ""),
    },
  };
}

function toNumber(text: string): number | string | null {
  const trimmed = text.trim();
  if (!trimmed) return null;
  return /^\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** Return a stored edit, or undefined if there is none that can be read. */
export function parseEdit(text: string): StrategyEdit | undefined {
  if (!text) return undefined;
  try {
    const edit = JSON.parse(text) as StrategyEdit;
    if (!Array.isArray(edit.queries) || !Array.isArray(edit.sources)) return undefined;
    return typeof edit.queries[0] === "string" ? readEarlierEdit(edit) : edit;
  } catch {
    return undefined;
  }
}

/** Return an edit that an earlier version stored, whose queries were texts alone. */
function readEarlierEdit(edit: StrategyEdit): StrategyEdit {
  const queries = (edit.queries as unknown[]).map((text) => ({ boolean_query: String(text) }) as SearchQuery);
  return { ...edit, queries, blocks: [], suggestions: [], min_relevance: "", changed: "queries" };
}
