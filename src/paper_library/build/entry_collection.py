"""The entries of a build: those of the inputs, and those of the old shelf that no input replaces."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from paper_library.build.entry import Entry, Problem, origin_file
from paper_library.build.entry_matcher import Matcher
from paper_library.build.entry_storage import EntrySpool
from paper_library.build.id_assignment import Cluster, assign_ids
from paper_library.build.id_evidence import evidence_of
from paper_library.build.id_register import Register
from paper_library.build.inputs import Input
from paper_library.build.merge import precedence
from paper_library.build.old_shelf import OldShelf
from paper_library.build.report import Progress, Report
from paper_library.identity import Keys
from paper_library.text.bibtex import remove_file_fields
from paper_library.text.default_summary import split_sentences
from paper_library.text.markdown import extract_plain_text, find_title
from uraniborg.kernel.words import fold_text

_TOLD_EVERY: Final = 500
_TITLE_COMPARED: Final = 200
_TITLE_CHARS: Final = 200
_TITLE_READ: Final = 10_000
_DERIVED_RANK: Final = 100
_LAST_WORD: Final = re.compile(r"\s+\S*$")


@dataclass(slots=True)
class Group:
    """The entries of one paper, and the id it had."""

    numbers: list[int]
    paper_id: str = ""
    """Empty for a paper that the register does not know."""
    absorbed: list[str] = field(default_factory=list[str])
    """Ids of papers that are part of this one now."""


@dataclass(slots=True)
class Gathering:
    """Entries on their way to becoming papers."""

    spool: EntrySpool
    register: Register
    report: Report
    matcher: Matcher = field(default_factory=Matcher)
    _titles: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Of each entry: whose word counts, and the beginning of its title, to order the shelf by."""
    _evidence: dict[int, dict[str, int]] = field(default_factory=dict[int, dict[str, int]])
    """Of each entry that the register may know: the ids that it speaks for."""
    _old: set[int] = field(default_factory=set[int])
    """The entries that come from the shelf that is updated."""
    _read: set[str] = field(default_factory=set[str])
    """The inputs whose entries replace those that they had before."""
    _broken: set[str] = field(default_factory=set[str])
    """The inputs of which something could not be read."""

    def read(self, files: Iterable[Input], tell: Progress) -> None:
        """Take in the entries of the inputs."""
        for file in files:
            self.report.files += 1
            entries = broken = 0
            for found in file.read():
                if isinstance(found, Problem):
                    self.report.note(found)
                    broken += found.kind == "broken"
                elif self._put(found):
                    entries += 1
                    if self.report.entries % _TOLD_EVERY == 0:
                        tell("read", self.report.entries, 0)
            if broken:
                self._broken.add(file.origin)
            if entries or not broken:
                self._read.add(file.origin)
        tell("read", self.report.entries, self.report.entries)

    def retain(self, old: OldShelf, *, prune: bool) -> None:
        """Take in those entries of the old shelf that no input replaces; with `prune` only those of broken inputs."""
        for no in range(old.papers):
            kept = {file for origin in old.origins(no) if (file := origin_file(origin)) not in self._read}
            if not (kept := kept & self._broken if prune else kept):
                continue
            for file in kept - self._broken:
                self.report.note_missing(file)
            for found in old.entries(no):
                if isinstance(found, Problem):
                    self.report.note(found)
                elif found.origins or origin_file(found.origin) in kept:
                    self._put(found)

    def groups(self, old: OldShelf | None, *, prune: bool) -> list[Group]:
        """Return the papers in the order of the shelf, those of the old shelf that no entry speaks for included.

        With `prune` the latter are left out, unless something of their inputs could not be read.
        """
        clusters = [self._cluster(numbers) for numbers in self.matcher.clusters()]
        assigned = assign_ids(clusters, self.register)
        groups = [
            Group(cluster.numbers, assigned.known.get(at, ""), assigned.absorbed.get(at, []))
            for at, cluster in enumerate(clusters)
        ]
        if old is not None:
            present = assigned.ids()
            left = [(paper_id, no) for paper_id, no in old.numbers.items() if paper_id not in present]
            groups += self._orphans(old, left, prune=prune)
        self.spool.flush()
        return sorted(groups, key=lambda group: (self._title(group.numbers), group.numbers[0]))

    def is_old(self, group: Group) -> bool:
        """Return True if an entry of the paper comes from the old shelf."""
        return not self._old.isdisjoint(group.numbers)

    def _orphans(self, old: OldShelf, left: Iterable[tuple[str, int]], *, prune: bool) -> Iterable[Group]:
        for paper_id, no in sorted(left, key=lambda one: one[1]):
            files = {origin_file(origin) for origin in old.origins(no)}
            if prune and files.isdisjoint(self._broken):
                self.report.note_change("pruned", paper_id, old.metadata(no)["title"])
                continue
            for file in files:
                self.report.note_missing(file)
            numbers: list[int] = []
            for found in old.entries(no):
                if isinstance(found, Problem):
                    self.report.note(found)
                elif stored := self._store(found):
                    numbers.append(stored[0])
            if numbers:
                yield Group(numbers, paper_id)

    def _put(self, entry: Entry) -> bool:
        """Take in an entry; False for one that cannot be stored."""
        if (stored := self._store(entry)) is None:
            return False
        number, entry, keys = stored
        self.matcher.add(entry, keys)
        if len(self.register) and (found := self.register.find(evidence_of(entry, keys))):
            self._evidence[number] = found
        return True

    def _store(self, entry: Entry) -> tuple[int, Entry, Keys] | None:
        self.report.entries += 1
        _clean(entry)
        if not entry.title and _derive_title(entry):
            self.report.note_title(entry.origin, entry.title)
        try:
            entry, keys = self.spool.append(entry)
        except TypeError:
            self.report.note(Problem(entry.origin, "broken", "What goes with it is nested too deeply to be kept."))
            return None
        number = len(self._titles)
        rank = precedence(entry)[0] + (_DERIVED_RANK if entry.title_is_derived else 0)
        self._titles.append((rank, fold_text(keys.title[:_TITLE_COMPARED])))
        if entry.was:
            self._old.add(number)
        return number, entry, keys

    def _cluster(self, numbers: list[int]) -> Cluster:
        evidence: dict[str, int] = {}
        for number in numbers:
            for paper_id, kinds in self._evidence.get(number, {}).items():
                evidence[paper_id] = evidence.get(paper_id, 0) | kinds
        return Cluster(numbers, [self.matcher.facts(number) for number in numbers], evidence)

    def _title(self, numbers: list[int]) -> str:
        titled = [number for number in numbers if self._titles[number][1]] or numbers
        return self._titles[min(titled, key=lambda number: (self._titles[number][0], number))][1]


def _clean(entry: Entry) -> None:
    """Take out what names places on the machine of its owner."""
    entry.bibtex = remove_file_fields(entry.bibtex)
    if not entry.identifiers.get("url", "").lower().startswith(("http://", "https://")):
        entry.identifiers.pop("url", None)


def _derive_title(entry: Entry) -> bool:
    """Give the entry the first sentence of its abstract or text as a title; False if it has neither."""
    text = entry.abstract or find_title(entry.source[:_TITLE_READ]) or extract_plain_text(entry.source[:_TITLE_READ])
    title = next(iter(split_sentences(text)), "")
    if len(title) > _TITLE_CHARS:
        title = f"{_LAST_WORD.sub('', title[:_TITLE_CHARS])}…"
    entry.title, entry.title_is_derived = title, bool(title)
    return bool(title)
