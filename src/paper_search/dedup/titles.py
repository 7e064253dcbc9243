"""Reads titles, and says in which words two of them differ once spelling is forgiven."""

import html
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import OSA

from paper_search.dedup.vocabulary import (
    ABOUT_ANOTHER,
    FORMATS,
    FROM_ORDINAL,
    FROM_ROMAN,
    FROM_SPELLED,
    FUNCTION_WORDS,
    GENERIC,
    PART_WORDS,
    TURNS_AROUND,
)
from paper_search.notices import unmark_title
from paper_search.text import split_words

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_FORMAT_PLACE = re.compile(r"[(\[]([^()\[\]]{1,60})[)\]]|^(\w+(?: \w+)?):")
_BREAK = re.compile(r"[:;.?!(\[–—]|\s-\s")
_NEVER_NUMERALS = frozenset((*FROM_ORDINAL, *FROM_ROMAN, *PART_WORDS)).isdisjoint


_LONGEST = 2_000
"""What follows after so many characters is no title, and would take long to compare."""


class Title:
    """A title as written, in comparable words, and these words in one piece, where "data base" is "database"."""

    __slots__ = ("compact", "raw", "text", "words")

    def __init__(self, raw: str, found: list[str]) -> None:
        self.raw = raw
        self.words = tuple(found)
        self.text = " ".join(found)
        self.compact = "".join(found)

    @property
    def content_words(self) -> int:
        return _content_words(self.words)

    @property
    def generic(self) -> bool:
        """Many papers are called "Editorial" or "Reply": such a title identifies none of them."""
        return all(word in GENERIC or word in FUNCTION_WORDS or word.isdigit() for word in self.words)

    def begins_with(self, shorter: "Title") -> bool:
        """Whether the other is this title without its subtitle, and long enough to mean the same paper."""
        if not self.compact.startswith(shorter.compact) or shorter.content_words < 4:
            return False
        heads = (self.raw[: mark.start()] for mark in _BREAK.finditer(self.raw))
        return any("".join(_numerals(split_words(head))) == shorter.compact for head in heads)


@dataclass(frozen=True, slots=True)
class Difference:
    """The telling words that only one of two titles has. False when there are none."""

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.left or self.right)

    @property
    def hard(self) -> bool:
        """Whether a single word of it makes another paper: a number, a letter, "erratum"."""
        return any(map(_is_hard, self.left)) or any(map(_is_hard, self.right))

    @property
    def contrary(self) -> bool:
        """Whether each title has a number, letter or notice that the other lacks."""
        return any(map(_is_hard, self.left)) and any(map(_is_hard, self.right))


def parse_title(text: str) -> Title:
    """Return the title in comparable words: numerals as digits, without markup and remarks.

    Remarks are "(extended abstract)" and the like, and the mark of a retracted paper.
    """
    text = unmark_title(text[:_LONGEST])
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "(" in text or "[" in text or ":" in text:
        text = _FORMAT_PLACE.sub(_without_format, text)
    return Title(text, _numerals(split_words(text)))


def difference(left: Title, right: Title) -> Difference:
    """What one title says and the other does not, after forgiving hyphenation, misspelling and function words."""
    if left.compact == right.compact:
        return Difference()
    here, there = Counter(left.words), Counter(right.words)
    only_left, only_right = list((here - there).elements()), list((there - here).elements())
    _forgive_joined(left.words, only_left, only_right)
    _forgive_joined(right.words, only_right, only_left)
    _forgive_misspelled(only_left, only_right)
    return Difference(_telling(only_left), _telling(only_right))


def _content_words(found: Iterable[str]) -> int:
    return sum(word not in FUNCTION_WORDS for word in found)


def _is_hard(word: str) -> bool:
    if len(word) == 1 or word in ABOUT_ANOTHER or word in TURNS_AROUND or word in FROM_ROMAN:
        return True
    return any(character.isdigit() or character == "#" for character in word)


def _telling(only: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in only if word not in FUNCTION_WORDS and word not in PART_WORDS)


def _without_format(place: re.Match[str]) -> str:
    inside = split_words(place[1] or place[2])
    return " " if inside and FORMATS.issuperset(inside) else place[0]


def _numerals(found: list[str]) -> list[str]:
    if _NEVER_NUMERALS(found):
        return found
    last = len(found) - 1
    plain = [FROM_ORDINAL.get(word, word) for word in found]
    for place, word in enumerate(plain):
        after_part = place > 0 and plain[place - 1] in PART_WORDS
        if word in FROM_ROMAN and (len(word) > 1 or after_part or place == last > 0):
            plain[place] = FROM_ROMAN[word]
        elif after_part and word in FROM_SPELLED:
            plain[place] = FROM_SPELLED[word]
        elif after_part and len(word) == 1 and word.isalpha():
            # Marked, for the "a" of "Part A" is no article.
            plain[place] = f"{word}#"
    return plain


def _forgive_joined(whole: tuple[str, ...], only: list[str], only_other: list[str]) -> None:
    if not only or not only_other:
        return
    for first, second in pairwise(whole):
        if first + second in only_other:
            only_other.remove(first + second)
            for word in (first, second):
                if word in only:
                    only.remove(word)


def _forgive_misspelled(only_left: list[str], only_right: list[str]) -> None:
    for word in tuple(only_left):
        twin = next((other for other in only_right if _same_word(word, other)), None)
        if twin is not None:
            only_left.remove(word)
            only_right.remove(twin)


def _same_word(left: str, right: str) -> bool:
    shorter = min(len(left), len(right))
    if shorter < 4 or left[0] != right[0] or not (left.isalpha() and right.isalpha()):
        return False
    # Two slips only in long words that begin alike: "hypothermia" is not "hyperthermia".
    allowed = 2 if shorter >= 9 and left[:4] == right[:4] else 1
    return OSA.distance(left, right, score_cutoff=allowed) <= allowed
