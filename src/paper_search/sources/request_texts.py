"""Find the exact text of a query in the first requests to a source."""

from collections.abc import Sequence
from typing import Final

from paper_search.identifier_queries import read_identifiers
from paper_search.models import SearchConstraints, SearchQuery, SearchStrategy
from paper_search.sources.installed_sources import SCHEME
from paper_search.sources.interfaces import LookupDefinition, Request, SourceDefinition

_QUERY_PARAMETERS: Final = (
    *("search_query", "query.bibliographic", "search", "query", "term", "q", "id_list", "filter", "id", "strategy"),
)
"""The parameters in which sources receive the query, in the order of preference."""


def build_first_requests(
    definition: SourceDefinition, query: SearchQuery, filters: SearchConstraints, limit: int
) -> list[Request]:
    """Return the first requests of a query; a query of identifiers gives lookups."""
    identifiers = read_identifiers(query.boolean_query)
    if not identifiers:
        return definition.build_requests(query, filters, limit)
    if isinstance(definition, LookupDefinition):
        return definition.build_lookup_requests(identifiers)
    return []


def explain_missing_requests(query: SearchQuery) -> str:
    """Return why a query gives no request."""
    if read_identifiers(query.boolean_query):
        return "This source cannot look up these identifiers."
    return "This source finds nothing to search for in this query."


def find_query_text(query: SearchQuery, requests: Sequence[Request]) -> str:
    """Return the exact text that the source receives in the requests of a query."""
    return "\n".join(map(_find_request_text, requests)) or query.boolean_query


def _find_request_text(request: Request) -> str:
    fields = dict([*request.params, *request.form])
    if request.url.startswith(SCHEME):
        return SearchStrategy.model_validate_json(fields["strategy"]).queries[0].boolean_query
    return next((fields[name] for name in _QUERY_PARAMETERS if name in fields), request.address)
