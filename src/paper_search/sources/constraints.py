"""What a source could not apply itself, applied to the papers it returned."""

import re
from collections.abc import Iterable
from typing import Final

from paper_search.lookups import carries, read_identifiers
from paper_search.models import RawPaper, SearchConstraints
from paper_search.sources.boolean import AnyOf, Node, Term, parse
from paper_search.sources.languages import language_of

LEAST_PER_QUERY: Final = 10
_WORD = re.compile(r"\w+[+#]*")


def per_query_limit(limit: int, queries: int) -> int:
    """How many papers each of several queries may bring when `limit` are wanted of all together."""
    return min(limit, max(LEAST_PER_QUERY, -(-limit // max(queries, 1))))


def fitting(
    papers: Iterable[RawPaper],
    filters: SearchConstraints,
    boolean_query: str = "",
    applied: frozenset[str] = frozenset(),
) -> list[RawPaper]:
    """Return the papers with a title that meet the year, the language and the NOT terms, save those already `applied`.

    Of a query that consists of identifiers, only the papers that have one of them.
    """
    query = parse(boolean_query) if "not" not in applied else None
    identifiers = read_identifiers(boolean_query)
    return [
        paper
        for paper in papers
        if paper.title.strip()
        and (not identifiers or carries(paper, identifiers))
        and ("year" in applied or within_years(paper.year, filters.year_from, filters.year_to))
        and ("language" in applied or same_language(paper.language, filters.language))
        and (query is None or not is_excluded(query, f"{paper.title}\n{paper.abstract or ''}"))
    ]


def within_years(year: int | None, year_from: int | None, year_to: int | None) -> bool:
    """Whether the year lies in the range, both ends included. An unknown year is not held against a paper."""
    return year is None or ((year_from is None or year >= year_from) and (year_to is None or year <= year_to))


def same_language(found: str | None, wanted: str | None) -> bool:
    """Whether two names or codes mean one language. False only when both are known and differ."""
    known = language_of(found), language_of(wanted)
    return None in known or known[0] == known[1]


def is_excluded(query: Node, text: str) -> bool:
    """Whether the text holds what every alternative of the query excludes."""
    return not _admits(query, _words(text))


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _admits(node: Node, words: str) -> bool:
    """Whether the exclusions let the words pass; that the rest matches is taken from the source, which stems."""
    if isinstance(node, Term):
        return True
    if isinstance(node, AnyOf):
        return any(_admits(part, words) for part in node.parts)
    return all(_admits(part, words) for part in node.parts) and not any(_holds(out, words) for out in node.excluded)


def _holds(node: Node, words: str) -> bool:
    if isinstance(node, Term):
        open_ended = node.text.endswith("*")
        return _words(node.text)[: -1 if open_ended else None] in words
    if isinstance(node, AnyOf):
        return any(_holds(part, words) for part in node.parts)
    return all(_holds(part, words) for part in node.parts) and not any(_holds(out, words) for out in node.excluded)
