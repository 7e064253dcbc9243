"""Mark the words of a text that match the queries of a search."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from paper_search.models import SearchQuery
from paper_search.strategies.plain_words import parse_search_query
from uraniborg.kernel.boolean_query import iterate_wanted_terms
from uraniborg.kernel.words import extract_terms, fold_text

_WORD: Final = re.compile(r"[^\W_]+")
_MAX_TERMS: Final = 200


class Span(NamedTuple):
    """A part of a text, from `start` to before `end`."""

    start: int
    end: int


class TermMatcher:
    """Finds the wanted terms of queries in texts, in any inflection."""

    def __init__(self, queries: Iterable[SearchQuery]) -> None:
        self._phrases: dict[tuple[str, ...], None] = {}
        self._prefixes: dict[str, None] = {}
        for query in queries:
            node = parse_search_query(query)
            for term in iterate_wanted_terms(node) if node else ():
                if len(term.words) == 1 and term.text.endswith("*"):
                    self._prefixes[fold_text(term.text.rstrip("*"))] = None
                elif stems := tuple(extract_terms(term.text)):
                    self._phrases[stems] = None
        self._by_first = _group_by_first(list(self._phrases)[:_MAX_TERMS])

    def find_spans(self, text: str) -> list[Span]:
        """Return the spans of the text that match a term, in order and without overlaps."""
        words: list[tuple[Span, str]] = []
        found: list[Span] = []
        for match in _WORD.finditer(text):
            span = Span(*match.span())
            if any(fold_text(match[0]).startswith(prefix) for prefix in self._prefixes if prefix):
                found.append(span)
            words += [(span, stem) for stem in extract_terms(match[0])]
        stems = [stem for _, stem in words]
        for index, stem in enumerate(stems):
            for phrase in self._by_first.get(stem, ()):
                if tuple(stems[index : index + len(phrase)]) == phrase:
                    found.append(Span(words[index][0].start, words[index + len(phrase) - 1][0].end))
                    break
        return _join_spans(found)


def _group_by_first(phrases: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Return the phrases by their first word, the longest first."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        groups.setdefault(phrase[0], []).append(phrase)
    return groups


def _join_spans(spans: Sequence[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined
