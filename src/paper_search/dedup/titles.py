"""Reads titles and says in which words two of them differ once spelling is forgiven."""

import html
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from paper_search.text import words

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,80}>")
_BRACKETED = re.compile(r"[(\[]([^()\[\]]{1,60})[)\]]")
_FORMATS = frozenset(
    "abstract demo demonstration draft extended full industrial invited keynote only panel paper poster preliminary"
    " preprint presentation session short talk tutorial version".split()
)
_BREAK = re.compile(r"[:;.,?!(\[–—]|\s-\s")
_FUNCTION_WORDS = frozenset("a an the of on in for and to by at from its their our or as is some using via".split())
_PART_WORDS = frozenset(
    "part pt volume vol chapter ch section book number no issue task phase paper lecture unit episode".split()
)
_SPELLED = {word: str(n) for n, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_ROMAN = {
    word: str(n)
    for n, word in enumerate("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx".split(), 1)
}
_ORDINALS = {
    word: ordinal
    for n, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
    for ordinal in (f"{n}{'st' if n == 1 else 'nd' if n == 2 else 'rd' if n == 3 else 'th'}",)
}
_ABOUT_ANOTHER = frozenset(
    "erratum errata corrigendum corrigenda correction corrections corrected addendum retraction retracted withdrawn"
    " reply replies response rejoinder rebuttal comment comments commentary discussion review editorial preface"
    " foreword supplement supplementary appendix summary guest editor editors".split()
)
_GENERIC = _ABOUT_ANOTHER | frozenset(
    "editor editors editorials guest note notes message letter letters from welcome introduction introductory"
    " remarks prologue epilogue afterword conclusion conclusions abstract abstracts contents table index author"
    " authors subject keyword title page cover front back matter masthead frontmatter backmatter reviews book books"
    " news announcement announcements calendar obituary memoriam acknowledgment acknowledgments acknowledgement"
    " acknowledgements reviewers referees list bibliography references glossary highlights issue this chair chairs"
    " board panel keynote tutorial tutorials poster posters session special untitled correspondence column preliminary"
    " unknown none no not available".split()
)


@dataclass(frozen=True, slots=True)
class Title:
    raw: str
    words: tuple[str, ...]
    compact: str
    """All words in one piece, so that "data base" and "database" are equal."""

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def content_words(self) -> int:
        return sum(word not in _FUNCTION_WORDS for word in self.words)

    @property
    def generic(self) -> bool:
        """Many papers are called "Editorial" or "Reply": such a title identifies none of them."""
        return all(word in _GENERIC or word in _FUNCTION_WORDS or word.isdigit() for word in self.words)


@dataclass(frozen=True, slots=True)
class Difference:
    """The words that only one of two titles has."""

    left: tuple[str, ...]
    right: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.left or self.right)


def parse_title(text: str) -> Title:
    """The title as comparable words, numerals as digits; markup and entities are undone."""
    if "&" in text:
        text = html.unescape(text)
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "(" in text or "[" in text:
        text = _BRACKETED.sub(_drop_format, text)
    plain = _numerals(words(text))
    return Title(text, tuple(plain), "".join(plain))


def _drop_format(bracketed: re.Match[str]) -> str:
    inside = words(bracketed[1])
    return " " if inside and all(word in _FORMATS for word in inside) else bracketed[0]


def difference(left: Title, right: Title) -> Difference:
    """What one title says and the other does not, after forgiving hyphenation, misspelling and function words."""
    if left.compact == right.compact:
        return Difference((), ())
    only_left = list((Counter(left.words) - Counter(right.words)).elements())
    only_right = list((Counter(right.words) - Counter(left.words)).elements())
    _forgive_joined(left.words, only_left, only_right)
    _forgive_joined(right.words, only_right, only_left)
    _forgive_misspelled(only_left, only_right)
    return Difference(tuple(_telling(only_left)), tuple(_telling(only_right)))


def drops_subtitle(left: Title, right: Title) -> bool:
    """Whether the shorter title is the longer one up to a break in it, and long enough to mean the same paper."""
    short, long = sorted((left, right), key=lambda title: len(title.compact))
    if short.content_words < 4 or not long.compact.startswith(short.compact):
        return False
    return any(_compact(long.raw[: mark.start()]) == short.compact for mark in _BREAK.finditer(long.raw))


def is_hard(word: str) -> bool:
    """Whether one such word alone makes another paper: a number, a letter, "erratum"."""
    return len(word) == 1 or word in _ABOUT_ANOTHER or any(map(str.isdigit, word)) or word in _ROMAN


def _compact(text: str) -> str:
    return "".join(_numerals(words(text)))


def _telling(only: Iterable[str]) -> list[str]:
    return [word for word in only if word not in _FUNCTION_WORDS and word not in _PART_WORDS]


def _numerals(found: list[str]) -> list[str]:
    found = [_ORDINALS.get(word, word) for word in found]
    last = len(found) - 1
    for position, word in enumerate(found):
        after_part = position > 0 and found[position - 1] in _PART_WORDS
        if word in _ROMAN and (len(word) > 1 or after_part or position == last > 0):
            found[position] = _ROMAN[word]
        elif after_part and word in _SPELLED:
            found[position] = _SPELLED[word]
        elif after_part and len(word) == 1 and word.isalpha():
            # Kept apart from the article, which is forgiven.
            found[position] = f"{word}#"
    return found


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
