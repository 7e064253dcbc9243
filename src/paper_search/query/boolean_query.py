"""Boolean queries of a paper search; `uraniborg.kernel.boolean_query` has the parser, which shelves share."""

from paper_search.models import SearchQuery
from uraniborg.kernel.boolean_query import (
    MAX_DEPTH,
    OPERATORS,
    QUERY_SIGNS,
    AllOf,
    AnyOf,
    Node,
    Term,
    iterate_wanted_terms,
    join_all,
    join_any,
    parse_query,
    split_query_words,
)

__all__ = [
    "MAX_DEPTH",
    "OPERATORS",
    "QUERY_SIGNS",
    "AllOf",
    "AnyOf",
    "Node",
    "Term",
    "iterate_wanted_terms",
    "join_all",
    "join_any",
    "parse_query",
    "parse_search_query",
    "split_query_words",
]


def parse_search_query(query: SearchQuery) -> Node | None:
    """Return the tree of a query's boolean form, or of its keywords if the boolean form asks for nothing."""
    return parse_query(query.boolean_query) or parse_query(" ".join(f'"{keyword}"' for keyword in query.keywords))
