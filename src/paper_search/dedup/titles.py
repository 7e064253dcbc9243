"""Reads titles, and says in which words two of them differ once spelling is forgiven."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from rapidfuzz.distance import OSA

from paper_search.text import words

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_FORMAT_PLACE = re.compile(r"[(\[]([^()\[\]]{1,60})[)\]]|^([^:]{1,30}):")
_BREAK = re.compile(r"[:;.?!(\[–—]|\s-\s")
_FORMATS = frozenset(
    """abstract demo demonstration description draft experience extended full industrial invited keynote only panel
    paper poster preliminary preprint presentation report session short talk tutorial version""".split()
)
_FUNCTION_WORDS = frozenset("a an and as at by for from in is its of on or our some the their to using via".split())
_PART_WORDS = frozenset(
    "book ch chapter episode issue lecture no number paper part phase pt section task unit vol volume".split()
)
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split()
_SPELLED = "one two three four five six seven eight nine ten".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_FROM_ROMAN = {word: str(number) for number, word in enumerate(_ROMAN, 1)}
_FROM_SPELLED = {word: str(number) for number, word in enumerate(_SPELLED, 1)}
_FROM_ORDINAL = {
    word: f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }" for number, word in enumerate(_ORDINALS, 1)
}
_ABOUT_ANOTHER = frozenset(
    """addendum appendix comment commentary comments corrected correction corrections corrigenda corrigendum discussion
    editor editorial editors errata erratum foreword guest preface rebuttal rejoinder replies reply response retracted
    retraction review summary supplement supplementary withdrawn without""".split()
)
_GENERIC = _ABOUT_ANOTHER | frozenset(
    """abstract abstracts acknowledgement acknowledgements acknowledgment acknowledgments afterword announcement
    announcements author authors available back backmatter bibliography board book books calendar chair chairs column
    conclusion conclusions contents correspondence cover editorials epilogue front frontmatter glossary highlights index
    introduction introductory issue keynote keyword letter letters list masthead matter memoriam message news no none
    not note notes obituary page panel poster posters prologue references referees remarks reviewers reviews session
    special subject table this title tutorial tutorials unknown untitled welcome""".split()
)


@dataclass(frozen=True)
class Title:
    raw: str
    words: tuple[str, ...]
    compact: str
    """All words in one piece, so that "data base" and "database" are equal."""

    @cached_property
    def content_words(self) -> int:
        return sum(word not in _FUNCTION_WORDS for word in self.words)

    @cached_property
    def generic(self) -> bool:
        """Many papers are called "Editorial" or "Reply": such a title identifies none of them."""
        return all(word in _GENERIC or word in _FUNCTION_WORDS or word.isdigit() for word in self.words)

    def heads(self) -> Iterator[str]:
        """The title up to each break in it, compact, as a source that drops subtitles would give it."""
        for mark in _BREAK.finditer(self.raw):
            head = _numerals(words(self.raw[: mark.start()]))
            if sum(word not in _FUNCTION_WORDS for word in head) >= 4:
                yield "".join(head)


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
    """The title in comparable words: numerals as digits, without markup and remarks such as "(extended abstract)"."""
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "(" in text or "[" in text or ":" in text:
        text = _FORMAT_PLACE.sub(_without_format, text)
    found = _numerals(words(text))
    return Title(text, tuple(found), "".join(found))


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


def _is_hard(word: str) -> bool:
    return len(word) == 1 or word in _ABOUT_ANOTHER or word in _FROM_ROMAN or any(map(str.isdigit, word)) or "#" in word


def _telling(only: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in only if word not in _FUNCTION_WORDS and word not in _PART_WORDS)


def _without_format(place: re.Match[str]) -> str:
    inside = words(place[1] or place[2])
    return " " if inside and all(word in _FORMATS for word in inside) else place[0]


def _numerals(found: list[str]) -> list[str]:
    last = len(found) - 1
    plain = [_FROM_ORDINAL.get(word, word) for word in found]
    for place, word in enumerate(plain):
        after_part = place > 0 and plain[place - 1] in _PART_WORDS
        if word in _FROM_ROMAN and (len(word) > 1 or after_part or place == last > 0):
            plain[place] = _FROM_ROMAN[word]
        elif after_part and word in _FROM_SPELLED:
            plain[place] = _FROM_SPELLED[word]
        elif after_part and len(word) == 1 and word.isalpha():
            # Marked, for the "a" of "Part A" is no article.
            plain[place] = f"{word}#"
    return plain


def _forgive_joined(whole: tuple[str, ...], only: list[str], only_other: list[str]) -> None:
    if not only or not only_other:
        return
    for first, second in zip(whole, whole[1:], strict=False):
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
