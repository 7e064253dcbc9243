"""The terms a domain knows, found in running text and looked up for their synonyms."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from paper_search.text import split_words

Key = tuple[str, ...]


_PLURAL_ACRONYM = re.compile(r"\b([A-Z]{2,})s\b")


@lru_cache(maxsize=4096)
def key_of(term: str) -> Key:
    """What the spellings of one term share: its folded words in the singular.

    A stemmer would say too much is the same: a transformer is no transform.
    """
    return tuple(map(singular, split_words(_PLURAL_ACRONYM.sub(r"\1", term))))


def singular(word: str) -> str:
    """The singular of an English word, as far as its ending tells; the word itself when it is none."""
    if word.endswith(("analyses", "theses")):
        return f"{word[:-2]}is"
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-2] if word.endswith(("ches", "shes", "sses", "xes", "zes")) else word[:-1]


class Vocabulary:
    """An index over a table of synonyms, which must not change. Every spelling leads to the others of its group.

    All vocabularies of one table share one index.
    """

    def __init__(self, synonyms: Mapping[str, tuple[str, ...]]) -> None:
        self._groups, self._beginnings = _indexed(_Table(synonyms))

    def __contains__(self, term: str) -> bool:
        return key_of(term) in self._groups

    def synonyms(self, term: str) -> list[str]:
        """The other ways to write a term, the most usual first; none for a term that is not known.

        Singular and plural are two ways: many sources take phrases to the letter.
        """
        return [other for other in self._groups.get(key_of(term), ()) if other.casefold() != term.casefold()]

    def longest_match(self, tokens: Sequence[str], start: int) -> int:
        """How many tokens from `start` on make up the longest known term; 0 when none does."""
        best = 0
        key: Key = ()
        for end in range(start, len(tokens)):
            key += key_of(tokens[end])
            if key not in self._beginnings:
                break
            if key in self._groups:
                best = end + 1 - start
        return best


class _Table:
    """A table of synonyms, equal to itself only."""

    def __init__(self, synonyms: Mapping[str, tuple[str, ...]]) -> None:
        self.synonyms = synonyms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Table) and other.synonyms is self.synonyms

    def __hash__(self) -> int:
        return id(self.synonyms)


@lru_cache(maxsize=16)
def _indexed(table: _Table) -> tuple[Mapping[Key, tuple[str, ...]], frozenset[Key]]:
    groups: dict[Key, tuple[str, ...]] = {}
    for term, others in table.synonyms.items():
        for spelling in (term, *others):
            groups.setdefault(key_of(spelling), (term, *others))
    return groups, frozenset(key[:end] for key in groups for end in range(1, len(key) + 1))
