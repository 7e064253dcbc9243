"""Which entries describe the same paper.

Entries with the same DOI or arXiv id do. So do those with the same BibTeX key, or the same title, unless something
else they say contradicts it: two papers called "Introduction" are two papers. Entries are told apart by number, in the
order they come, and only what is needed to compare them is kept in memory.
"""

import re
from array import array
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz

from paper_library.build.entry import Entry, origin_file
from paper_library.identity import Keys, meta_key, normalised_arxiv, normalised_doi, normalised_title
from uraniborg.kernel.text import fold

_FEWEST_WORDS: Final = 3
"""A shorter title says too little to stand for a paper whose authors are not known."""
_MOST_OF_A_TITLE: Final = 100
_SAME_TITLE: Final = 85.0
_SURNAME: Final = re.compile(r"[^\W\d_]{2,}(?:[-'’][^\W\d_]+)*")


def keys_of(entry: Entry) -> Keys:
    """The keys that an entry has by itself."""
    ids = entry.identifiers
    doi = normalised_doi(ids.get("doi"))
    title = normalised_title(entry.title)
    return Keys(
        doi,
        normalised_arxiv(ids.get("arxiv")) or (normalised_arxiv(doi) if doi else None),
        ids.get("bibkey") or None,
        meta_key(title, entry.authors, entry.year, entry.venue),
        title,
    )


@dataclass(frozen=True, slots=True)
class _Facts:
    """What can contradict that two entries are one paper."""

    title: str
    surnames: frozenset[str]
    year: int | None
    doi: str | None
    file: str
    record: str | None
    """What the file itself calls the entry, where its entries have numbers."""

    def agrees(self, other: "_Facts") -> bool:
        if self.file == other.file and self.record and other.record and self.record != other.record:
            return False
        if self.doi and other.doi and self.doi != other.doi and not _preprint(self.doi, other.doi):
            return False
        if self.year and other.year and self.year != other.year:
            return False
        if self.surnames and other.surnames:
            return not self.surnames.isdisjoint(other.surnames)
        # Who lists the same words twice means two things by them.
        return self.file != other.file and self.title.count(" ") + 1 >= _FEWEST_WORDS

    def has_the_title_of(self, other: "_Facts") -> bool:
        return not self.title or not other.title or fuzz.token_set_ratio(self.title, other.title) >= _SAME_TITLE


class Matcher:
    """Takes entries one by one and says in the end which belong together."""

    def __init__(self) -> None:
        self._parent = array("q")
        self._by_key: dict[int, int] = {}
        self._by_title: dict[int, list[int]] = {}
        self._facts: dict[int, _Facts] = {}
        self._reasons: dict[int, str] = {}

    def add(self, entry: Entry, keys: Keys) -> None:
        """The next entry."""
        number = len(self._parent)
        self._parent.append(number)
        facts = _Facts(keys.title, _surnames(entry.authors), entry.year, keys.doi, *_place(entry))
        for scheme, value in (
            ("id", entry.identifiers.get("paper_id")),
            ("doi", keys.doi),
            ("arxiv", keys.arxiv),
        ):
            if value and (other := self._by_key.setdefault(hash((scheme, value)), number)) != number:
                self._join(number, other, f"same {scheme}")
        self._match_names(number, facts, keys.bibkey, entry.identifiers.get("stem"))
        self._match_title(number, facts)

    def clusters(self) -> list[list[int]]:
        """The numbers of the entries of each paper, in the order of their first entries."""
        grouped: dict[int, list[int]] = {}
        for number in range(len(self._parent)):
            grouped.setdefault(self._root(number), []).append(number)
        return list(grouped.values())

    def reason(self, number: int) -> str:
        """Why the entry was taken for a paper that was there already."""
        return self._reasons.get(number, "")

    def _match_names(self, number: int, facts: _Facts, bibkey: str | None, stem: str | None) -> None:
        """By BibTeX key; and a file that is called like one belongs to it. Two files of one name are nothing to us."""
        if bibkey:
            other = self._by_key.setdefault(hash(("bib", bibkey)), number)
            if other != number and self._are_one(facts, other, by_key=True):
                self._join(number, other, "same BibTeX key")
            if (file := self._by_key.get(hash(("stem", bibkey)))) is not None:
                self._join(number, file, "file named by the BibTeX key")
        if stem:
            self._by_key.setdefault(hash(("stem", stem)), number)
            if (named := self._by_key.get(hash(("bib", stem)))) is not None and named != number:
                self._join(number, named, "file named by the BibTeX key")

    def _match_title(self, number: int, facts: _Facts) -> None:
        if not facts.title:
            return
        same = self._by_title.setdefault(hash(facts.title), [])
        for other in same:
            if self._are_one(facts, other, by_key=False):
                self._join(number, other, "same title, authors and year")
                break
        if len(same) < _MOST_OF_A_TITLE:
            same.append(number)
        self._facts[number] = facts

    def _are_one(self, facts: _Facts, other: int, *, by_key: bool) -> bool:
        theirs = self._facts.get(other)
        if theirs is None:
            return by_key
        if by_key and not facts.has_the_title_of(theirs):
            return False
        return facts.agrees(theirs) or (by_key and not (facts.surnames and theirs.surnames))

    def _join(self, number: int, other: int, reason: str) -> None:
        mine, theirs = self._root(number), self._root(other)
        if mine != theirs:
            self._parent[max(mine, theirs)] = min(mine, theirs)
            self._reasons.setdefault(number, reason)

    def _root(self, number: int) -> int:
        while (parent := self._parent[number]) != number:
            self._parent[number] = self._parent[parent]
            number = parent
        return number


def _surnames(authors: list[str]) -> frozenset[str]:
    """The last names of the first authors, however the first names are written."""
    found = (_SURNAME.findall(fold(author)) for author in authors[:3])
    return frozenset(names[-1] for names in found if names)


def _place(entry: Entry) -> tuple[str, str | None]:
    return origin_file(entry.origin), entry.identifiers.get("id")


def _preprint(one: str, other: str) -> bool:
    """Whether one of two DOIs is the preprint's, which a paper may have beside its own."""
    return any(doi.startswith(("10.48550/", "10.1101/", "10.26434/", "10.31234/")) for doi in (one, other))
