"""Compare author lists of any sources, whose names are written in many forms."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from rapidfuzz.distance import OSA

from paper_search.domain.dedup.titles import GROUP_WORDS, NO_NAME
from uraniborg.kernel.language.words import fold_text

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
    """The agreement of two author lists; `UNKNOWN` if one of them is empty."""

    DIFFERENT = 0
    UNKNOWN = 1
    PARTIAL = 2
    STRONG = 3


@dataclass(frozen=True, slots=True)
class ParsedAuthorName:
    """A person: the folded family name, and the known given names or initials."""

    family: str
    given: tuple[str, ...] = ()

    @property
    def detail(self) -> tuple[int, int]:
        """The detail of the given names: the number of full names, then the number of letters."""
        return sum(len(part) > 1 for part in self.given), sum(map(len, self.given))


def parse_people(authors: Iterable[str], *, include_groups: bool = False) -> list[tuple[int, str, ParsedAuthorName]]:
    """Return the people of an author list: index in the list, name as written, name as read.

    One entry can name several people. Leave out "et al.", and collaborations unless `include_groups` is True.
    """
    texts = list(authors)
    return [
        (place, piece, name)
        for place, text in enumerate(texts)
        for piece, name, is_group in _parse_entry(text, is_only_entry=len(texts) == 1)
        if include_groups or not is_group
    ]


def compare_authors(left: Sequence[ParsedAuthorName], right: Sequence[ParsedAuthorName]) -> Agreement:
    """Return the agreement of two lists, compared by family name and then by the given names that both have."""
    if not left or not right:
        return Agreement.UNKNOWN
    if left == right:
        return Agreement.STRONG
    few, many = sorted((left, right), key=len)
    matched = len(match_names(few, many))
    if len(few) == 1 and len(many) > 2 and matched:
        # A lone name may stand for "first author et al.", hardly for the fifth of eight.
        return Agreement.STRONG if can_be_same_person(few[0], many[0]) else Agreement.PARTIAL
    share = matched / len(few)
    if share >= 0.75 or (matched >= 2 and share >= 0.6):
        return Agreement.STRONG
    return Agreement.PARTIAL if share >= 0.5 else Agreement.DIFFERENT


def match_names(left: Sequence[ParsedAuthorName], right: Sequence[ParsedAuthorName]) -> dict[int, int]:
    """Return the index in `right` by the index in `left`: equal family names first, then misspelled ones."""
    by_family: dict[str, list[int]] = {}
    for place, name in enumerate(right):
        by_family.setdefault(name.family, []).append(place)
    found: dict[int, int] = {}
    for place, name in enumerate(left):
        namesakes = [i for i in by_family.get(name.family, ()) if _can_be_same_given(name.given, right[i].given)]
        if namesakes:
            twin = min(namesakes, key=lambda i: (right[i].given != name.given, abs(i - place)))
            by_family[name.family].remove(twin)
            found[place] = twin
    if len(found) == len(left):
        return found
    rest = sorted(place for places in by_family.values() for place in places)[:_MISSPELLED_AT_MOST]
    for place in [i for i in range(len(left)) if i not in found][:_MISSPELLED_AT_MOST]:
        twin = next((i for i in rest if can_be_same_person(left[place], right[i])), None)
        if twin is not None:
            rest.remove(twin)
            found[place] = twin
    return found


def can_be_same_person(left: ParsedAuthorName, right: ParsedAuthorName) -> bool:
    """Return True if two names can be one person's: misspelled, reversed, or with one of two family names."""
    if left.family in right.given or right.family in left.given:
        swapped = left.family in right.given and right.family in left.given
        return swapped or (left.given[:1] == right.given[:1] and len(left.given[0]) > 1)
    return _can_be_same_family(left.family, right.family) and _can_be_same_given(left.given, right.given)


def _can_be_same_family(left: str, right: str) -> bool:
    if left == right:
        return True
    short, long = sorted((left, right), key=len)
    if len(short) < 4:
        return False
    return long.endswith(short) or OSA.distance(left, right, score_cutoff=2) <= (2 if len(short) >= 8 else 1)


def _can_be_same_given(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Return True if given names do not contradict each other: `L.`, `Lei` and no given name agree."""
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
def _parse_entry(text: str, *, is_only_entry: bool) -> list[tuple[str, ParsedAuthorName, bool]]:
    """Return the names in one entry of an author list, as written and as read, and whether each is a group's."""
    found: list[tuple[str, ParsedAuthorName, bool]] = []
    for piece in _split_entry(html.unescape(text), is_only_entry=is_only_entry):
        if name := _parse_name(piece):
            found.append((piece, name, False))
        elif (letters := _fold_letters(piece)) and letters not in NO_NAME:
            found.append((piece, ParsedAuthorName(letters), True))
    return found


def _split_entry(text: str, *, is_only_entry: bool) -> list[str]:
    bare = _ET_AL.sub("", " ".join(text.split()).strip(_AROUND)).rstrip(_AROUND)
    pieces = [piece for piece in _SEPARATOR.split(bare) if piece]
    return (
        [name for piece in pieces for name in _split_comma_separated_names(piece)]
        if is_only_entry or len(pieces) > 1
        else pieces
    )


def _split_comma_separated_names(text: str) -> list[str]:
    """Split `A. Kim, B. Lee` and `Kim, A., Lee, B.`, but not `Kim, Ada`."""
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


def _parse_name(text: str) -> ParsedAuthorName | None:
    """Return a name in any usual order: `Wang, Lei`, `Lei Wang`, `Wang L`, `L. Wang 0001`, `王 磊`."""
    if _CJK.search(text):
        return ParsedAuthorName(_fold_letters(text))
    head, _, tail = text.partition(",")
    front, back = list(_iterate_name_words(head)), list(_iterate_name_words(tail))
    if any(word.casefold() in GROUP_WORDS for word in front):
        return None
    if front and back:
        family, given = front[-1], back
    elif front or back:
        family, given = _split_family_and_given(front or back)
    else:
        return None
    key = _UMLAUT_SPELLED_OUT.sub(r"\1", _fold_letters(family))
    parts = tuple(part for word in given for part in _split_given_name(word))
    return ParsedAuthorName(key, parts) if len(key) > 1 or not key.isascii() else None


def _iterate_name_words(text: str) -> Iterator[str]:
    return (word for word in _WORD.findall(text) if word.strip(".").casefold() not in NO_NAME)


def _split_family_and_given(words: list[str]) -> tuple[str, list[str]]:
    last = len(words) - 1
    while last and _is_initials(words[last], other_word=words[0]):
        last -= 1
    if not last and _is_initials(words[0], other_word=words[-1]):
        last = len(words) - 1
    return words[last], words[:last] + words[last + 1 :]


def _is_initials(word: str, *, other_word: str) -> bool:
    bare = word.removesuffix(".")
    return len(bare) == 1 or (_RUN_TOGETHER_INITIALS.fullmatch(bare) is not None and not other_word.isupper())


def _split_given_name(word: str) -> list[str]:
    bare = word.removesuffix(".")
    if _RUN_TOGETHER_INITIALS.fullmatch(bare):
        return list(bare.lower())
    return [part for piece in _HYPHEN.split(bare) if (part := _fold_letters(piece))]


def _fold_letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold_text(text)))
