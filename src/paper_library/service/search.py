"""Search a shelf: read the query, compile it, find and rank papers, and describe the page of results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tantivy import Query as IndexQuery

from paper_library.domain.limits import DEFAULT_PAGE_SIZE, check_facet_limit, check_page_bounds, check_query_length
from paper_library.domain.query import ParsedQuery, Sort
from paper_library.domain.query_parser import parse_query
from paper_library.service.hits import ResultPage
from paper_library.service.page_ranking import FoundPage, count_facets, find_page
from paper_library.service.query_compiler import CompiledQuery, Compiler, compile_filters
from paper_library.service.suggestions import suggest_correction, suggest_filter_values, use_other_forms_of_names
from paper_library.store.shelf import Shelf

if TYPE_CHECKING:
    from paper_library.domain.replies import InterpretedQuery, YearCount

_YEARS: Final = 10_000
_IDENTIFIERS: Final = ("doi", "arxiv")


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
    restrictions = compile_filters(shelf, compiler.terms, filters or {})
    order = _choose_order(sort, parsed)
    compiled = compiler.compile_query(parsed, restrictions)
    found = find_page(shelf, compiled, _list_filtered_fields(parsed), limit, offset, order)
    for other in () if found.total else _make_other_readings(shelf, parsed):
        parsed, compiled = other, compiler.compile_query(other, restrictions)
        found = find_page(shelf, compiled, _list_filtered_fields(parsed), limit, offset, order)
        if found.total:
            break
    page = ResultPage(found.hits, found.total, limit, offset, _describe_reading(parsed, compiled, found, sort, filters))
    if compiled.missing:
        page.did_you_mean = suggest_correction(shelf.searcher, query, compiled.missing)
    if not found.total:
        page.did_you_mean = page.did_you_mean or suggest_filter_values(shelf, parsed, query)
    if facets:
        check_facet_limit(facet_limit)
        page.facets = count_facets(shelf, compiled.query, facets, facet_limit)
    if count_years:
        page.years = _count_years(shelf, compiled.query)
    return page


def _make_other_readings(shelf: Shelf, parsed: ParsedQuery) -> Iterator[ParsedQuery]:
    """Yield readings of a query without results: with other forms of names, then with fewer requirements."""
    if renamed := use_other_forms_of_names(shelf, parsed):
        parsed = renamed
        yield parsed
    if relaxed := parsed.make_relaxed_query():
        yield relaxed


def _choose_order(sort: Sort, parsed: ParsedQuery) -> Sort:
    if sort != "relevance":
        return sort
    return parsed.sort or ("title_asc" if parsed.is_blank else "relevance")


def _list_filtered_fields(parsed: ParsedQuery) -> list[str]:
    names = [group[0].field for group in parsed.required if len(group) == 1]
    return ["identifier" if name in _IDENTIFIERS else name for name in names]


def _count_years(shelf: Shelf, query: IndexQuery) -> "list[YearCount]":
    counted = count_facets(shelf, query, ["year"], _YEARS)["year"]
    years: list[YearCount] = [{"year": int(one["value"]), "paper_count": one["paper_count"]} for one in counted]
    return sorted(years, key=lambda one: one["year"])


def _describe_reading(
    parsed: ParsedQuery, compiled: CompiledQuery, found: FoundPage, sort: Sort, filters: Mapping[str, str] | None
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
    if filters:
        reading["filters"] = {**reading["filters"], **{kind: [value] for kind, value in filters.items()}}
    return reading
