"""Which entries describe the same paper.

Entries with the same DOI or arXiv id do. So do those with the same BibTeX key, a file that is called by one, and those
with the same title, unless anything they say contradicts it: two papers called "Introduction" are two papers. An entry
that says little may fit several papers that contradict each other; it joins the first of them in an order that does not
depend on which came first. Only what is needed to compare entries is kept in memory.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeVar

from rapidfuzz import fuzz

from paper_library.build.entry import Entry, origin_file
from paper_library.identity import (
    Keys,
    list_other_keys,
    make_meta_key,
    normalise_title,
    spell_arxiv_for_id,
    spell_doi_for_id,
)
from uraniborg.kernel.bibliography.citation_keys import is_made_key
from uraniborg.kernel.words import fold_text

Key = TypeVar("Key")

_FEWEST_WORDS: Final = 3
"""A shorter title says too little to stand for a paper whose authors are not known."""
_MOST_ALIKE: Final = 100
"""Of entries with one title, or one name, no more are compared."""
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


def keys_of(entry: Entry) -> Keys:
    """The keys that an entry has by itself."""
    ids = entry.identifiers
    doi = spell_doi_for_id(ids.get("doi"))
    arxiv = spell_arxiv_for_id(ids.get("arxiv")) or spell_arxiv_for_id(doi)
    title = normalise_title(entry.title)
    meta = make_meta_key(title, entry.authors, entry.year, entry.venue)
    return Keys(doi, arxiv, ids.get("bibkey") or None, meta, title, list_other_keys(ids, doi, arxiv))


@dataclass(frozen=True, slots=True)
class Facts:
    """What can contradict that two entries are one paper."""

    doi: str
    year: int
    surnames: frozenset[str]
    title: str
    file: str
    record: str
    """What the file itself calls the entry, where its entries have numbers."""
    paper_id: str = ""
    """The id that a shelf had given to the paper when it was exported."""

    def contradicts(self, other: "Facts") -> bool:
        """Whether the two cannot be one paper."""
        if self.doi and other.doi and self.doi != other.doi and not is_preprint(self.doi, other.doi):
            return True
        if self.year and other.year and self.year != other.year:
            return True
        if self.file == other.file and self.record and other.record and self.record != other.record:
            return True
        if self.paper_id and other.paper_id and self.paper_id != other.paper_id:
            return True
        return bool(self.surnames and other.surnames) and self.surnames.isdisjoint(other.surnames)

    def has_the_title_of(self, other: "Facts") -> bool:
        """Whether two entries with the same title are one paper, as far as they say."""
        if self.surnames and other.surnames:
            return True
        # Who lists the same words twice means two things by them.
        return self.file != other.file and self.title.count(" ") + 1 >= _FEWEST_WORDS

    def has_the_name_of(self, other: "Facts") -> bool:
        """Whether two entries with the same BibTeX key are one paper."""
        return not self.title or not other.title or fuzz.token_set_ratio(self.title, other.title) >= _SAME_TITLE

    def has_the_made_name_of(self, other: "Facts") -> bool:
        """The same for a key that was made of name, year and a word of the title, which other papers give as well."""
        return not self.title or not other.title or self.title == other.title

    def order(self) -> tuple[object, ...]:
        """Those that say most come first."""
        return (not self.doi, not self.year, not self.surnames, self.doi, self.year, sorted(self.surnames), self.file)


class Matcher:
    """Takes entries one by one and says in the end which belong together."""

    def __init__(self) -> None:
        self._parent = array("q")
        self._facts: list[Facts] = []
        self._by_identifier: dict[int, int] = {}
        self._by_title: dict[int, list[int]] = {}
        self._by_bibkey: dict[str, list[int]] = {}
        self._files: dict[str, list[int]] = {}
        self._reasons: dict[int, str] = {}

    def add(self, entry: Entry, keys: Keys) -> None:
        """The next entry."""
        number = len(self._parent)
        self._parent.append(number)
        ids = entry.identifiers
        doi, arxiv = keys.canonical_doi, keys.canonical_arxiv
        self._facts.append(
            Facts(
                doi or "",
                entry.year or 0,
                surnames_of(entry.authors),
                keys.title,
                origin_file(entry.origin),
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
                self._join(number, other, _STRONG[scheme])
        named = {keys.bibkey or "", *(key.removeprefix("bib:") for key in entry.keys if key.startswith("bib:"))}
        for name in named - {""}:
            _put(self._by_bibkey, name, number)
        if stem := ids.get("stem"):
            _put(self._files, stem, number)
        if keys.title:
            _put(self._by_title, hash(keys.title), number)

    def clusters(self) -> list[list[int]]:
        """The numbers of the entries of each paper, in the order of their first entries."""
        self._match_alike()
        grouped: dict[int, list[int]] = {}
        for number in range(len(self._parent)):
            grouped.setdefault(self._root(number), []).append(number)
        return list(grouped.values())

    def facts(self, number: int) -> Facts:
        return self._facts[number]

    def bibkeys(self) -> set[str]:
        """Return every BibTeX key that an entry has."""
        return set(self._by_bibkey)

    def reason(self, number: int) -> str:
        """Why the entry was taken for a paper that was there already."""
        return self._reasons.get(number, "")

    def _match_alike(self) -> None:
        members = self._members()
        for name, same in self._by_bibkey.items():
            fits = Facts.has_the_made_name_of if is_made_key(name) else Facts.has_the_name_of
            self._group(same, members, fits, "same BibTeX key")
        for stem, files in self._files.items():
            # Two files of one name are nothing to us.
            if len(files) == 1 and stem in self._by_bibkey:
                named = [*self._by_bibkey[stem], *files]
                self._group(named, members, Facts.has_the_name_of, "file named by the BibTeX key")
        for same in self._by_title.values():
            self._group(same, members, Facts.has_the_title_of, "same title, authors and year")

    def _members(self) -> dict[int, list[int]]:
        """The entries of every cluster that may still grow."""
        buckets = (*self._by_title.values(), *self._by_bibkey.values(), *self._files.values())
        wanted = {self._root(number) for same in buckets if len(same) > 1 for number in same}
        for stem in self._files.keys() & self._by_bibkey.keys():
            wanted.update(self._root(number) for number in (*self._files[stem], *self._by_bibkey[stem]))
        members: dict[int, list[int]] = {root: [] for root in wanted}
        for number in range(len(self._parent)):
            if (root := self._root(number)) in members:
                members[root].append(number)
        return members

    def _group(
        self, alike: Sequence[int], members: dict[int, list[int]], fits: Callable[[Facts, Facts], bool], reason: str
    ) -> None:
        """Join the clusters of `alike` that fit and do not contradict, each to the first it can."""
        if len(alike) < 2:
            return
        facts = self._facts
        groups: list[int] = []
        for number in sorted(alike, key=lambda one: (*facts[one].order(), one)):
            root = self._root(number)
            for first in groups:
                target = self._root(first)
                if target == root or (
                    fits(facts[number], facts[first]) and self._agree(members[root], members[target])
                ):
                    self._join(number, first, reason)
                    merged = self._root(number)
                    if target != root:
                        members[merged] = members.pop(root if merged == target else target) + members[merged]
                    break
            else:
                groups.append(number)

    def _agree(self, one: Iterable[int], other: Sequence[int]) -> bool:
        facts = self._facts
        return not any(facts[mine].contradicts(facts[theirs]) for mine in one for theirs in other)

    def _join(self, number: int, other: int, reason: str) -> None:
        mine, theirs = self._root(number), self._root(other)
        if mine != theirs:
            self._parent[max(mine, theirs)] = min(mine, theirs)
            self._reasons.setdefault(max(number, other), reason)

    def _root(self, number: int) -> int:
        while (parent := self._parent[number]) != number:
            self._parent[number] = self._parent[parent]
            number = parent
        return number


def _put(buckets: dict[Key, list[int]], key: Key, number: int) -> None:
    same = buckets.setdefault(key, [])
    if len(same) < _MOST_ALIKE:
        same.append(number)


def surnames_of(authors: list[str]) -> frozenset[str]:
    """The last names of the first authors, however the first names are written."""
    return frozenset(filter(None, map(_surname, authors[:3])))


@lru_cache(maxsize=1 << 17)
def _surname(author: str) -> str:
    found = _SURNAME.findall(fold_text(author))
    return found[-1] if found else ""


def is_preprint(one: str, other: str) -> bool:
    """Whether one of two DOIs is the preprint's, which a paper may have beside its own."""
    return any(doi.startswith(("10.48550/", "10.1101/", "10.26434/", "10.31234/")) for doi in (one, other))
