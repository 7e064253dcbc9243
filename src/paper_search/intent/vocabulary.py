"""Know how terms are written: singular and plural, and one key for all spellings."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from uraniborg.kernel.words import split_words

Key = tuple[str, ...]

_PLURAL_ACRONYM: Final = re.compile(r"\b([A-Z]{2,})s\b")


def read_lines(name: str) -> Iterator[str]:
    """Yield the lines of a data file without comments and empty lines."""
    text = files("paper_search.intent").joinpath("data", name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))


@lru_cache(maxsize=4096)
def make_term_key(term: str) -> Key:
    """Return the key that all spellings of a term share: its folded words in the singular.

    A stemmer would merge too much: a transformer is not a transform.
    """
    return tuple(map(to_singular, split_words(_PLURAL_ACRONYM.sub(r"\1", term))))


def contains_key(whole: Key, part: Key) -> bool:
    """Return True if the words of a term stand together in another one."""
    return bool(part) and any(whole[start : start + len(part)] == part for start in range(len(whole)))


def to_singular(word: str) -> str:
    """Return the singular of an English word: a listed one, or else judged by its ending."""
    if listed := _read_singulars().get(word):
        return listed
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]


@cache
def read_plurals() -> Mapping[str, str]:
    """Return the plurals that no rule forms by their singular; a word without a plural is its own."""
    rows = [line.split() for line in read_lines("plurals.txt")]
    alone = {word: word for row in rows if len(row) != 2 for word in row}
    return alone | {row[0]: row[1] for row in rows if len(row) == 2}


@cache
def _read_singulars() -> Mapping[str, str]:
    return {plural: singular for singular, plural in read_plurals().items()}


class Vocabulary:
    """An index over a table of synonyms. Vocabularies of equal tables share the index."""

    def __init__(self, synonyms: Mapping[str, tuple[str, ...]]) -> None:
        self._groups, self._beginnings = _build_index(tuple(synonyms.items()))

    def find_synonyms(self, term: str) -> list[str]:
        """Return the other spellings of a term, the most usual first; [] for an unknown term.

        Singular and plural are two spellings: many sources match phrases literally.
        """
        return [other for other in self._groups.get(make_term_key(term), ()) if other.casefold() != term.casefold()]

    def count_matching_tokens(self, tokens: Sequence[str], start: int) -> int:
        """Return the number of tokens of the longest known term at `start`, or 0."""
        best = 0
        key: Key = ()
        for end in range(start, len(tokens)):
            key += make_term_key(tokens[end])
            if key not in self._beginnings:
                break
            if key in self._groups:
                best = end + 1 - start
        return best


@lru_cache(maxsize=16)
def _build_index(synonyms: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[Mapping[Key, Key], frozenset[Key]]:
    """Return the groups by the key of each spelling; the group that begins with a term comes before the others."""
    groups: dict[Key, tuple[str, ...]] = {make_term_key(term): (term, *others) for term, others in reversed(synonyms)}
    for term, others in synonyms:
        for spelling in others:
            groups.setdefault(make_term_key(spelling), (term, *others))
    return groups, frozenset(key[:end] for key in groups for end in range(1, len(key) + 1))
