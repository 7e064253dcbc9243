"""The terms a domain knows, found in running text and looked up for their synonyms."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from paper_search.text import terms

Key = tuple[str, ...]


_PLURAL_ACRONYM = re.compile(r"\b([A-Z]{2,})s\b")


@lru_cache(maxsize=4096)
def key_of(term: str) -> Key:
    """What two spellings of one term share: folded, stemmed words."""
    return tuple(terms(_PLURAL_ACRONYM.sub(r"\1", term), keep_stop_words=True))


class Vocabulary:
    """An index over a table of synonyms. Every spelling leads to the others of its group."""

    def __init__(self, synonyms: Mapping[str, tuple[str, ...]]) -> None:
        self._groups: dict[Key, tuple[str, ...]] = {}
        for term, others in synonyms.items():
            for spelling in (term, *others):
                self._groups.setdefault(key_of(spelling), (term, *others))
        self._beginnings = {key[:end] for key in self._groups for end in range(1, len(key) + 1)}

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
