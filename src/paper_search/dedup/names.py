"""Reads author names however a source wrote them, and says how far two author lists agree."""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from rapidfuzz.distance import OSA

from paper_search.text import fold

_UMLAUT_DIGRAPH = re.compile("([aou])e")
_SEPARATOR = re.compile(r"\s*;\s*(?:and\s+|&\s*)?|\s*,?\s+and\s+|\s*,?\s*&\s*", re.IGNORECASE)
_ET_AL = re.compile(r"[\s,;]*(?:\bet\.?\s*al\b\.?|\band others\b|\.\.\.|…)[\s.,;]*$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010\u2011\u2013'’`][^\W\d_]+)*\.?")
_HYPHEN = re.compile("[-\u2010\u2011\u2013]")
_INITIALS_ONLY = re.compile(r"(?:[^\W\d_]\b[\s.\-]*)+")
_UNCASED_INITIALS = re.compile(r"[A-Z]{2,3}")
_NO_NAME = frozenset({"jr", "sr", "ii", "iii", "iv", "phd", "md", "eds", "ed", "editor", "editors", "others"})
_GROUP_WORDS = frozenset("collaboration consortium group team committee network investigators".split())
_FUZZY_LIMIT = 40
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f]")


class Agreement(IntEnum):
    """How far two author lists agree; `UNKNOWN` when one of them names nobody."""

    DIFFERENT = 0
    UNKNOWN = 1
    PARTIAL = 2
    STRONG = 3


@dataclass(frozen=True, slots=True)
class Name:
    """One person: folded family name and the folded given names or initials that are known."""

    family: str
    given: tuple[str, ...] = ()

    @property
    def detail(self) -> tuple[int, int]:
        """How much of the given names is spelled out."""
        return sum(len(part) > 1 for part in self.given), sum(map(len, self.given))


def parse_names(authors: Iterable[str]) -> tuple[Name, ...]:
    """The people an author list names; "et al." and the names of groups are nobody."""
    texts = [html.unescape(text) if "&" in text else text for text in authors]
    pieces = [piece for text in texts for piece in _pieces(text, alone=len(texts) == 1)]
    return tuple(dict.fromkeys(name for piece in pieces if (name := parse_name(piece))))


def agreement(left: Sequence[Name], right: Sequence[Name]) -> Agreement:
    """Compares two lists by family name, then by given names as far as both tell them."""
    if not left or not right:
        return Agreement.UNKNOWN
    if left == right:
        return Agreement.STRONG
    few, many = sorted((left, right), key=len)
    matched = len(match_names(few, many))
    share = matched / len(few)
    if len(few) == 1 and len(many) > 2 and matched:
        # A lone name may stand for "first author et al.", hardly for the fifth of eight.
        return Agreement.STRONG if same_person(few[0], many[0]) else Agreement.PARTIAL
    if share >= 0.75 or (matched >= 2 and share >= 0.6):
        return Agreement.STRONG
    return Agreement.PARTIAL if share >= 0.5 else Agreement.DIFFERENT


def match_names(left: Sequence[Name], right: Sequence[Name]) -> dict[int, int]:
    """Which name of `left` is which name of `right`, by position; exact families first, misspelled ones after."""
    by_family: dict[str, list[int]] = {}
    for position, name in enumerate(right):
        by_family.setdefault(name.family, []).append(position)
    found: dict[int, int] = {}
    taken: set[int] = set()
    for position, name in enumerate(left):
        free = [i for i in by_family.get(name.family, ()) if i not in taken and same_given(name.given, right[i].given)]
        if free:
            best = min(free, key=lambda i: (right[i].given != name.given, abs(i - position)))
            found[position] = best
            taken.add(best)
    rest = [i for i in range(len(right)) if i not in taken][:_FUZZY_LIMIT]
    for position in [i for i in range(len(left)) if i not in found][:_FUZZY_LIMIT]:
        other = next((i for i in rest if same_person(left[position], right[i])), None)
        if other is not None:
            found[position] = other
            rest.remove(other)
    return found


def same_person(left: Name, right: Name) -> bool:
    """Whether two names can be one person: equal or misspelled family, or family and given name swapped."""
    if left.family in right.given and right.family in left.given:
        return True
    return _same_family(left.family, right.family) and same_given(left.given, right.given)


def same_given(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether given names do not contradict one another: `L.`, `Lei` and nothing at all agree."""
    if not left or not right or left == right:
        return True
    first, second = sorted((left[0], right[0]), key=len)
    if second.startswith(first):
        return True
    if first[0] == second[0]:
        return first[:3] == second[:3] or OSA.distance(first, second) <= (2 if len(first) >= 6 else 1)
    return first in left[1:] + right[1:] or "".join(left) == "".join(right) or _initials(left) == _initials(right)


def _initials(given: tuple[str, ...]) -> str:
    return "".join(part[0] for part in given)


def _same_family(left: str, right: str) -> bool:
    if left == right:
        return True
    short, long = sorted((left, right), key=len)
    if len(short) < 4:
        return False
    return long.endswith(short) or OSA.distance(left, right, score_cutoff=2) <= (2 if len(short) >= 8 else 1)


def _pieces(text: str, *, alone: bool) -> list[str]:
    """The single names in a text that may hold several."""
    text = _ET_AL.sub("", text.strip(" \t\n.,;:"))
    pieces = [piece for piece in _SEPARATOR.split(text) if piece]
    if not alone and len(pieces) <= 1:
        return pieces
    return [name for piece in pieces for name in _comma_list(piece)]


def _comma_list(text: str) -> list[str]:
    """Splits `A. Kim, B. Lee` and `Kim, A., Lee, B.`, and leaves `Kim, Ada` in one piece."""
    parts = [part for part in re.split(r"\s*,\s*", text) if part.strip(" .")]
    if len(parts) < 2:
        return parts
    names: list[str] = []
    for part in parts:
        if names and "," not in names[-1] and _INITIALS_ONLY.fullmatch(part):
            names[-1] += f", {part}"
        else:
            names.append(part)
    one_person = len(parts) == 2 and len(names) == 2 and not (_whole_name(parts[0]) and _whole_name(parts[1]))
    return [text] if one_person else names


def _whole_name(text: str) -> bool:
    return len(_WORD.findall(text)) >= 2


@lru_cache(maxsize=65_536)
def parse_name(text: str) -> Name | None:
    """One name in any usual order: `Wang, Lei`, `Lei Wang`, `Wang L`, `L. Wang 0001`, `王磊`."""
    if CJK.search(text):
        return Name(_letters(text))
    head, comma, tail = text.partition(",")
    front, back = _words(head), _words(tail)
    if any(word.casefold() in _GROUP_WORDS for word in front):
        return None
    if comma and front and back:
        family, given = front, back
    else:
        family, given = _split_at_family(front or back)
    if not family:
        return None
    key = _UMLAUT_DIGRAPH.sub(r"\1", _letters(family[-1]))
    parts = [part for word in given for part in _given_parts(word)]
    return Name(key, tuple(parts)) if len(key) > 1 or not key.isascii() else None


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if word.strip(".").casefold() not in _NO_NAME]


def _split_at_family(words: list[str]) -> tuple[list[str], list[str]]:
    if len(words) < 2:
        return words, []
    last = len(words) - 1
    while last > 0 and _is_initials(words[last], words[0]):
        last -= 1
    if last == 0 and _is_initials(words[0], words[-1]):
        last = len(words) - 1
    return [words[last]], words[:last] + words[last + 1 :]


def _is_initials(word: str, other: str) -> bool:
    bare = word.removesuffix(".")
    return len(bare) == 1 or (_UNCASED_INITIALS.fullmatch(bare) is not None and not other.isupper())


def _given_parts(word: str) -> list[str]:
    bare = word.removesuffix(".")
    if _UNCASED_INITIALS.fullmatch(bare):
        return list(bare.lower())
    return [part for piece in _HYPHEN.split(bare) if (part := _letters(piece))]


def _letters(word: str) -> str:
    return "".join(character for character in fold(word) if character.isalnum())
