"""Collect the entries of a build from inputs and the old shelf, and group them into papers with their ids.

The register decides only the ids of papers, never which entries form a paper: a build from the same inputs gives the
same papers with and without it. Each paper is compared with the records that share a key or a position with it; the
best pairs are assigned first.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from paper_library.domain.citations import remove_file_fields
from paper_library.domain.entries import BuildProblem, BuildReport, Entry, strip_line_number
from paper_library.domain.entry_matcher import EntryFacts, EntryMatcher
from paper_library.domain.excerpts import split_sentences
from paper_library.domain.id_evidence import IdRecord, Likeness, collect_evidence
from paper_library.domain.markdown import extract_plain_text, find_title
from paper_library.domain.merging import compute_precedence
from paper_library.domain.paper_ids import Keys, make_paper_id
from paper_library.service.build.input_files import InputFile
from paper_library.service.build.stored_entries import EntrySpool, OldShelf
from paper_library.store.id_register import IdRegister
from uraniborg.kernel.language.words import fold_text
from uraniborg.kernel.progress_callbacks import ReportPhase

_MOST_COMPARED: Final = 20_000
"""The most pairs of titles in one file that are compared; more are not corrections."""


@dataclass(slots=True)
class EntryCluster:
    """The entries of one paper."""

    numbers: list[int]
    facts: list[EntryFacts]
    evidence: dict[str, int]
    """The ids that share evidence with the entries, with the kinds of evidence."""


@dataclass(slots=True)
class IdAssignment:
    """The ids of clusters, by their index in the list."""

    known: dict[int, str] = field(default_factory=dict[int, str])
    """The ids of papers that the register has."""
    absorbed: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """The ids of other papers of the register that are part of this paper now."""

    def list_ids(self) -> set[str]:
        """Return all assigned and absorbed ids."""
        return {*self.known.values(), *(one for ids in self.absorbed.values() for one in ids)}


def match_known_ids(clusters: Sequence[EntryCluster], register: IdRegister) -> IdAssignment:
    pairs = [
        (at, likeness)
        for at, cluster in enumerate(clusters)
        for known, kinds in cluster.evidence.items()
        if (likeness := Likeness(register[known], kinds, cluster.facts)).is_same_paper
    ]
    pairs.sort(key=lambda pair: (-pair[1].score, pair[0], pair[1].record.paper_id))
    result = IdAssignment()
    taken: set[str] = set()
    for at, likeness in pairs:
        if at not in result.known and likeness.record.paper_id not in taken:
            result.known[at] = likeness.record.paper_id
            taken.add(likeness.record.paper_id)
    _assign_ids_by_nearly_same_titles(clusters, register, result, taken)
    for at, likeness in pairs:
        if likeness.record.paper_id not in taken and likeness.has_entries_of_record:
            result.absorbed.setdefault(at, []).append(likeness.record.paper_id)
            taken.add(likeness.record.paper_id)
    return result


def make_free_id(keys: Iterable[str], origins: Iterable[str], taken: set[str]) -> str:
    """Return the id of the first key whose id is not taken."""
    others = (*keys, *(f"origin:{origin}" for origin in origins), f"again:{len(taken)}")
    return next(one for key in others if (one := make_paper_id(key)) not in taken)


def _assign_ids_by_nearly_same_titles(
    clusters: Sequence[EntryCluster], register: IdRegister, result: IdAssignment, taken: set[str]
) -> None:
    """Assign the ids of papers whose titles were corrected: nearly the same title in the same file."""
    new: dict[str, list[int]] = defaultdict(list)
    for at, cluster in enumerate(clusters):
        if at not in result.known:
            for file in {facts.file for facts in cluster.facts}:
                new[file].append(at)
    lost: dict[str, list[IdRecord]] = defaultdict(list)
    for record in register if new else ():
        if record.paper_id not in taken:
            for file in {strip_line_number(position).partition("#")[0] for position in record.places}:
                lost[file].append(record)
    for file in sorted(new.keys() & lost.keys()):
        if len(new[file]) * len(lost[file]) > _MOST_COMPARED:
            continue
        alike = sorted(
            _pair_by_nearly_same_title(clusters, new[file], lost[file]), key=lambda one: (one[0], one[1].paper_id)
        )
        for at, record in alike:
            if at not in result.known and record.paper_id not in taken:
                result.known[at] = record.paper_id
                taken.add(record.paper_id)


def _pair_by_nearly_same_title(
    clusters: Sequence[EntryCluster], new_indexes: Sequence[int], lost_records: Sequence[IdRecord]
) -> Iterable[tuple[int, IdRecord]]:
    for at in new_indexes:
        for record in lost_records:
            likeness = Likeness(record, 0, clusters[at].facts)
            if likeness.has_nearly_same_title and not likeness.has_contradiction:
                yield at, record


_PROGRESS_INTERVAL: Final = 500
_TITLE_COMPARED: Final = 200
_TITLE_CHARS: Final = 200
_TITLE_READ: Final = 10_000
_DERIVED_RANK: Final = 100
_LAST_WORD: Final = re.compile(r"\s+\S*$")


@dataclass(slots=True)
class PaperGroup:
    """The entries of one paper, and its known id."""

    numbers: list[int]
    paper_id: str = ""
    """Empty for a paper that is not in the register."""
    absorbed: list[str] = field(default_factory=list[str])
    """The ids of papers that are part of this paper now."""


@dataclass(slots=True)
class EntryCollection:
    """Collects entries and groups them into papers."""

    spool: EntrySpool
    register: IdRegister
    report: BuildReport
    matcher: EntryMatcher = field(default_factory=EntryMatcher)
    _titles: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """For each entry: its precedence and its folded title, by which the shelf is sorted."""
    _evidence: dict[int, dict[str, int]] = field(default_factory=dict[int, dict[str, int]])
    """For each entry with evidence: the ids of the register that share it."""
    _old: set[int] = field(default_factory=set[int])
    """The entries that come from the old shelf."""
    _read: set[str] = field(default_factory=set[str])
    """The inputs whose entries replace those of the old shelf."""
    _broken: set[str] = field(default_factory=set[str])
    """The inputs with unreadable entries."""

    def read_inputs(self, files: Iterable[InputFile], progress: ReportPhase) -> None:
        for file in files:
            self.report.files += 1
            entries = broken = 0
            for found in file.read_entries():
                if isinstance(found, BuildProblem):
                    self.report.add_problem(found)
                    broken += found.kind == "broken"
                elif self._try_add_entry(found):
                    entries += 1
                    if self.report.entries % _PROGRESS_INTERVAL == 0:
                        progress("read", self.report.entries, 0)
            if broken:
                self._broken.add(file.origin)
            if entries or not broken:
                self._read.add(file.origin)
        progress("read", self.report.entries, self.report.entries)

    def retain_old_entries(self, old: OldShelf, *, prune: bool) -> None:
        """Add the entries of the old shelf that no input replaces; with `prune` only those of broken inputs."""
        for no in range(old.papers):
            retained = {
                file for origin in old.list_origins(no) if (file := strip_line_number(origin)) not in self._read
            }
            if not (retained := retained & self._broken if prune else retained):
                continue
            for file in retained - self._broken:
                self.report.count_paper_of_missing_input(file)
            for found in old.read_entries(no):
                if isinstance(found, BuildProblem):
                    self.report.add_problem(found)
                elif found.origins or strip_line_number(found.origin) in retained:
                    self._try_add_entry(found)

    def group_entries_into_papers(self, old: OldShelf | None, *, prune: bool) -> list[PaperGroup]:
        """Return the papers in shelf order, including papers of the old shelf without an entry.

        With `prune` the latter are left out, unless their inputs have unreadable entries.
        """
        clusters = [self._make_cluster(numbers) for numbers in self.matcher.find_clusters()]
        assigned = match_known_ids(clusters, self.register)
        groups = [
            PaperGroup(cluster.numbers, assigned.known.get(at, ""), assigned.absorbed.get(at, []))
            for at, cluster in enumerate(clusters)
        ]
        if old is not None:
            present = assigned.list_ids()
            orphans = [(paper_id, no) for paper_id, no in old.numbers.items() if paper_id not in present]
            groups += self._retain_or_prune_orphans(old, orphans, prune=prune)
        self.spool.flush()
        return sorted(groups, key=lambda group: (self._get_sort_title(group.numbers), group.numbers[0]))

    def has_old_entry(self, group: PaperGroup) -> bool:
        """Return True if an entry of the paper comes from the old shelf."""
        return not self._old.isdisjoint(group.numbers)

    def _retain_or_prune_orphans(
        self, old: OldShelf, orphans: Iterable[tuple[str, int]], *, prune: bool
    ) -> Iterable[PaperGroup]:
        for paper_id, no in sorted(orphans, key=lambda one: one[1]):
            files = {strip_line_number(origin) for origin in old.list_origins(no)}
            if prune and files.isdisjoint(self._broken):
                self.report.add_change("pruned", paper_id, old.read_metadata(no)["title"])
                continue
            for file in files:
                self.report.count_paper_of_missing_input(file)
            numbers: list[int] = []
            for found in old.read_entries(no):
                if isinstance(found, BuildProblem):
                    self.report.add_problem(found)
                elif stored := self._clean_and_store_entry(found):
                    numbers.append(stored[0])
            if numbers:
                yield PaperGroup(numbers, paper_id)

    def _try_add_entry(self, entry: Entry) -> bool:
        """Add an entry. Return False if it cannot be stored."""
        if (stored := self._clean_and_store_entry(entry)) is None:
            return False
        number, keys = stored
        self.matcher.add_entry(entry, keys)
        if len(self.register) and (found := self.register.find_ids(collect_evidence(entry, keys))):
            self._evidence[number] = found
        return True

    def _clean_and_store_entry(self, entry: Entry) -> tuple[int, Keys] | None:
        self.report.entries += 1
        _remove_private_paths(entry)
        if not entry.title and _try_set_title_from_text(entry):
            self.report.add_derived_title(entry.origin, entry.title)
        try:
            keys = self.spool.append_entry(entry)
        except TypeError:
            self.report.add_problem(
                BuildProblem(entry.origin, "broken", "The entry is nested too deeply to be stored.")
            )
            return None
        number = len(self._titles)
        rank = compute_precedence(entry)[0] + (_DERIVED_RANK if entry.title_is_derived else 0)
        self._titles.append((rank, fold_text(keys.title[:_TITLE_COMPARED])))
        if entry.old_paper_id:
            self._old.add(number)
        return number, keys

    def _make_cluster(self, numbers: list[int]) -> EntryCluster:
        evidence: dict[str, int] = {}
        for number in numbers:
            for paper_id, kinds in self._evidence.get(number, {}).items():
                evidence[paper_id] = evidence.get(paper_id, 0) | kinds
        return EntryCluster(numbers, [self.matcher.get_facts(number) for number in numbers], evidence)

    def _get_sort_title(self, numbers: list[int]) -> str:
        titled = [number for number in numbers if self._titles[number][1]] or numbers
        return self._titles[min(titled, key=lambda number: (self._titles[number][0], number))][1]


def _remove_private_paths(entry: Entry) -> None:
    """Remove local file paths from the entry."""
    entry.bibtex = remove_file_fields(entry.bibtex)
    if not entry.identifiers.get("url", "").lower().startswith(("http://", "https://")):
        entry.identifiers.pop("url", None)


def _try_set_title_from_text(entry: Entry) -> bool:
    """Set the title to the first sentence of the abstract or text. Return False if there is neither."""
    text = entry.abstract or find_title(entry.source[:_TITLE_READ]) or extract_plain_text(entry.source[:_TITLE_READ])
    title = next(iter(split_sentences(text)), "")
    if len(title) > _TITLE_CHARS:
        title = f"{_LAST_WORD.sub('', title[:_TITLE_CHARS])}…"
    entry.title, entry.title_is_derived = title, bool(title)
    return bool(title)
