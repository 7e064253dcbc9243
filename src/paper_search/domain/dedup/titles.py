"""Compare titles as words, after spelling is evened out."""

import html
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import OSA

from paper_search.editorial_notices import unmark_title
from uraniborg.kernel.language.words import split_words


def _split_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _map_words_to_numbers(text: str) -> dict[str, str]:
    return {word: str(number) for number, word in enumerate(text.split(), 1)}


FUNCTION_WORDS = _split_set("a an and as at by for from in is its of on or our pp some the their to using via")
FORMATS = _split_set("""
    abstract demo demonstration description draft experience extended full industrial invited keynote only panel paper
    poster preliminary preprint presentation report session short talk tutorial version
""")
"""Words of remarks such as "(extended abstract)" and "(invited paper)", which are not part of the title."""

PART_WORDS = _split_set(
    "book ch chapter episode issue lecture no number paper part phase pt section task unit vol volume"
)
"""Words before the number or letter of a part."""

FROM_ROMAN = _map_words_to_numbers("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx")
FROM_SPELLED = _map_words_to_numbers("one two three four five six seven eight nine ten")
_ORDINAL_ENDINGS = {"1": "st", "2": "nd", "3": "rd"}
FROM_ORDINAL = {
    word: number + _ORDINAL_ENDINGS.get(number, "th")
    for word, number in _map_words_to_numbers(
        "first second third fourth fifth sixth seventh eighth ninth tenth"
    ).items()
}

NOTICE_WORDS = _split_set("""
    addendum appendix comment commentary comments corrected correction corrections corrigenda corrigendum discussion
    editor editorial editors errata erratum foreword guest preface rebuttal rejoinder replies reply response retracted
    retraction review summary supplement supplementary withdrawn
""")
"""Words that mark a paper about another paper."""

INVERTING_WORDS = _split_set("anti bi co cross inter intra multi no non not post pre self semi sub super un without")
"""Words that invert the meaning of a title: "semi-supervised" is not "supervised"."""

GENERIC = NOTICE_WORDS | _split_set("""
    abstract abstracts acknowledgement acknowledgements acknowledgment acknowledgments afterword announcement
    announcements author authors available back backmatter bibliography board book books calendar chair chairs column
    conclusion conclusions contents correspondence cover editorials epilogue front frontmatter glossary highlights index
    introduction introductory issue keynote keyword letter letters list masthead matter memoriam message news no none
    not note notes obituary page panel poster posters prologue references referees remarks reviewers reviews session
    special subject table this title tutorial tutorials unknown untitled welcome
""")
"""Words of titles that many papers share."""


NO_NAME = _split_set("ed editor editors eds ii iii iv jr md others phd sr")
GROUP_WORDS = _split_set("collaboration committee consortium group investigators network team")


_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_FORMAT_PLACE = re.compile(r"[(\[]([^()\[\]]{1,60})[)\]]|^(\w+(?: \w+)?):")
_BREAK = re.compile(r"[:;.?!(\[–—]|\s-\s")
_NEVER_NUMERALS = frozenset((*FROM_ORDINAL, *FROM_ROMAN, *PART_WORDS)).isdisjoint


_LONGEST = 2_000
"""Longer titles are cut here: the rest is not a title and would take long to compare."""


class Title:
    """A title as written, in comparable words, and these words in one piece, where "data base" is "database"."""

    __slots__ = ("compact", "raw", "text", "words")

    def __init__(self, raw: str, found: list[str]) -> None:
        self.raw = raw
        self.words = tuple(found)
        self.text = " ".join(found)
        self.compact = "".join(found)

    @property
    def content_word_count(self) -> int:
        return _count_content_words(self.words)

    @property
    def is_generic(self) -> bool:
        """True for a title that many papers share, such as "Editorial" or "Reply"."""
        return all(word in GENERIC or word in FUNCTION_WORDS or word.isdigit() for word in self.words)

    def starts_with_title(self, shorter: "Title") -> bool:
        """Return True if `shorter` is this title without its subtitle, and long enough to mean the same paper."""
        if not self.compact.startswith(shorter.compact) or shorter.content_word_count < 4:
            return False
        heads = (self.raw[: mark.start()] for mark in _BREAK.finditer(self.raw))
        return any("".join(_convert_numerals(split_words(head))) == shorter.compact for head in heads)


@dataclass(frozen=True, slots=True)
class TitleDifference:
    """The content words that only one of two titles has. False if there are none."""

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.left or self.right)

    @property
    def has_distinctive_word(self) -> bool:
        """True if a single word means another paper: a number, a letter, "erratum"."""
        return any(map(_separates_works, self.left)) or any(map(_separates_works, self.right))

    @property
    def is_contradictory(self) -> bool:
        """True if each title has a number, letter or notice that the other lacks."""
        return any(map(_separates_works, self.left)) and any(map(_separates_works, self.right))


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
        text = _FORMAT_PLACE.sub(_remove_format_remark, text)
    return Title(text, _convert_numerals(split_words(text)))


def compare_titles(left: Title, right: Title) -> TitleDifference:
    """Return the words that only one title has, ignoring hyphenation, misspelling and function words."""
    if left.compact == right.compact:
        return TitleDifference()
    here, there = Counter(left.words), Counter(right.words)
    only_left, only_right = list((here - there).elements()), list((there - here).elements())
    _cancel_joined_words(left.words, only_left, only_right)
    _cancel_joined_words(right.words, only_right, only_left)
    _cancel_misspelled_words(only_left, only_right)
    return TitleDifference(_drop_function_words(only_left), _drop_function_words(only_right))


def _count_content_words(words: Iterable[str]) -> int:
    return sum(word not in FUNCTION_WORDS for word in words)


def _separates_works(word: str) -> bool:
    if len(word) == 1 or word in NOTICE_WORDS or word in INVERTING_WORDS or word in FROM_ROMAN:
        return True
    return any(character.isdigit() or character == "#" for character in word)


def _drop_function_words(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in words if word not in FUNCTION_WORDS and word not in PART_WORDS)


def _remove_format_remark(match: re.Match[str]) -> str:
    inside = split_words(match[1] or match[2])
    return " " if inside and FORMATS.issuperset(inside) else match[0]


def _convert_numerals(words: list[str]) -> list[str]:
    if _NEVER_NUMERALS(words):
        return words
    last = len(words) - 1
    plain = [FROM_ORDINAL.get(word, word) for word in words]
    for index, word in enumerate(plain):
        after_part = index > 0 and plain[index - 1] in PART_WORDS
        if word in FROM_ROMAN and (len(word) > 1 or after_part or index == last > 0):
            plain[index] = FROM_ROMAN[word]
        elif after_part and word in FROM_SPELLED:
            plain[index] = FROM_SPELLED[word]
        elif after_part and len(word) == 1 and word.isalpha():
            # Marked, since the "a" of "Part A" is not an article.
            plain[index] = f"{word}#"
    return plain


def _cancel_joined_words(whole: tuple[str, ...], only: list[str], only_other: list[str]) -> None:
    if not only or not only_other:
        return
    for first, second in pairwise(whole):
        if first + second in only_other:
            only_other.remove(first + second)
            for word in (first, second):
                if word in only:
                    only.remove(word)


def _cancel_misspelled_words(only_left: list[str], only_right: list[str]) -> None:
    for word in tuple(only_left):
        twin = next((other for other in only_right if _is_misspelling_or_abbreviation(word, other)), None)
        if twin is not None:
            only_left.remove(word)
            only_right.remove(twin)


def _is_misspelling_or_abbreviation(left: str, right: str) -> bool:
    shorter = min(len(left), len(right))
    if shorter < 4 or left[0] != right[0] or not (left.isalpha() and right.isalpha()):
        return False
    # Two edits only in long words with the same beginning: "hypothermia" is not "hyperthermia".
    allowed = 2 if shorter >= 9 and left[:4] == right[:4] else 1
    return OSA.distance(left, right, score_cutoff=allowed) <= allowed
