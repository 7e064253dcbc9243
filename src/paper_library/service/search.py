"""Search a shelf: pages of results, similar papers and facet counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import TYPE_CHECKING, Any, Final, cast

from tantivy import Occur
from tantivy import Query as IndexQuery

from paper_library.domain.limits import DEFAULT_PAGE_SIZE, FACETS, OFFSET, PAGE_SIZE, QUERY_CHARS
from paper_library.domain.query import ParsedQuery, Sort
from paper_library.domain.query_parser import parse_query
from paper_library.errors import OutOfBounds
from paper_library.service.hits import SearchHit
from paper_library.service.query_compiler import CompiledQuery, Compiler
from paper_library.service.ranking import FoundPage, compile_boolean_query, find_page
from paper_library.service.suggestions import (
    describe_keywords_with_part,
    suggest_correction,
    suggest_filter_values,
    use_other_forms_of_names,
)
from paper_library.store import index as fields
from paper_library.store.index import IndexTerms, count_results
from paper_library.store.shelf import Shelf
from uraniborg.kernel.boolean_query import Node
from uraniborg.kernel.text import plural
from uraniborg.kernel.words import extract_terms, fold_text

if TYPE_CHECKING:
    from paper_library.domain.replies import FacetValue, InterpretedQuery, SearchPage, YearCount

_SIMILAR_TERMS: Final = 25
_FACET_VALUES: Final = 65_000
_YEARS: Final = 10_000
_NARROWING: Final = "Narrow the query with more words or filters, for example year:2019..2023, author: or venue:."
_NO_SUCH_YEAR: Final = 1 << 40
_IDENTIFIERS: Final = ("doi", "arxiv")


@dataclass(slots=True)
class ResultPage:
    """One page of results, and the interpreted query."""

    hits: list[SearchHit]
    total: int
    limit: int
    offset: int
    interpreted: "InterpretedQuery"
    did_you_mean: str | None = None
    suggestions: list[str] = field(default_factory=list[str])
    facets: "dict[str, list[FacetValue]]" = field(default_factory=dict)
    years: "list[YearCount] | None" = None

    def add_suggestions(
        self, keyword: str, others: list[str], containing: Sequence[str] = (), kind: str | None = None
    ) -> None:
        """Suggest `others` instead of a keyword that no paper has.

        `containing` are the keywords that were used for it, and `kind` is the filter that has it as a value.
        """
        self.suggestions, self.did_you_mean = others, others[0] if others else None
        notes: list[str] = []
        if containing:
            notes.append(describe_keywords_with_part(keyword, containing))
        if kind is not None:
            notes.append(
                f'"{keyword}" is not a keyword but a value of {kind}: call search_papers with {kind}:"{keyword}".'
            )
        if not notes:
            notes.append(f'No paper has the keyword "{keyword}". search_papers looks for its words in all fields.')
        self.interpreted["ignored"] = [*self.interpreted["ignored"], *notes]

    def as_dict(self) -> "SearchPage":
        end = self.offset + len(self.hits)
        more = describe_unreachable_results(end, self.total, "paper") if self.hits else ""
        page: SearchPage = {
            "results": [hit.as_dict() for hit in self.hits],
            "total": self.total,
            "limit": self.limit,
            "offset": self.offset,
            "next_offset": end if self.hits and end < self.total and not more else None,
            "more": more,
            "interpreted_query": self.interpreted,
        }
        if not more:
            del page["more"]
        if self.did_you_mean:
            page["did_you_mean"] = self.did_you_mean
        if self.suggestions:
            page["suggestions"] = self.suggestions
        if self.facets:
            page["facets"] = self.facets
        if self.years is not None:
            page["years"] = self.years
        return page


def describe_unreachable_results(end: int, total: int, noun: str) -> str:
    """Return a sentence about the results after `end` that no offset reaches, or an empty text."""
    if end >= total or end <= OFFSET:
        return ""
    narrowing = _NARROWING if noun == "paper" else "Search for the papers of a value by its words."
    return f"{plural(total - end, f'further {noun}')} cannot be listed: offset ends at {OFFSET:,}. {narrowing}"


def check_page_bounds(limit: int, offset: int) -> None:
    """Raise OutOfBounds if the limit or offset is out of range."""
    if not 1 <= limit <= PAGE_SIZE:
        raise OutOfBounds("limit", f"from 1 to {PAGE_SIZE}")
    if not 0 <= offset <= OFFSET:
        raise OutOfBounds("offset", f"from 0 to {OFFSET:,}", hint=f"There may be further results. {_NARROWING}")


def check_facet_limit(limit: int) -> None:
    """Raise OutOfBounds if the limit of facet values is out of range."""
    if not 1 <= limit <= FACETS:
        raise OutOfBounds("limit", f"from 1 to {FACETS}")


def choose_page_size(limit: int | None, page_size: int | None) -> int:
    """Return the page size that either argument gives, or the default. Raise OutOfBounds if they differ."""
    if limit is not None and page_size is not None and limit != page_size:
        raise OutOfBounds("page_size", "the same as limit, or left out", hint="page_size is another name for limit.")
    return limit or page_size or DEFAULT_PAGE_SIZE


def check_query_length(query: str) -> None:
    """Raise OutOfBounds if the query is too long."""
    if len(query) > QUERY_CHARS:
        raise OutOfBounds(
            "query",
            f"at most {QUERY_CHARS} characters",
            hint=f"The query has {len(query)} characters. Use the most important words only.",
        )


def search_shelf(
    shelf: Shelf,
    query: str,
    *,
    limit: int = DEFAULT_PAGE_SIZE,
    offset: int = 0,
    sort: Sort = "relevance",
    filters: Mapping[str, str] | None = None,
    facets: Sequence[str] = (),
    facet_limit: int = 10,
    count_years: bool = False,
) -> ResultPage:
    """Return a page of the papers that match `query`, best first; an empty query matches all papers.

    `filters` are whole values by facet kind (author, venue, keyword, institution, tag, year); `facets` names the kinds
    to count over all results, and `count_years` adds the number of papers of each year. Raise OutOfBounds.
    """
    check_query_length(query)
    check_page_bounds(limit, offset)
    parsed = parse_query(query)
    compiler = Compiler(shelf.searcher, shelf.schema)
    restrictions = _compile_filters(shelf, compiler.terms, filters or {})
    compiled = compiler.compile_query(parsed, restrictions)
    order = _choose_order(sort, parsed)
    found = find_page(shelf, compiled, _list_filtered_fields(parsed), limit, offset, order)
    if not found.total and (renamed := use_other_forms_of_names(shelf, parsed)):
        parsed, compiled = renamed, compiler.compile_query(renamed, restrictions)
        found = find_page(shelf, compiled, _list_filtered_fields(parsed), limit, offset, order)
    if not found.total and (relaxed := parsed.make_relaxed_query()):
        parsed, compiled = relaxed, compiler.compile_query(relaxed, restrictions)
        found = find_page(shelf, compiled, _list_filtered_fields(parsed), limit, offset, order)
    interpreted = _describe_interpretation(parsed, compiled, found, sort)
    if filters:
        interpreted["filters"] = {**interpreted["filters"], **{kind: [value] for kind, value in filters.items()}}
    page = ResultPage(found.hits, found.total, limit, offset, interpreted)
    if compiled.missing:
        page.did_you_mean = suggest_correction(shelf.searcher, query, compiled.missing)
    if not found.total:
        page.did_you_mean = page.did_you_mean or suggest_filter_values(shelf, parsed, query)
    if facets:
        check_facet_limit(facet_limit)
        page.facets = count_facets(shelf, compiled.query, facets, facet_limit)
    if count_years:
        counted = count_facets(shelf, compiled.query, ["year"], _YEARS)["year"]
        page.years = [{"year": int(one["value"]), "paper_count": one["paper_count"]} for one in counted]
        page.years.sort(key=lambda one: one["year"])
    return page


def find_boolean_matches(
    shelf: Shelf, node: Node, limit: int, years: tuple[int | None, int | None] = (None, None)
) -> tuple[list[int], int]:
    """Return the numbers of the best papers that match a Boolean query, at most `limit`, and the total of all matches.

    Raise OutOfBounds.
    """
    found = shelf.searcher.search(compile_boolean_query(shelf, node, years), max(1, min(limit, shelf.manifest.papers)))
    addresses = [address for _, address in found.hits[:limit]]
    numbers = cast("list[int]", shelf.searcher.fast_field_values(fields.NUMBER, addresses)) if addresses else []
    return numbers, count_results(found)


def find_similar(shelf: Shelf, no: int, *, limit: int = DEFAULT_PAGE_SIZE, offset: int = 0) -> ResultPage:
    """Return papers that share the most distinctive words of the paper `no`. Raise OutOfBounds."""
    check_page_bounds(limit, offset)
    paper = shelf.read_metadata(no)
    text = " ".join([paper["title"], paper["title"], paper["abstract"], *paper["keywords"], *paper["tags"]])
    searcher, schema = shelf.searcher, shelf.schema
    papers = max(searcher.num_docs, 1)
    occurrences: dict[str, int] = {}
    for term in extract_terms(text):
        occurrences[term] = occurrences.get(term, 0) + 1
    # A word that only this paper has finds no other.
    frequency = {term: searcher.doc_freq(fields.ABOUT, term) for term in occurrences}
    shared = [term for term in occurrences if frequency[term] > 1]
    weights = {term: min(occurrences[term], 3) * _compute_rarity(papers, frequency[term]) for term in shared}
    distinctive = sorted(shared, key=lambda term: (-weights[term], term))
    chosen = distinctive[:_SIMILAR_TERMS]
    itself = (Occur.MustNot, IndexQuery.term_query(schema, fields.NUMBER, no))
    clauses = [(Occur.Should, IndexQuery.term_query(schema, fields.ABOUT, term)) for term in chosen]
    query = IndexQuery.boolean_query([(Occur.Must, IndexQuery.boolean_query(clauses)), itself])
    alike = CompiledQuery(query if clauses else IndexQuery.empty_query(), stems=set(chosen))
    found = find_page(shelf, alike, (), limit, offset, "relevance")
    interpreted: InterpretedQuery = {"terms": chosen, "filters": {}, "ignored": []}
    return ResultPage(found.hits, found.total, limit, offset, interpreted)


def count_facets(shelf: Shelf, query: IndexQuery, kinds: Sequence[str], limit: int) -> "dict[str, list[FacetValue]]":
    """Return the most frequent values of each facet kind among the results, with numbers of papers."""
    # Each segment returns its own most frequent values; short lists would miss counts of other segments.
    whole = {"segment_size": _FACET_VALUES} if shelf.searcher.num_segments > 1 else {}
    wanted = {
        kind: {"terms": {"field": fields.FACETS.get(kind, fields.YEAR), "size": limit + 1, **whole}} for kind in kinds
    }
    answer = cast("Any", shelf.searcher).aggregate(query, wanted)
    counts = {kind: [(int(b["key"]), int(b["doc_count"])) for b in answer[kind]["buckets"]] for kind in kinds}
    names = _read_facet_values(shelf, [key for kind in kinds if kind != "year" for key, _ in counts[kind]])
    named = {
        kind: [(str(key) if kind == "year" else names[key], count) for key, count in pairs if key or kind != "year"]
        for kind, pairs in counts.items()
    }
    return {
        kind: [
            {"value": value, "paper_count": count}
            for value, count in sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:limit]
        ]
        for kind, pairs in named.items()
    }


def _compile_filters(shelf: Shelf, terms: IndexTerms, filters: Mapping[str, str]) -> list[IndexQuery]:
    found: list[IndexQuery] = []
    for kind, value in filters.items():
        if kind == "year":
            start, _, end = value.partition("..")
            found.append(terms.make_years_query(_parse_year(start), _parse_year(end if ".." in value else start)))
            continue
        facet = shelf.find_facet_id(kind, fold_text(" ".join(value.split())))
        found.append(IndexQuery.empty_query() if facet is None else terms.make_facet_query(kind, facet))
    return found


def _parse_year(text: str) -> int | None:
    if not text:
        return None
    if not text.isdecimal():
        raise OutOfBounds("year", "a year such as 2021, or years such as 2019..2023")
    return int(text) if len(text) < 10 else _NO_SUCH_YEAR


def _choose_order(sort: Sort, parsed: ParsedQuery) -> Sort:
    if sort != "relevance":
        return sort
    return parsed.sort or ("title_asc" if parsed.is_blank else "relevance")


def _list_filtered_fields(parsed: ParsedQuery) -> list[str]:
    names = [group[0].field for group in parsed.required if len(group) == 1]
    return ["identifier" if name in _IDENTIFIERS else name for name in names]


def _describe_interpretation(
    parsed: ParsedQuery, compiled: CompiledQuery, found: FoundPage, sort: Sort
) -> "InterpretedQuery":
    """Return the interpreted query, with a note for each word that was not searched."""
    notes = [f'No paper has "{name}"; its parts were searched instead.' for name in compiled.split]
    if compiled.unread:
        notes.append(f"The last {compiled.unread} words were not searched: the query is too long.")
    if compiled.stop_words:
        notes.append(f"Too common to count: {', '.join(compiled.stop_words)}.")
    if dropped := [*compiled.missing, *found.lacking] if found.total else []:
        fact = "has all the words; the best match lacks" if found.lacking else "has"
        notes.append(f"No paper {fact}: {', '.join(dropped)}.")
    if sort != "relevance" and parsed.sort not in (None, sort):
        notes.append(f"sort:{parsed.sort} was not used: the argument sort is {sort}.")
    reading = parsed.as_dict(dropped=dropped, notes=notes)
    reading["terms"] = [term for term in reading["terms"] if term not in compiled.stop_words]
    return reading


def _read_facet_values(shelf: Shelf, ids: Sequence[int]) -> dict[int, str]:
    marks = ",".join("?" * len(ids))
    found = shelf.get_connection().execute(f"SELECT id, value FROM facet WHERE id IN ({marks})", ids)  # noqa: S608
    return dict(found.fetchall())


def _compute_rarity(papers: int, frequency: int) -> float:
    return log(1 + papers / (1 + frequency))
