"""Boolean queries of a paper search: plain ones as the kernel reads them, and strategies in the syntax of PubMed."""

from paper_search.models import SearchQuery
from paper_search.strategies.plain_words import simplify_strategy
from paper_search.strategies.reader import is_strategy
from uraniborg.kernel import boolean_query
from uraniborg.kernel.boolean_query import Node


def parse_query(query: str) -> Node | None:
    """Return the tree of a query in plain terms, or None if it asks for no words. Never raises."""
    return simplify_strategy(query)[0] if is_strategy(query) else boolean_query.parse_query(query)


def parse_search_query(query: SearchQuery) -> Node | None:
    """Return the tree of a query's boolean form, or of its keywords if the boolean form asks for nothing."""
    return parse_query(query.boolean_query) or parse_query(" ".join(f'"{keyword}"' for keyword in query.keywords))
