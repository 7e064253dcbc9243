"""Match entries that describe the same paper.

Entries with the same DOI or arXiv id match. Entries with the same BibTeX key or the same title match, and a file named
by a BibTeX key matches its entry, unless other fields contradict: two papers called "Introduction" are two papers. An
entry with few fields may match several papers that contradict each other; it joins the first one in an order that does
not depend on the order of the inputs. Only the fields that are compared stay in memory.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

from rapidfuzz import fuzz

from paper_library.domain.entries import Entry, strip_line_number
from paper_library.domain.paper_ids import (
    Keys,
    list_other_keys,
    make_meta_key,
    normalise_title,
    spell_arxiv_for_id,
    spell_doi_for_id,
)
from uraniborg.kernel.bibliography.references import is_generated_key
from uraniborg.kernel.language.words import fold_text

Key = TypeVar("Key")

_FEWEST_WORDS: Final = 3
"""A shorter title is too common to identify a paper without authors."""
_MOST_ALIKE: Final = 100
"""The most entries with the same title or key that are compared."""
_SAME_TITLE: Final = 85.0
_STRONG: Final = {
    "id": "same paper_id",
    "doi": "same DOI",
    "arxiv": "same arXiv id",
    "pmid": "same PMID",
    "pmcid": "same PMCID",
    "meta": "same title, authors, year and venue",
}
_SURNAME: Final = re.compile(r"[^\W\d_]{2,}(?:[-'’][^\W\d_]+)*")


def make_keys(entry: Entry) -> Keys:
    ids = entry.identifiers
    doi = spell_doi_for_id(ids.get("doi"))
    arxiv = spell_arxiv_for_id(ids.get("arxiv")) or spell_arxiv_for_id(doi)
    title = normalise_title(entry.title)
    meta = make_meta_key(title, entry.authors, entry.year, entry.venue)
    return Keys(doi, arxiv, ids.get("bibkey") or None, meta, title, list_other_keys(ids, doi, arxiv))


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """The fields of an entry that can contradict a match."""

    doi: str
    year: int
    surnames: frozenset[str]
    title: str
    file: str
    record: str
    """The id of the entry in its file, where entries have ids."""
    paper_id: str = ""
    """The paper_id of an entry that was exported from a shelf."""

    def contradicts(self, other: "EntryFacts") -> bool:
        """Return True if the two entries cannot describe the same paper."""
        if self.doi and other.doi and self.doi != other.doi and not has_preprint_doi(self.doi, other.doi):
            return True
        if self.year and other.year and self.year != other.year:
            return True
        if self.file == other.file and self.record and other.record and self.record != other.record:
            return True
        if self.paper_id and other.paper_id and self.paper_id != other.paper_id:
            return True
        return bool(self.surnames and other.surnames) and self.surnames.isdisjoint(other.surnames)

    def matches_by_title(self, other: "EntryFacts") -> bool:
        """Return True if two entries with the same title describe the same paper."""
        if self.surnames and other.surnames:
            return True
        # The same title twice in one file means two papers.
        return self.file != other.file and self.title.count(" ") + 1 >= _FEWEST_WORDS

    def matches_by_bibkey(self, other: "EntryFacts") -> bool:
        """Return True if two entries with the same BibTeX key describe the same paper."""
        return not self.title or not other.title or fuzz.token_set_ratio(self.title, other.title) >= _SAME_TITLE

    def matches_by_generated_bibkey(self, other: "EntryFacts") -> bool:
        """Return True if two entries with the same generated key do: other papers can have the same key."""
        return not self.title or not other.title or self.title == other.title

    def make_completeness_sort_key(self) -> tuple[bool, bool, bool, str, int, list[str], str]:
        """Return a key that sorts entries with more fields first."""
        return (not self.doi, not self.year, not self.surnames, self.doi, self.year, sorted(self.surnames), self.file)


class EntryMatcher:
    """Groups entries by paper: `add_entry` for each entry, then `find_clusters`."""

    def __init__(self) -> None:
        self._parent = array("q")
        self._facts: list[EntryFacts] = []
        self._by_identifier: dict[int, int] = {}
        self._by_title: dict[int, list[int]] = {}
        self._by_bibkey: dict[str, list[int]] = {}
        self._files: dict[str, list[int]] = {}
        self._reasons: dict[int, str] = {}

    def add_entry(self, entry: Entry, keys: Keys) -> None:
        """Add the next entry."""
        number = len(self._parent)
        self._parent.append(number)
        ids = entry.identifiers
        doi, arxiv = keys.canonical_doi, keys.canonical_arxiv
        self._facts.append(
            EntryFacts(
                doi or "",
                entry.year or 0,
                fold_last_words_of_first_authors(entry.authors),
                keys.title,
                strip_line_number(entry.origin),
                ids.get("id", ""),
                ids.get("paper_id", ""),
            )
        )
        strong = [("id", ids.get("paper_id")), ("doi", doi), ("arxiv", arxiv)]
        if entry.authors and entry.year and not ids.get("id") and not ids.get("paper_id"):
            strong.append(("meta", keys.meta))
        further = ((key.partition(":")[0], key.partition(":")[2]) for key in (*entry.keys, *keys.others))
        for scheme, value in (*strong, *further):
            if value and scheme in _STRONG:
                other = self._by_identifier.setdefault(hash((scheme, value)), number)
                self._join_clusters(number, other, _STRONG[scheme])
        named = {keys.bibkey or "", *(key.removeprefix("bib:") for key in entry.keys if key.startswith("bib:"))}
        for name in named - {""}:
            _add_to_capped_bucket(self._by_bibkey, name, number)
        if stem := ids.get("stem"):
            _add_to_capped_bucket(self._files, stem, number)
        if keys.title:
            _add_to_capped_bucket(self._by_title, hash(keys.title), number)

    def find_clusters(self) -> list[list[int]]:
        """Return the numbers of the entries of each paper, in the order of their first entries."""
        self._join_clusters_by_weak_keys()
        grouped: dict[int, list[int]] = {}
        for number in range(len(self._parent)):
            grouped.setdefault(self._find_root(number), []).append(number)
        return list(grouped.values())

    def get_facts(self, number: int) -> EntryFacts:
        """Return the compared fields of an entry."""
        return self._facts[number]

    def list_bibkeys(self) -> set[str]:
        """Return the BibTeX keys of all entries."""
        return set(self._by_bibkey)

    def get_merge_reason(self, number: int) -> str:
        """Return why the entry was merged with an earlier one, or an empty text."""
        return self._reasons.get(number, "")

    def _join_clusters_by_weak_keys(self) -> None:
        members = self._list_entries_of_joinable_clusters()
        for name, same in self._by_bibkey.items():
            fits = EntryFacts.matches_by_generated_bibkey if is_generated_key(name) else EntryFacts.matches_by_bibkey
            self._join_matching_clusters(same, members, fits, "same BibTeX key")
        for stem, files in self._files.items():
            # Two files of the same name are ambiguous.
            if len(files) == 1 and stem in self._by_bibkey:
                named = [*self._by_bibkey[stem], *files]
                self._join_matching_clusters(
                    named, members, EntryFacts.matches_by_bibkey, "file named by the BibTeX key"
                )
        for same in self._by_title.values():
            self._join_matching_clusters(same, members, EntryFacts.matches_by_title, "same title, authors and year")

    def _list_entries_of_joinable_clusters(self) -> dict[int, list[int]]:
        """Return the entries of each cluster that may still grow."""
        buckets = (*self._by_title.values(), *self._by_bibkey.values(), *self._files.values())
        wanted = {self._find_root(number) for same in buckets if len(same) > 1 for number in same}
        for stem in self._files.keys() & self._by_bibkey.keys():
            wanted.update(self._find_root(number) for number in (*self._files[stem], *self._by_bibkey[stem]))
        members: dict[int, list[int]] = {root: [] for root in wanted}
        for number in range(len(self._parent)):
            if (root := self._find_root(number)) in members:
                members[root].append(number)
        return members

    def _join_matching_clusters(
        self,
        candidates: Sequence[int],
        members: dict[int, list[int]],
        fits: Callable[[EntryFacts, EntryFacts], bool],
        reason: str,
    ) -> None:
        """Join each cluster of `candidates` to the first earlier cluster that matches without a contradiction."""
        if len(candidates) < 2:
            return
        facts = self._facts
        groups: list[int] = []
        for number in sorted(candidates, key=lambda one: (*facts[one].make_completeness_sort_key(), one)):
            root = self._find_root(number)
            for first in groups:
                target = self._find_root(first)
                if target == root or (
                    fits(facts[number], facts[first]) and self._has_no_contradiction(members[root], members[target])
                ):
                    self._join_clusters(number, first, reason)
                    merged = self._find_root(number)
                    if target != root:
                        members[merged] = members.pop(root if merged == target else target) + members[merged]
                    break
            else:
                groups.append(number)

    def _has_no_contradiction(self, one: Iterable[int], other: Sequence[int]) -> bool:
        facts = self._facts
        return not any(facts[mine].contradicts(facts[theirs]) for mine in one for theirs in other)

    def _join_clusters(self, number: int, other: int, reason: str) -> None:
        mine, theirs = self._find_root(number), self._find_root(other)
        if mine != theirs:
            self._parent[max(mine, theirs)] = min(mine, theirs)
            self._reasons.setdefault(max(number, other), reason)

    def _find_root(self, number: int) -> int:
        while (parent := self._parent[number]) != number:
            self._parent[number] = self._parent[parent]
            number = parent
        return number


def _add_to_capped_bucket(buckets: dict[Key, list[int]], key: Key, number: int) -> None:
    same = buckets.setdefault(key, [])
    if len(same) < _MOST_ALIKE:
        same.append(number)


def fold_last_words_of_first_authors(authors: list[str]) -> frozenset[str]:
    """Return the last words of the names of the first three authors, folded for comparison."""
    return frozenset(filter(None, map(_fold_last_word, authors[:3])))


@lru_cache(maxsize=1 << 17)
def _fold_last_word(author: str) -> str:
    found = _SURNAME.findall(fold_text(author))
    return found[-1] if found else ""


def has_preprint_doi(one: str, other: str) -> bool:
    """Return True if one of two DOIs is a preprint's, which can belong to the same paper."""
    return any(doi.startswith(("10.48550/", "10.1101/", "10.26434/", "10.31234/")) for doi in (one, other))
