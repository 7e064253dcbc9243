"""Write Boolean queries as text: for people, for the syntaxes of sources, and for the kind of each source."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import quote_plus

from paper_search.domain.strategies.plain_words import parse_query, parse_search_query
from paper_search.domain.strategies.platform_translation import render_for_pubmed
from paper_search.domain.strategies.strategy_parser import is_strategy, read_strategy
from paper_search.domain.strategies.terms import FieldTerm
from paper_search.models import SearchQuery, SourceKind
from uraniborg.kernel.language.boolean_query import (
    OPERATORS,
    AllOf,
    AnyOf,
    Node,
    Term,
    iterate_wanted_terms,
    join_all,
    join_any,
)

_FEWEST_ALTERNATIVES = 3  # that a condition keeps where a query is cut; otherwise the last conditions go
_MISREAD = OPERATORS | {"ANDNOT", "TO", "NEAR", "ADJ"}
_BARE = re.compile(r"[0-9A-Za-z\u00aa-\U0010ffff]+|[0-9A-Za-z\u00aa-\U0010ffff]{3,}\*")


def parse_phrase(text: str) -> Term | None:
    """Return the text as one phrase, or None if it holds no word."""
    found = parse_query(f'"{text.replace(chr(34), " ")}"')
    return found if isinstance(found, Term) else None


def quote_term_if_needed(term: Term) -> str:
    """Return the term bare if no search engine can misread it, else in double quotes; a tagged term as written."""
    if isinstance(term, FieldTerm):
        return term.source_text
    if _BARE.fullmatch(term.text) and term.text not in _MISREAD:
        return term.text
    return f'"{term.text.replace("*", "")}"'


def format_query(node: Node) -> str:
    """Return the query in the form that people read and `parse_query` understands."""
    if isinstance(node, Term):
        return quote_term_if_needed(node)
    wanted = (" OR " if isinstance(node, AnyOf) else " AND ").join(map(_format_nested, node.parts))
    unwanted = join_any(node.excluded) if isinstance(node, AllOf) else None
    return f"{wanted} AND NOT {_format_nested(unwanted)}" if unwanted else wanted


def _format_nested(node: Node) -> str:
    return format_query(node) if isinstance(node, Term) else f"({format_query(node)})"


def normalise_query(query: str) -> str:
    """Return a boolean query in the form of `format_query`; "" if it asks for nothing. Field tags of PubMed stay."""
    if is_strategy(query):
        return render_for_pubmed(tree) if (tree := read_strategy(query).tree) else ""
    for _ in range(2):  # formatting drops wildcards that are too short, which can leave needless quotes
        query = format_query(tree) if (tree := parse_query(query)) else ""
    return query


def render_with_operators(
    node: Node,
    *,
    render_term: Callable[[Term], str] = quote_term_if_needed,
    and_sign: str = " AND ",
    or_sign: str = " OR ",
    not_sign: str = " NOT ",
) -> str:
    """Return the query with brackets and the given operators, for sources that support all three."""
    if isinstance(node, Term):
        return render_term(node)
    signs = {"and_sign": and_sign, "or_sign": or_sign, "not_sign": not_sign}
    render = partial(render_with_operators, render_term=render_term, **signs)
    if isinstance(node, AnyOf):
        return f"({or_sign.join(map(render, node.parts))})"
    return f"({and_sign.join(map(render, node.parts))}{''.join(not_sign + render(part) for part in node.excluded)})"


def list_wanted_words(node: Node) -> list[str]:
    """Return the words of all wanted terms, each once and in order, for sources without operators."""
    return list(dict.fromkeys(word.rstrip("*") for term in iterate_wanted_terms(node) for word in term.words))


def count_address_bytes(text: str) -> int:
    """Return the number of bytes that a text takes in a web address."""
    return len(quote_plus(text))


def render_within_limit(
    node: Node | None, render: Callable[[Node], str], limit: int, measure: Callable[[str], int] = count_address_bytes
) -> str:
    """Return the text that `render` makes of the query, or of as many of its terms as `limit` allows.

    Exclusions are dropped before the first term. Returns "" if not even the first term fits, or for no query.
    """
    if node is None:
        return ""
    if measure(whole := render(node)) <= limit:
        return whole

    def is_too_long(count: int) -> bool:
        return measure(render(_limit_terms(node, count))) > limit

    terms = list(iterate_wanted_terms(node))
    fitting = bisect_left(range(1, len(terms) + 1), True, key=is_too_long)
    text = render(_limit_terms(node, fitting) if fitting else terms[0])
    return text if measure(text) <= limit else ""


def _limit_terms(node: Node, count: int) -> Node:
    """Return the query with its first terms; if there are enough, the conditions share them and small ones stay."""
    if isinstance(node, Term):
        return node
    sizes = [len(list(iterate_wanted_terms(part))) for part in node.parts]
    is_shared = isinstance(node, AllOf) and count >= sum(min(size, _FEWEST_ALTERNATIVES) for size in sizes)
    counts = [0] * len(sizes)
    for done, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__) if is_shared else range(len(sizes))):
        counts[index] = min(sizes[index], count // (len(sizes) - done) if is_shared else count)
        count -= counts[index]
    first = [_limit_terms(part, wanted) for part, wanted in zip(node.parts, counts, strict=True) if wanted]
    return (join_any(first) if isinstance(node, AnyOf) else join_all(first, node.excluded)) or node


def select_queries(kind: SourceKind | None, queries: Sequence[SearchQuery]) -> list[SearchQuery]:
    """Return the queries that a source of this kind receives; for a ranking source `boolean_query` holds the words."""
    selected = [query for query in queries if is_query_received(kind, query, queries)]
    texts = [(kind == "ranked" and query.words.strip()) or query.boolean_query for query in selected]
    return [query.model_copy(update={"boolean_query": text}) for query, text in zip(selected, texts, strict=True)]


def is_query_received(kind: SourceKind | None, query: SearchQuery, queries: Sequence[SearchQuery]) -> bool:
    """Return True if a source of this kind receives the query of a strategy with these queries."""
    if kind == "ranked" and any(one.words.strip() for one in queries):
        return bool(query.words.strip())
    # A query with neither text is searched for its keywords.
    return bool(query.boolean_query.strip()) or not query.words.strip()


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
