"""Summarise a strategy: the first term of each condition, and the limits that all records meet."""

from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from paper_search.strategies.fields import Field
from paper_search.strategies.reader import is_strategy, read_strategy
from paper_search.strategies.terms import FieldTerm
from uraniborg.kernel.boolean_query import AllOf, Node, iterate_wanted_terms


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
