"""Note how the question was read, as far as the strategy follows it, with limits and exclusions.

Once a person has set queries or limits, the sentences about them are derived from the strategy alone.
"""

from collections.abc import Iterable, Iterator, Sequence

from paper_search.intent.reading import (
    describe_author,
    describe_exclusion,
    describe_preference,
    describe_venue,
)
from paper_search.intent.written_queries import split_exclusions
from paper_search.models import ParsedIntent, SearchConstraints, SearchStrategy
from paper_search.query.filters import has_year_limit, is_text_excluded
from paper_search.query.languages import parse_language, to_english_name
from paper_search.strategies.plain_words import parse_query
from paper_search.workflow.strategy_origins import get_query_text
from uraniborg.kernel.boolean_query import Node, Term, iterate_wanted_terms
from uraniborg.kernel.words import extract_terms, fold_text, split_words
from uraniborg.kernel.years.reading import describe_years

UNKNOWN_YEARS_KEPT = (
    "Papers without a year are kept and marked. A source that limits the years itself may leave them out."
)


def list_true_notes(intent: ParsedIntent, strategy: SearchStrategy) -> list[str]:
    """Return the notes on the question that are true of the strategy, and its limits and exclusions in sentences."""
    nodes = [parse_query(get_query_text(query)) for query in strategy.queries]
    is_set = any(origin.by_person and origin.part != "sources" for origin in strategy.origins)
    notes = list(_iterate_derived_notes(intent, strategy.filters, nodes)) if is_set else list(intent.notes)
    untrue = {describe_exclusion(term) for term in intent.excluded if not _is_excluded_everywhere(nodes, term)}
    notes = [note for note in notes if note not in untrue]
    return list(dict.fromkeys([*notes, *_describe_unseen_limits(strategy.filters)]))


def _iterate_derived_notes(
    intent: ParsedIntent, filters: SearchConstraints, nodes: Sequence[Node | None]
) -> Iterator[str]:
    if has_year_limit(filters):
        yield f"Limited to papers {describe_years(filters.year_from, filters.year_to)}."
    if filters.language:
        language = parse_language(filters.language)
        yield f"Limited to papers in {to_english_name(language).capitalize() if language else filters.language}."
    yield from (describe_author(name) for name in intent.authors if _is_asked_for(nodes, name))
    yield from (describe_venue(name) for name in intent.venues if _is_asked_for(nodes, name))
    yield from map(describe_exclusion, _list_exclusions(intent, nodes))
    yield from map(describe_preference, intent.preferences)


def _describe_unseen_limits(filters: SearchConstraints) -> Iterator[str]:
    """Yield what the limits do that a person cannot see from the papers in the result."""
    if has_year_limit(filters):
        yield UNKNOWN_YEARS_KEPT
    if filters.min_relevance:
        yield (
            f"Papers that score below {filters.min_relevance:g} (min_relevance) are removed by automation. They stay "
            "listed, and come back without this limit."
        )


def _list_exclusions(intent: ParsedIntent, nodes: Sequence[Node | None]) -> list[str]:
    """Return the terms that all queries exclude: as the question names them, then the others."""
    first = nodes[0] if nodes else None
    terms = [node.text for node in (split_exclusions(first)[1] if first else ()) if isinstance(node, Term)]
    named = [extract_terms(term) for term in intent.excluded]
    listed = [*intent.excluded, *(term for term in terms if extract_terms(term) not in named)]
    return [term for term in listed if _is_excluded_everywhere(nodes, term)]


def _is_excluded_everywhere(nodes: Sequence[Node | None], term: str) -> bool:
    """Return True if every query excludes papers with the term: a paper that one query admits is not excluded."""
    return bool(nodes) and all(node is not None and is_text_excluded(node, term) for node in nodes)


def _is_asked_for(nodes: Iterable[Node | None], name: str) -> bool:
    asked = {fold_text(word) for node in nodes if node for term in iterate_wanted_terms(node) for word in term.words}
    return any(fold_text(word) in asked for word in split_words(name) if len(word) > 1)
