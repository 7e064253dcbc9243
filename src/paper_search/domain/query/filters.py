"""Apply limits and exclusions that a source did not apply itself: years, if known, and languages by code and name."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from paper_search.domain.query.identifier_queries import find_matching_identifiers, read_identifiers
from paper_search.domain.review_models import ExclusionReason
from paper_search.domain.strategies.plain_words import parse_query
from paper_search.models import Paper, PaperCollection, RawPaper, SearchConstraints, SearchMetadata
from uraniborg.kernel.language.boolean_query import AnyOf, Node, Term
from uraniborg.kernel.language.phrase_files import read_phrase_file
from uraniborg.kernel.language.words import extract_terms

_ENTRIES: Final = [
    entry.split() for entry in read_phrase_file("paper_search.domain.query", "languages.txt")["languages"]
]
_LANGUAGES: Final = {names[0]: names for names in _ENTRIES}
_CODES: Final = {name: names[0] for names in _ENTRIES for name in names}


def parse_language(value: object) -> str | None:
    """Return the two-letter code of a language given as a code, a locale or an English name; else None."""
    if not isinstance(value, str):
        return None
    name = value.strip().lower()
    found = _CODES.get(name) or _CODES.get(name.replace("_", "-").split("-")[0])
    return found or (name if len(name) == 2 and name.isascii() and name.isalpha() else None)


def to_bibliographic_code(language: str) -> str:
    """Return the three-letter code that libraries use for a two-letter code, or the code itself if unknown."""
    return _LANGUAGES.get(language, [language, language])[1]


def to_english_name(language: str) -> str:
    """Return the English name of a two-letter code, or the code itself if unknown."""
    return _LANGUAGES.get(language, [language])[-1]


_WORD = re.compile(r"\w+[+#]*")


def filter_papers(
    papers: Iterable[RawPaper], filters: SearchConstraints, queries: Sequence[str] = (), applied: Collection[str] = ()
) -> tuple[list[RawPaper], Counter[str]]:
    """Return the papers with a title that meet the filters, and the number of the others by reason.

    Filters that the source has `applied` are not checked. A NOT term excludes a paper if no query admits it. Queries of
    identifiers admit only papers with one of these.
    """
    lookups = [read_identifiers(query) for query in queries]
    wanted = [identifier for found in lookups for identifier in found] if all(lookups) else []
    trees = [parse_query(query) for query in queries if "not" not in applied]
    excluding = [tree for tree in trees if tree and not _is_met(tree, lambda _: True, lambda _: True)]
    if len(excluding) < len(trees):  # a query without exclusions admits every paper
        excluding = []

    def find_reason(paper: RawPaper) -> ExclusionReason | None:
        if not paper.title.strip():
            return ExclusionReason.NO_TITLE
        if "year" not in applied and not can_be_within_years(paper.year, filters.year_from, filters.year_to):
            return ExclusionReason.YEAR
        if "language" not in applied and not can_be_same_language(paper.language, filters.language):
            return ExclusionReason.LANGUAGE
        text = f"{paper.title}\n{paper.abstract or ''}"
        if excluding and all(is_text_excluded(query, text) for query in excluding):
            return ExclusionReason.EXCLUDED_WORDS
        return ExclusionReason.OTHER_WORK if wanted and not find_matching_identifiers(paper, wanted) else None

    judged = [(paper, find_reason(paper)) for paper in papers]
    removed = Counter(reason.value for _, reason in judged if reason)
    return [paper for paper, reason in judged if reason is None], removed


def has_year_limit(filters: SearchConstraints) -> bool:
    """Return True if the filters set a first or a last year."""
    return filters.year_from is not None or filters.year_to is not None


def can_be_within_years(year: int | None, year_from: int | None, year_to: int | None) -> bool:
    """Return True if the year lies in the range, both ends included, or is unknown."""
    return year is None or ((year_from is None or year >= year_from) and (year_to is None or year <= year_to))


def can_be_same_language(found: str | None, wanted: str | None) -> bool:
    """Return True unless the two names or codes stand for different known languages."""
    known = parse_language(found), parse_language(wanted)
    return None in known or known[0] == known[1]


def is_text_excluded(query: Node, text: str) -> bool:
    """Return True if the text holds an exclusion of every alternative of the query; wanted words are not checked."""
    is_term_in_text = _make_term_matcher(text, lambda part: _WORD.findall(part.casefold()))

    def is_in_text(node: Node) -> bool:
        return _is_met(node, is_term_in_text, is_in_text)

    return not _is_met(query, lambda _: True, is_in_text)


def has_wanted_words(query: Node, text: str) -> bool:
    """Return True if the text holds the wanted words of the query in any inflection; exclusions are not checked."""
    return _is_met(query, _make_term_matcher(text, extract_terms), lambda _: False)


def _make_term_matcher(text: str, split: Callable[[str], Sequence[str]]) -> Callable[[Term], bool]:
    padded = f" {' '.join(split(text))} "

    def is_term_in_text(term: Term) -> bool:
        wanted = split(term.text)
        # A term of stop words only asks for nothing.
        return not wanted or f" {' '.join(wanted)}{'' if term.text.endswith('*') else ' '}" in padded

    return is_term_in_text


def _is_met(node: Node, is_term_met: Callable[[Term], bool], is_refused: Callable[[Node], bool]) -> bool:
    if isinstance(node, Term):
        return is_term_met(node)
    parts = (_is_met(part, is_term_met, is_refused) for part in node.parts)
    return any(parts) if isinstance(node, AnyOf) else all(parts) and not any(map(is_refused, node.excluded))


def is_year_unknown_kept(paper: Paper, metadata: SearchMetadata) -> bool:
    """Return True if the paper has no year although the round that found it has a year limit."""
    return paper.year is None and has_year_limit(_get_filters(paper.found_in_round, metadata))


def count_unknown_years_kept(collection: PaperCollection, round_number: int | None = None) -> int:
    """Return the number of papers of the result, or of a round, that have no year although years are limited."""
    return sum(
        is_year_unknown_kept(paper, collection.metadata)
        for paper in collection.papers
        if round_number is None or paper.found_in_round == round_number
    )


def _get_filters(round_number: int, metadata: SearchMetadata) -> SearchConstraints:
    logs = (log for log in metadata.round_logs if log.round == round_number)
    return next((log.strategy.filters for log in logs), metadata.search_strategy.filters)
