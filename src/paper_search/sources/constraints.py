"""What a source could not apply itself, applied to the papers it returned."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from paper_search.lookups import carries, read_identifiers
from paper_search.models import RawPaper, SearchConstraints
from paper_search.review import ExclusionReason
from paper_search.sources.boolean import AnyOf, Node, Term, parse
from paper_search.sources.languages import language_of

LEAST_PER_QUERY: Final = 10
_WORD = re.compile(r"\w+[+#]*")


def per_query_limit(limit: int, queries: int) -> int:
    """How many papers each of several queries may bring when `limit` are wanted of all together."""
    return min(limit, max(LEAST_PER_QUERY, -(-limit // max(queries, 1))))


def sift(
    papers: Iterable[RawPaper],
    filters: SearchConstraints,
    boolean_queries: Sequence[str] = (),
    applied: frozenset[str] = frozenset(),
) -> tuple[list[RawPaper], Counter[str]]:
    """Return the papers with a title that meet the filters, and how many do not for each reason.

    NOT terms exclude a paper that none of the queries admits. Limits that the source has `applied` are not checked.
    Of queries that consist of identifiers, only the papers that have one of them fit.
    """
    lookups = [read_identifiers(query) for query in boolean_queries]
    wanted = [identifier for found in lookups for identifier in found] if all(lookups) else []
    queries = [parse(query) for query in boolean_queries] if "not" not in applied else []
    kept: list[RawPaper] = []
    removed: Counter[str] = Counter()
    for paper in papers:
        reason = _misfit(paper, filters, queries, applied)
        if reason is None and wanted and not carries(paper, wanted):
            reason = ExclusionReason.OTHER_WORK
        if reason is None:
            kept.append(paper)
        else:
            removed[reason.value] += 1
    return kept, removed


def _misfit(
    paper: RawPaper, filters: SearchConstraints, queries: Sequence[Node | None], applied: frozenset[str]
) -> ExclusionReason | None:
    if not paper.title.strip():
        return ExclusionReason.NO_TITLE
    if "year" not in applied and not within_years(paper.year, filters.year_from, filters.year_to):
        return ExclusionReason.YEAR
    if "language" not in applied and not same_language(paper.language, filters.language):
        return ExclusionReason.LANGUAGE
    text = f"{paper.title}\n{paper.abstract or ''}"
    if queries and all(query is not None and is_excluded(query, text) for query in queries):
        return ExclusionReason.EXCLUDED_WORDS
    return None


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
