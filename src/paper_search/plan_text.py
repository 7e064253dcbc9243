"""Describe a plan in words for terminals: concepts, suggested terms, queries by rung, sources and changes."""

from collections.abc import Iterator

from paper_search.models import ConceptBlock, PartOrigin, SearchQuery, SearchStrategy
from paper_search.source_labels import format_source_labels
from paper_search.sources.query_translation import list_source_changes


def describe_plan(strategy: SearchStrategy) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each part, in the order in which a person reads them."""
    for block in strategy.blocks:
        yield "concept", _describe_block(block)
    for suggestion in strategy.suggestions:
        where = f", joins {suggestion.block}" if suggestion.block else ""
        yield "suggest", f"{suggestion.term} ({suggestion.reason}{where})"
    has_rungs = len({query.rung for query in strategy.queries}) > 1
    for query in strategy.queries:
        yield "query", _describe_query(query, has_rungs=has_rungs)
    yield "sources", format_source_labels(strategy.sources)
    for names, changes in list_source_changes(strategy).items():
        yield "changed", f"{format_source_labels(names.split(', '))}: {' '.join(changes)}"


def format_origin_value(origin: PartOrigin) -> str:
    """Return the value of a part of a strategy, sources by the names that people know."""
    return format_source_labels(origin.value.split(", ")) if origin.part == "sources" else origin.value


def _describe_block(block: ConceptBlock) -> str:
    facts = ", ".join(filter(None, ("" if block.active else "off", block.reason)))
    return " OR ".join(block.variants or [block.name]) + (f" ({facts})" if facts else "")


def _describe_query(query: SearchQuery, *, has_rungs: bool) -> str:
    rung = f"rung {query.rung + 1}: " if has_rungs else ""
    words = f"{query.words} (words for ranking sources)" if query.words.strip() else ""
    return rung + "; ".join(filter(None, (query.boolean_query, words)))
