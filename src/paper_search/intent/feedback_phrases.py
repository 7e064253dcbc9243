"""The phrases of feedback: kinds of phrases with slots, from `data/feedback_phrases.txt`."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from paper_search.intent.vocabulary import read_lines

REQUESTS: Final = (
    "drop",
    "suggestions",
    "wider",
    "narrower",
    "more",
    "fewer",
    "exclude",
    "kinds",
    "without",
    "sans",
    "add",
)
"""The kinds of phrases that ask for something, in the order in which they are tried."""
_LIMITS: Final = ("years", "language", "min_relevance", "year_from", "year_to")
_LINES: Final = tuple(read_lines("feedback_phrases.txt"))
_EDGE: Final = r"[\s,:.!?¿¡~…()]"
_ELISION: Final = re.compile(r"\b(d|l|un|(?:d|s|n|a|da)(?:e|u|a)?ll)['’](?=\w)", re.IGNORECASE)
_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Request(NamedTuple):
    """What a clause asks for, the words that it names, and whether it does so politely ("could you …?")."""

    kind: str
    named: str = ""
    asks: bool = False


def read_request(clause: str) -> Request | None:
    """Return what a clause asks for, or None if no phrase matches it completely."""
    bare, asks = strip_courtesies(clause)
    softened, _ = strip_courtesies(" ".join(_join_phrases("soft").sub(" ", bare).split()))
    for text in dict.fromkeys((softened, bare, separate_elisions(clause))):
        for kind in REQUESTS:
            for pattern in _compile_each(kind):
                if match := pattern.fullmatch(text):
                    named = match["named"].strip() if pattern.groups else ""
                    limit = _find_limit(named) if kind == "drop" else named
                    if limit is not None:
                        return Request(kind, limit, asks)
    return None


def strip_courtesies(clause: str) -> tuple[str, bool]:
    """Return a clause without courtesies at both ends, and whether it is put as a question."""
    text = separate_elisions(clause)
    asks = bool(_match_beginning("ask").match(_strip(text, ("open",), ())))
    return _strip(text, ("open", "ask"), ("end",)), asks


def strip_term(term: str) -> str:
    """Return a term without articles and "papers about" in front of it, and without such words after it."""
    return re.sub(r"' (?=\w)", "'", _strip(term, ("about", "elided"), ("tail",))) or term


def is_filler(text: str) -> bool:
    """Return True if a text without its limits says nothing else: "only papers", "published"."""
    return not _join_phrases("filler", "open", "end", "ask", "soft").sub("", text).strip(" \n\t,:.!?¿¡")


def has_phrase(kind: str, text: str) -> bool:
    """Return True if a phrase of this kind is in the text."""
    return bool(_join_phrases(kind).search(text))


def is_phrase(kind: str, text: str) -> bool:
    """Return True if the text is a phrase of this kind."""
    return bool(_join_phrases(kind).fullmatch(text))


def find_phrases(kind: str, text: str) -> Iterator[re.Match[str]]:
    """Return the phrases of this kind in the text."""
    return _join_phrases(kind).finditer(text)


def split_at(kind: str, text: str) -> list[str]:
    """Return the pieces of a text between the phrases of a kind, without empty ones."""
    return [piece.strip() for piece in _join_phrases(kind).split(text) if piece.strip()]


def separate_elisions(text: str) -> str:
    """Return the text with a space after elided articles: "l' eau"."""
    return _ELISION.sub(r"\1' ", text)


def _find_limit(name: str) -> str | None:
    bare = strip_term(name)
    return next((limit for limit in _LIMITS if is_phrase(f"limit {limit}", separate_elisions(bare))), None)


def _strip(text: str, beginnings: tuple[str, ...], endings: tuple[str, ...]) -> str:
    """Return the text without the phrases of these kinds at its beginning and its end, however many there are."""
    before = None
    while text != before:
        before = text
        text = re.sub(rf"^{_EDGE}+|{_EDGE}+$", "", text)
        text = _match_beginning(*beginnings).sub("", text, count=1) if beginnings else text
        text = _match_ending(*endings).sub("", text, count=1) if endings else text
    return text


@lru_cache(maxsize=64)
def _join_phrases(*kinds: str) -> re.Pattern[str]:
    return re.compile(_build_alternation(kinds), re.IGNORECASE)


@lru_cache(maxsize=16)
def _match_beginning(*kinds: str) -> re.Pattern[str]:
    return re.compile(rf"^{_build_alternation(kinds)}", re.IGNORECASE)


@lru_cache(maxsize=16)
def _match_ending(*kinds: str) -> re.Pattern[str]:
    return re.compile(rf"{_build_alternation(kinds)}$", re.IGNORECASE)


@lru_cache(maxsize=16)
def _compile_each(kind: str) -> list[re.Pattern[str]]:
    return [re.compile(pattern, re.IGNORECASE) for pattern in _list_patterns(kind)]


def _build_alternation(kinds: tuple[str, ...]) -> str:
    """Return a pattern of the phrases, the longest first; words end where they end, Chinese and Japanese anywhere."""
    patterns = sorted((pattern for kind in kinds for pattern in _list_patterns(kind)), key=len, reverse=True)
    words = "|".join(pattern for pattern in patterns if not _CJK.search(pattern)) or "(?!)"
    others = "|".join(pattern for pattern in patterns if _CJK.search(pattern)) or "(?!)"
    return rf"(?:(?<![\w-])(?:{words})(?![\w-])|(?:{others}))"


def _list_patterns(kind: str) -> list[str]:
    return [_to_pattern(line.removeprefix(f"{kind}: ")) for line in _LINES if line.startswith(f"{kind}: ")]


def _to_pattern(phrase: str) -> str:
    text = separate_elisions(phrase).replace("(", "(?:").replace("[", "(?:").replace("]", ")?")
    return text.replace(" ", r"\s+").replace("*", "(?P<named>.+?)")
