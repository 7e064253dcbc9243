"""Makes a query safe to read: one line of normalised text with every quoted phrase set aside and no small talk.

Readers cut what they understood out of the text and leave `BREAK` behind, so that words on either side of a cut are
never taken for one phrase. A quoted phrase is stood in for by one private character, so that no rule reads inside it.
"""

import re
import unicodedata
from collections.abc import Sequence

from paper_search.intent.courtesy_rules import ABOUT, CJK, CLOSINGS, JOINT, NOUNS_ALONE, OPENINGS, PAPERS

BREAK = "\n"
_FIRST_STAND_IN = 0xE000
MAX_PHRASES = 20
MAX_CHARACTERS = 4_000
"""Nobody says more about one search; what goes on longer is read up to here, so that reading takes bounded time."""
STAND_IN = "[\ue000-\ue0ff]"

_QUOTED = re.compile(
    r'"([^"\n]*)"|“([^“”\n]*)”|„([^„“”\n]*)[“”]|«([^«»\n]*)»|「([^「」\n]*)」|『([^『』\n]*)』|《([^《》\n]*)》'
    r"|(?<![\w'’])['‘]([^\W_][^'‘’\n]*[^\W_])['’](?![\w'’])"
)
_STRAY_QUOTES = re.compile(r'["“”„«»「」『』《》]')
_JOINERS = "\u200c\u200d"

_OPENING = re.compile(rf"\s*(?:{'|'.join(OPENINGS)})(?!-\w)", re.IGNORECASE)
_CLOSING = re.compile(rf"[\s,;.]*(?:{'|'.join(CLOSINGS)})[\s.!?]*$", re.IGNORECASE)
_INSIDE = re.compile("|".join((*CJK, JOINT)), re.IGNORECASE)
_SENTENCE_END = re.compile(rf"({BREAK}|(?<=[;!?])\s|(?<!\b[A-Z]\.)(?<=\.)\s)")
_NOUN_ALONE = re.compile(
    r"(?<![\w-])(?:(?:scientific|academic|scholarly|research|journal|conference|review|seminal|(?:most|highly)[\s-]cited)\s+)*"
    rf"(?:papers|articles|publications|preprints)(?![\w-])|(?<=\n){PAPERS}(?=\s*\n|\s+{ABOUT}\b)"
    rf"|(?<=\n)[\s,;.]*{NOUNS_ALONE}[\s,;.]*(?=\n)",
    re.IGNORECASE,
)


def normalised(text: str) -> str:
    """The text in compatibility form on one line, without controls, lone surrogates or private characters."""
    folded = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS])[:MAX_CHARACTERS]
    kept = (_printable(character) for character in folded)
    return " ".join("".join(kept).split())


def _printable(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Cf":
        return character if character in _JOINERS else ""
    return " " if kind in {"Cc", "Cs", "Co"} else character


def set_phrases_aside(text: str) -> tuple[str, list[str]]:
    """The normalised text with each quoted phrase replaced by its stand-in, and the phrases."""
    phrases: list[str] = []

    def set_aside(match: re.Match[str]) -> str:
        phrase = next(group for group in match.groups() if group is not None).strip(" ,.;:")
        if len(phrases) == MAX_PHRASES or not any(map(str.isalnum, phrase)):
            return f" {phrase} "
        phrases.append(phrase)
        return f" {stand_in(len(phrases) - 1)} "

    # Spaces around a stand-in would part `author:"…"` and `-"…"` from what they belong to.
    marked = re.sub(r"(^|[\s(])(-|\w+:) (?=" + STAND_IN + ")", r"\1\2", _QUOTED.sub(set_aside, text))
    return " ".join(_STRAY_QUOTES.sub(" ", marked).split()), phrases


def stand_in(index: int) -> str:
    """The private character that stands for the phrase of that index."""
    return chr(_FIRST_STAND_IN + index)


def restored(text: str, phrases: Sequence[str]) -> str:
    """The text with stand-ins turned back into their phrases."""
    return re.sub(STAND_IN, lambda match: phrases[ord(match[0]) - _FIRST_STAND_IN], text)


def cut(text: str, start: int, end: int) -> str:
    """The text without the span, a break in its place."""
    return f"{text[:start]}{BREAK}{text[end:]}"


def joined(text: str) -> str:
    """The text on one line again, cuts closed and the punctuation they orphaned removed."""
    line = re.sub(r"\s+([,;:.!?)\]])", r"\1", " ".join(text.split()))
    line = re.sub(r"(?<=[(\[])\s+", "", line)
    line = re.sub(r"\(\s*\)|\[\s*\]", " ", line)
    line = re.sub(r"([,;:])(?:\s*[,;:.!?])+", r"\1", line)
    return " ".join(line.split()).lstrip(" ,;:!?)-–—、。").rstrip(" ,;:.!?(-–—、。")


def without_politeness(text: str) -> str:
    """Return the text without what is said to a helper rather than about a subject."""
    pieces = _SENTENCE_END.split(_INSIDE.sub(BREAK, text))
    bare = "".join(piece if _SENTENCE_END.fullmatch(piece) else _without_courtesy(piece) for piece in pieces)
    return _NOUN_ALONE.sub(BREAK, f"{BREAK}{bare}{BREAK}")


def _without_courtesy(sentence: str) -> str:
    while closing := _CLOSING.search(sentence):
        sentence = sentence[: closing.start()]
    position = 0
    while (match := _OPENING.match(sentence, position)) and match.end() > position:
        position = match.end()
    return sentence[position:]
