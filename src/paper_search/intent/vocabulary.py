"""The vocabulary of a domain: known terms in running text, and their synonyms."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from paper_search.text import split_words

Key = tuple[str, ...]


_ENDS_WITH_USE = re.compile(r".*[aeo]uses|(?:ab|dis|mis|over|re)?uses|(?:acc|exc|f|m|per|recl|ref)uses")
"""Plurals of words that end with "use"; other plurals with this ending are those of "bus" and "virus"."""
_PLURAL_ACRONYM = re.compile(r"\b([A-Z]{2,})s\b")


@lru_cache(maxsize=4096)
def make_term_key(term: str) -> Key:
    """Return the key that all spellings of a term share: its folded words in the singular.

    A stemmer would merge too much: a transformer is not a transform.
    """
    return tuple(map(to_singular, split_words(_PLURAL_ACRONYM.sub(r"\1", term))))


def to_singular(word: str) -> str:
    """Return the singular of an English word: a listed one, or else judged by its ending."""
    if listed := _read_singulars().get(word):
        return listed
    if word.endswith(("analyses", "theses")):
        return f"{word[:-2]}is"
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith("uses") and not _ENDS_WITH_USE.fullmatch(word):
        return word[:-2]
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]


def find_listed_plural(word: str) -> str | None:
    """Return the plural that no rule forms, the word itself if it has none, and None for other words."""
    return _read_plurals().get(word)


@lru_cache(maxsize=1)
def _read_plurals() -> Mapping[str, str]:
    """Return the listed plurals by their singular; a word without a plural is its own."""
    text = files("paper_search.intent").joinpath("data", "plurals.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    pairs = {row[0]: row[1] for row in rows if len(row) == 2}
    return {word: word for row in rows if len(row) != 2 for word in row} | pairs


@lru_cache(maxsize=1)
def _read_singulars() -> Mapping[str, str]:
    return {plural: singular for singular, plural in _read_plurals().items()}


class Vocabulary:
    """An index over a table of synonyms, which must not change. Vocabularies of one table share the index."""

    def __init__(self, synonyms: Mapping[str, tuple[str, ...]]) -> None:
        self._groups, self._beginnings = _build_index(_SynonymTable(synonyms))

    def __contains__(self, term: str) -> bool:
        return make_term_key(term) in self._groups

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


class _SynonymTable:
    """A table of synonyms that compares by identity."""

    def __init__(self, synonyms: Mapping[str, tuple[str, ...]]) -> None:
        self.synonyms = synonyms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SynonymTable) and other.synonyms is self.synonyms

    def __hash__(self) -> int:
        return id(self.synonyms)


@lru_cache(maxsize=16)
def _build_index(table: _SynonymTable) -> tuple[Mapping[Key, tuple[str, ...]], frozenset[Key]]:
    """Return the groups by the key of each spelling; the group that begins with a term comes before the others."""
    groups: dict[Key, tuple[str, ...]] = {}
    for term, others in table.synonyms.items():
        groups.setdefault(make_term_key(term), (term, *others))
    for term, others in table.synonyms.items():
        for spelling in others:
            groups.setdefault(make_term_key(spelling), (term, *others))
    return groups, frozenset(key[:end] for key in groups for end in range(1, len(key) + 1))
