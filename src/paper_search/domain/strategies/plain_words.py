"""Reduce a strategy: to plain terms for sources without fields, and to its first terms and limits."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from paper_search.domain.strategies.platform_rendering import Changes, note_lost_field
from paper_search.domain.strategies.strategy_parser import is_strategy, read_strategy
from paper_search.domain.strategies.terms import Field, FieldTerm
from paper_search.models import SearchQuery
from uraniborg.kernel.language import boolean_query
from uraniborg.kernel.language.boolean_query import (
    AllOf,
    AnyOf,
    Node,
    Term,
    iterate_wanted_terms,
    join_all,
    join_any,
    split_query_words,
)

_LIMITS: Final = "Not searched as words"
_EXCLUSIONS: Final = "Excluded only by sources with this field"
_FIELDS: Final = {
    Field.TITLE: "Words in the title are searched in all fields",
    Field.ABSTRACT: "Words in the abstract are searched in all fields",
    Field.TITLE_ABSTRACT: "Words in title and abstract are searched in all fields",
    Field.KEYWORD: "Keywords are searched in all fields",
}


def parse_query(query: str) -> Node | None:
    """Return the tree of any query in plain terms, or None if it asks for no words. Never raises."""
    return simplify_strategy(query)[0] if is_strategy(query) else boolean_query.parse_query(query)


def parse_search_query(query: SearchQuery) -> Node | None:
    """Return the tree of a query's boolean form, or of its keywords if the boolean form asks for nothing."""
    return parse_query(query.boolean_query) or parse_query(" ".join(f'"{keyword}"' for keyword in query.keywords))


@lru_cache(maxsize=64)
def simplify_strategy(text: str) -> tuple[Node | None, tuple[str, ...]]:
    """Return the tree of a strategy in plain terms, None if it has no words, and what it changes or loses."""
    tree = read_strategy(text).tree
    if tree is None:
        return None, ()
    changes = Changes()
    return _simplify(tree, changes), tuple(changes.describe())


def _simplify(node: Node, changes: Changes) -> Node | None:
    if isinstance(node, FieldTerm):
        if node.is_limit:
            changes.add(_LIMITS, node)
            return None
        return _simplify_term(node, changes)
    if isinstance(node, Term):
        return node
    parts = [_simplify(part, changes) for part in node.parts]
    if isinstance(node, AnyOf):
        return join_any(parts)
    return join_all(parts, [_simplify_exclusion(part, changes) for part in node.excluded])


def _simplify_exclusion(node: Node, changes: Changes) -> Node | None:
    """Return an exclusion in plain terms, or None: without one of its conditions it would exclude more."""
    if isinstance(node, FieldTerm):
        if node.is_topic:
            return _simplify_term(node, changes)
        changes.add(_EXCLUSIONS, node)
        return None
    if isinstance(node, Term):
        return node
    parts = [_simplify_exclusion(part, changes) for part in node.parts]
    if isinstance(node, AnyOf):
        return join_any(parts)
    excluded = [_simplify_exclusion(part, changes) for part in node.excluded]
    return None if None in parts or None in excluded else join_all(parts, excluded)


def _simplify_term(term: FieldTerm, changes: Changes) -> Node | None:
    note_lost_field(term, changes)
    if term.field in _FIELDS:
        changes.add(_FIELDS[term.field], term)
    words = split_query_words(term.natural_words) if term.is_heading else term.words
    if term.distance is not None:
        changes.add("Words at a distance are joined by AND", term)
    elif term.tag or term.is_quoted or len(words) == 1:
        return Term(words)
    return join_all(Term((word,)) for word in words)


@dataclass(slots=True)
class StrategyLimits:
    """The limits that a strategy requires of all records, with the terms that state them."""

    year_from: int | None = None
    year_to: int | None = None
    language: str | None = None
    terms: list[str] = field(default_factory=list[str])

    def list_names(self) -> list[str]:
        return [name for name in ("year_from", "year_to", "language") if getattr(self, name) is not None]


def list_main_terms(node: Node) -> list[str]:
    """Return the first term of each condition that names a topic, as words in the order of a text."""
    terms: list[str] = []
    for condition in _list_conditions(node):
        named = (term for term in iterate_wanted_terms(condition) if isinstance(term, FieldTerm))
        terms += [term.natural_words for term in named if not term.is_limit][:1]
    return list(dict.fromkeys(terms))


def find_limits(node: Node) -> StrategyLimits:
    """Return the years and the language that a strategy requires; other sources get them as filters."""
    limits = StrategyLimits()
    for condition in _list_conditions(node):
        if not isinstance(condition, FieldTerm):
            continue
        if years := condition.years:
            first, last = years
            limits.year_from = max(filter(None, (limits.year_from, first)), default=None)
            limits.year_to = min(filter(None, (limits.year_to, last)), default=None)
            limits.terms.append(condition.source_text)
        elif condition.field is Field.LANGUAGE and limits.language is None:
            limits.language = condition.bare.lower()
            limits.terms.append(condition.source_text)
    return limits


def describe_kept_limits(queries: Iterable[str], changed: Container[str]) -> list[str]:
    """Return a note for each limit that a strategy states itself, so that changes of limits do not reach it."""
    trees = [tree for text in queries if is_strategy(text) and (tree := read_strategy(text).tree)]
    stated = [limits for limits in map(find_limits, trees) if any(name in changed for name in limits.list_names())]
    terms = dict.fromkeys(term for limits in stated for term in limits.terms)
    return [f"The query keeps its own limit “{term}”: edit the query to change it." for term in terms]


def _list_conditions(node: Node) -> list[Node]:
    return list(node.parts) if isinstance(node, AllOf) else [node]
