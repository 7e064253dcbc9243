"""Parse foreign text into trees of a few kinds of nodes, with the words that match the queries marked.

The kinds are `text`, `math` (a formula in LaTeX), `sub`, `sup`, `italic` and `bold`. Everything else in a text, also
tags, is plain text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from paper_search.domain.strategies.plain_words import parse_search_query
from paper_search.models import SearchQuery
from paper_search.service.review.review_replies import TextNodeReply
from uraniborg.kernel.bibliography.latex import decode_latex
from uraniborg.kernel.language.boolean_query import iterate_wanted_terms
from uraniborg.kernel.language.words import extract_terms, fold_text

_WORD: Final = re.compile(r"[^\W_]+")
_MAX_TERMS: Final = 200


class MatchedSpan(NamedTuple):
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

    def find_spans(self, text: str) -> list[MatchedSpan]:
        """Return the spans of the text that match a term, in order and without overlaps."""
        words: list[tuple[MatchedSpan, str]] = []
        found: list[MatchedSpan] = []
        for match in _WORD.finditer(text):
            span = MatchedSpan(*match.span())
            if any(fold_text(match[0]).startswith(prefix) for prefix in self._prefixes if prefix):
                found.append(span)
            words += [(span, stem) for stem in extract_terms(match[0])]
        stems = [stem for _, stem in words]
        for index, stem in enumerate(stems):
            for phrase in self._by_first.get(stem, ()):
                if tuple(stems[index : index + len(phrase)]) == phrase:
                    found.append(MatchedSpan(words[index][0].start, words[index + len(phrase) - 1][0].end))
                    break
        return _join_spans(found)


def _group_by_first(phrases: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Return the phrases by their first word, the longest first."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        groups.setdefault(phrase[0], []).append(phrase)
    return groups


def _join_spans(spans: Sequence[MatchedSpan]) -> list[MatchedSpan]:
    joined: list[MatchedSpan] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = MatchedSpan(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


_Mark = Literal["sub", "sup", "italic", "bold"]
_KINDS: Final[dict[str, _Mark]] = {
    "sub": "sub",
    "sup": "sup",
    "i": "italic",
    "em": "italic",
    "italic": "italic",
    "b": "bold",
    "strong": "bold",
    "bold": "bold",
}
"""The kind of node for each tag that sources leave in texts."""
_MATH: Final = (
    r"\$\$(?P<block>[^$]{1,2000})\$\$|(?<![\\$\w])\$(?P<inline>[^$\s](?:[^$]{0,400}[^$\s\\])?)\$(?![\d$])"
    r"|\\\((?P<round>.{1,400}?)\\\)|\\\[(?P<square>.{1,2000}?)\\\]"
)
_TAG_NAMES: Final = "|".join(sorted(_KINDS, key=len, reverse=True))
_ELEMENT: Final = rf"<(?:jats:)?(?P<tag>{_TAG_NAMES})>(?P<inside>[^<>]{{0,2000}})</(?:jats:)?(?P=tag)>"
_MARKUP: Final = re.compile(f"{_MATH}|{_ELEMENT}", re.IGNORECASE | re.DOTALL)
_LATEX_SIGN: Final = re.compile(r"[\\^_{}=<>]|^[A-Za-z]$|^\d")

_TEXT: Final[TextNodeReply] = {
    "kind": "text",
    "text": "",
    "matched": None,
    "latex": None,
    "block": None,
    "children": None,
}


def build_text_tree(text: str, matcher: TermMatcher | None = None) -> list[TextNodeReply]:
    """Return the text as a list of nodes, with the words that match a query marked."""
    return list(_iterate_nodes(text, matcher.find_spans(text) if matcher else []))


def _iterate_nodes(text: str, spans: Sequence[MatchedSpan]) -> Iterator[TextNodeReply]:
    position = 0
    for match in _MARKUP.finditer(text):
        if not (node := _build_markup_node(match, spans)):
            continue
        yield from _iterate_text_nodes(text, position, match.start(), spans)
        yield node
        position = match.end()
    yield from _iterate_text_nodes(text, position, len(text), spans)


def _build_markup_node(match: re.Match[str], spans: Sequence[MatchedSpan]) -> TextNodeReply | None:
    if tag := match["tag"]:
        start, end = match.span("inside")
        children = list(_iterate_text_nodes(match.string, start, end, spans))
        return {**_TEXT, "kind": _KINDS[tag.lower()], "text": match["inside"], "children": children}
    latex = next(found for found in match.group("block", "inline", "round", "square") if found)
    if match["inline"] and not _LATEX_SIGN.search(latex):
        return None  # two amounts of money, not a formula
    is_block = bool(match["block"] or match["square"])
    return {**_TEXT, "kind": "math", "text": decode_latex(f"${latex}$"), "latex": latex, "block": is_block}


def _iterate_text_nodes(text: str, start: int, end: int, spans: Sequence[MatchedSpan]) -> Iterator[TextNodeReply]:
    for span in spans:
        first, last = max(span.start, start), min(span.end, end)
        if first >= last:
            continue
        if first > start:
            yield {**_TEXT, "text": text[start:first], "matched": False}
        yield {**_TEXT, "text": text[first:last], "matched": True}
        start = last
    if start < end:
        yield {**_TEXT, "text": text[start:end], "matched": False}
