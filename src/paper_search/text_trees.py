"""Parse foreign text into trees of a few kinds of nodes, for pages that must not receive markup.

The kinds are `text`, `math` (a formula in LaTeX), `sub`, `sup`, `italic` and `bold`. Everything else in a text, also
tags, is plain text.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from paper_search.matched_terms import Span, TermMatcher
from paper_search.review_replies import TextNodeReply
from uraniborg.kernel.bibliography.latex import decode_latex

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


def _iterate_nodes(text: str, spans: Sequence[Span]) -> Iterator[TextNodeReply]:
    position = 0
    for match in _MARKUP.finditer(text):
        if not (node := _build_markup_node(match, spans)):
            continue
        yield from _iterate_text_nodes(text, position, match.start(), spans)
        yield node
        position = match.end()
    yield from _iterate_text_nodes(text, position, len(text), spans)


def _build_markup_node(match: re.Match[str], spans: Sequence[Span]) -> TextNodeReply | None:
    if tag := match["tag"]:
        start, end = match.span("inside")
        children = list(_iterate_text_nodes(match.string, start, end, spans))
        return {**_TEXT, "kind": _KINDS[tag.lower()], "text": match["inside"], "children": children}
    latex = next(found for found in match.group("block", "inline", "round", "square") if found)
    if match["inline"] and not _LATEX_SIGN.search(latex):
        return None  # two amounts of money, not a formula
    is_block = bool(match["block"] or match["square"])
    return {**_TEXT, "kind": "math", "text": decode_latex(f"${latex}$"), "latex": latex, "block": is_block}


def _iterate_text_nodes(text: str, start: int, end: int, spans: Sequence[Span]) -> Iterator[TextNodeReply]:
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
