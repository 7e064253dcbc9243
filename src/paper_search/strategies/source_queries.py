"""Send strategies to single sources: in the syntax of a source with fields, or in plain terms."""

from collections.abc import Callable

from paper_search.models import SearchQuery
from paper_search.query.rendering import format_query, list_wanted_words, render_with_operators, render_within_limit
from paper_search.strategies.plain_words import parse_query, parse_search_query
from paper_search.strategies.reader import is_strategy, read_strategy
from uraniborg.kernel.boolean_query import Node


def render_own_syntax_within_limit(query: SearchQuery, render_strategy: Callable[[Node], str], limit: int) -> str:
    """Return a query for a source with fields: a strategy by `render_strategy`, in brackets, cut as others are."""
    if not is_strategy(query.boolean_query):
        return render_within_limit(parse_search_query(query), render_with_operators, limit)
    tree = read_strategy(query.boolean_query).tree
    return render_within_limit(tree, lambda node: f"({render_strategy(node)})", limit)


def simplify_query(query: SearchQuery) -> SearchQuery:
    """Return a query for a source without fields: a strategy in plain terms, another query as it is."""
    if not is_strategy(query.boolean_query):
        return query
    tree = parse_query(query.boolean_query)
    return query.model_copy(update={"boolean_query": format_query(tree) if tree else ""})


def render_plain_words(query: SearchQuery) -> str:
    """Return the wanted words of a query, without operators, fields and exclusions."""
    node = parse_search_query(query)
    return " ".join(list_wanted_words(node)) if node else ""
