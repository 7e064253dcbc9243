"""The queries of a strategy as each source receives them: the requests that a search would send."""

from collections.abc import Sequence
from typing import Any, Final

from paper_search.identifier_queries import read_identifiers
from paper_search.models import MAX_RESULTS_CAP, SearchConstraints, SearchQuery
from paper_search.query.boolean_query import AllOf, Node, iterate_wanted_terms, parse_search_query
from paper_search.query.filters import compute_query_limit, has_year_limit
from paper_search.sources.installed_sources import SCHEME
from paper_search.sources.interfaces import LookupDefinition, Request, SourceDefinition
from paper_search.sources.registry import load_known_or_installed_definition
from uraniborg.kernel.logging import get_logger, redact
from uraniborg.kernel.words import fold_text

_QUERY_PARAMETERS: Final = (
    *("search_query", "query.bibliographic", "search", "query", "term", "q", "id_list", "filter", "id", "strategy"),
)
"""The parameters in which sources receive the query, in the order of preference."""
_log = get_logger(__name__)


def translate_query(name: str, query: SearchQuery, filters: SearchConstraints, query_count: int = 1) -> dict[str, Any]:
    """Return the query in the syntax of the source, the address of the request, and what is lost or applied afterwards.

    Never raises: a source that cannot translate the query says so in `problem`.
    """
    reply: dict[str, Any] = {"source": name, "text": None, "address": None, "notes": [], "problem": None}
    try:
        definition = load_known_or_installed_definition(name)
        requests = _build_requests(definition, query, filters, query_count)
    except Exception:
        _log.exception("a source cannot translate a query", source=name)
        return {**reply, "problem": f"{name} cannot translate this query; the log has the details."}
    if not requests:
        is_lookup = bool(read_identifiers(query.boolean_query))
        problem = "cannot look up these identifiers" if is_lookup else "finds nothing to search for in this query"
        return {**reply, "problem": f"{name} {problem}."}
    text = query.boolean_query if requests[0].url.startswith(SCHEME) else _find_query_text(requests[0])
    notes = _list_notes(definition, parse_search_query(query), filters, text)
    return {**reply, "text": text, "address": redact(requests[0].address)[:4_000], "notes": notes}


def translate_queries(
    names: Sequence[str], queries: Sequence[SearchQuery], filters: SearchConstraints
) -> list[list[dict[str, Any]]]:
    """Return for each query its translations for all sources."""
    return [[translate_query(name, query, filters, len(queries)) for name in names] for query in queries]


def _build_requests(
    definition: SourceDefinition, query: SearchQuery, filters: SearchConstraints, query_count: int
) -> list[Request]:
    identifiers = read_identifiers(query.boolean_query)
    if identifiers:
        return definition.build_lookup_requests(identifiers) if isinstance(definition, LookupDefinition) else []
    limit = compute_query_limit(min(max(filters.max_results, 1), MAX_RESULTS_CAP), query_count)
    return definition.build_requests(query, filters, limit)


def _find_query_text(request: Request) -> str:
    fields = dict([*request.params, *request.form])
    return next((fields[name] for name in _QUERY_PARAMETERS if name in fields), request.address)


def _list_notes(definition: SourceDefinition, node: Node | None, filters: SearchConstraints, text: str) -> list[str]:
    """Return what the source does not do itself, and whether the query was cut to its limit."""
    notes: list[str] = []
    can = definition.capabilities
    if has_year_limit(filters) and "year" not in can:
        notes.append("Years are checked after the papers arrive.")
    if filters.language and "language" not in can:
        notes.append("The language is checked after the papers arrive.")
    if node is None or read_identifiers(text):
        return notes
    if isinstance(node, AllOf) and node.excluded and "not" not in can:
        notes.append("Excluded words are checked after the papers arrive.")
    sent = fold_text(text)
    terms = list(iterate_wanted_terms(node))
    lost = [term for term in terms if not all(fold_text(word.rstrip("*")) in sent for word in term.words)]
    if lost:
        notes.append(f"Cut to the limit of the source: {len(terms) - len(lost)} of {len(terms)} terms are sent.")
    return notes
