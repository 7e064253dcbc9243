"""Reads author names however a source wrote them, and says how far two author lists agree."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from rapidfuzz.distance import OSA

from paper_search.dedup.titles import GROUP_WORDS, NO_NAME
from paper_search.text import fold_text

_AROUND = " .,;:"
_ET_AL = re.compile(r"(?:\bet\.? ?al|\band others|…)$", re.IGNORECASE)
_SEPARATOR = re.compile(r"\s*;\s*(?:and\s+|&\s*)?|\s*,?\s+and\s+|\s*,?\s*&\s*", re.IGNORECASE)
_COMMA = re.compile(r"\s*,\s*")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010\u2011\u2013'’`][^\W\d_]+)*\.?")
_HYPHEN = re.compile("[-\u2010\u2011\u2013]")
_ONLY_INITIALS = re.compile(r"(?:[^\W\d_]\b[\s.\-]*)+")
_RUN_TOGETHER_INITIALS = re.compile("[A-Z]{2,3}")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]")
_UMLAUT_SPELLED_OUT = re.compile("([aou])e")
_MISSPELLED_AT_MOST = 40


class Agreement(IntEnum):
    """How far two author lists agree; `UNKNOWN` when one of them names nobody."""

    DIFFERENT = 0
    UNKNOWN = 1
    PARTIAL = 2
    STRONG = 3


@dataclass(frozen=True, slots=True)
class Name:
    """One person: the folded family name, and the given names or initials that are known."""

    family: str
    given: tuple[str, ...] = ()

    @property
    def detail(self) -> tuple[int, int]:
        """How much of the given names is told, spelled out names before initials."""
        return sum(len(part) > 1 for part in self.given), sum(map(len, self.given))


def people(authors: Iterable[str], *, groups: bool = False) -> list[tuple[int, str, Name]]:
    """Everybody an author list names: place in the list, the name as written, the name as read.

    One entry may hold several people; "et al." is nobody, and so is a collaboration unless `find_groups` are asked for.
    """
    texts = list(authors)
    return [
        (place, piece, name)
        for place, text in enumerate(texts)
        for piece, name, is_group in _entry(text, alone=len(texts) == 1)
        if groups or not is_group
    ]


def agreement(left: Sequence[Name], right: Sequence[Name]) -> Agreement:
    """Compares two lists by family name, then by given names as far as both tell them."""
    if not left or not right:
        return Agreement.UNKNOWN
    if left == right:
        return Agreement.STRONG
    few, many = sorted((left, right), key=len)
    matched = len(match_names(few, many))
    if len(few) == 1 and len(many) > 2 and matched:
        # A lone name may stand for "first author et al.", hardly for the fifth of eight.
        return Agreement.STRONG if same_person(few[0], many[0]) else Agreement.PARTIAL
    share = matched / len(few)
    if share >= 0.75 or (matched >= 2 and share >= 0.6):
        return Agreement.STRONG
    return Agreement.PARTIAL if share >= 0.5 else Agreement.DIFFERENT


def match_names(left: Sequence[Name], right: Sequence[Name]) -> dict[int, int]:
    """Which name of `left` is which of `right`, by place: equal family names first, misspelled ones after."""
    by_family: dict[str, list[int]] = {}
    for place, name in enumerate(right):
        by_family.setdefault(name.family, []).append(place)
    found: dict[int, int] = {}
    for place, name in enumerate(left):
        namesakes = [i for i in by_family.get(name.family, ()) if _same_given(name.given, right[i].given)]
        if namesakes:
            twin = min(namesakes, key=lambda i: (right[i].given != name.given, abs(i - place)))
            by_family[name.family].remove(twin)
            found[place] = twin
    if len(found) == len(left):
        return found
    rest = sorted(place for places in by_family.values() for place in places)[:_MISSPELLED_AT_MOST]
    for place in [i for i in range(len(left)) if i not in found][:_MISSPELLED_AT_MOST]:
        twin = next((i for i in rest if same_person(left[place], right[i])), None)
        if twin is not None:
            rest.remove(twin)
            found[place] = twin
    return found


def same_person(left: Name, right: Name) -> bool:
    """Whether two names can be one person's: misspelled, the wrong way round, or with one of two family names."""
    if left.family in right.given or right.family in left.given:
        swapped = left.family in right.given and right.family in left.given
        return swapped or (left.given[:1] == right.given[:1] and len(left.given[0]) > 1)
    return _same_family(left.family, right.family) and _same_given(left.given, right.given)


def _same_family(left: str, right: str) -> bool:
    if left == right:
        return True
    short, long = sorted((left, right), key=len)
    if len(short) < 4:
        return False
    return long.endswith(short) or OSA.distance(left, right, score_cutoff=2) <= (2 if len(short) >= 8 else 1)


def _same_given(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether given names do not contradict one another: `L.`, `Lei` and nothing at all agree."""
    if not left or not right or left == right:
        return True
    short, long = sorted((left[0], right[0]), key=len)
    if long.startswith(short):
        return True
    if short[0] != long[0]:
        return short in left[1:] + right[1:] or "".join(left) == "".join(right)
    if short[:3] == long[:3] or (short[:2] == long[:2] and len(long) > 6):
        return True
    return OSA.distance(short, long) <= (2 if len(short) >= 6 else 1)


@lru_cache(maxsize=65_536)
def _entry(text: str, *, alone: bool) -> list[tuple[str, Name, bool]]:
    """The names one entry of an author list holds, as written and as read, and whether each is a group's."""
    found: list[tuple[str, Name, bool]] = []
    for piece in _pieces(html.unescape(text), alone=alone):
        if name := _read(piece):
            found.append((piece, name, False))
        elif (letters := _letters(piece)) and letters not in NO_NAME:
            found.append((piece, Name(letters), True))
    return found


def _pieces(text: str, *, alone: bool) -> list[str]:
    bare = _ET_AL.sub("", " ".join(text.split()).strip(_AROUND)).rstrip(_AROUND)
    pieces = [piece for piece in _SEPARATOR.split(bare) if piece]
    return [name for piece in pieces for name in _comma_list(piece)] if alone or len(pieces) > 1 else pieces


def _comma_list(text: str) -> list[str]:
    """Splits `A. Kim, B. Lee` and `Kim, A., Lee, B.`, and leaves `Kim, Ada` in one piece."""
    parts = [part for part in _COMMA.split(text) if part.strip(" .")]
    names: list[str] = []
    for part in parts:
        if names and "," not in names[-1] and _ONLY_INITIALS.fullmatch(part):
            names[-1] += f", {part}"
        else:
            names.append(part)
    if len(parts) == len(names) == 2 and not all(len(_WORD.findall(part)) > 1 for part in parts):
        return [text]
    return names


def _read(text: str) -> Name | None:
    """One name in any usual order: `Wang, Lei`, `Lei Wang`, `Wang L`, `L. Wang 0001`, `王 磊`."""
    if _CJK.search(text):
        return Name(_letters(text))
    head, _, tail = text.partition(",")
    front, back = list(_words(head)), list(_words(tail))
    if any(word.casefold() in GROUP_WORDS for word in front):
        return None
    if front and back:
        family, given = front[-1], back
    elif front or back:
        family, given = _split_at_family(front or back)
    else:
        return None
    key = _UMLAUT_SPELLED_OUT.sub(r"\1", _letters(family))
    parts = tuple(part for word in given for part in _given_parts(word))
    return Name(key, parts) if len(key) > 1 or not key.isascii() else None


def _words(text: str) -> Iterator[str]:
    return (word for word in _WORD.findall(text) if word.strip(".").casefold() not in NO_NAME)


def _split_at_family(words: list[str]) -> tuple[str, list[str]]:
    last = len(words) - 1
    while last and _is_initials(words[last], beside=words[0]):
        last -= 1
    if not last and _is_initials(words[0], beside=words[-1]):
        last = len(words) - 1
    return words[last], words[:last] + words[last + 1 :]


def _is_initials(word: str, *, beside: str) -> bool:
    bare = word.removesuffix(".")
    return len(bare) == 1 or (_RUN_TOGETHER_INITIALS.fullmatch(bare) is not None and not beside.isupper())


def _given_parts(word: str) -> list[str]:
    bare = word.removesuffix(".")
    if _RUN_TOGETHER_INITIALS.fullmatch(bare):
        return list(bare.lower())
    return [part for piece in _HYPHEN.split(bare) if (part := _letters(piece))]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold_text(text)))
