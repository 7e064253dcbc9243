"""Assign ids to the papers of a build: known ids first, then new ones.

The register decides only the ids of papers, never which entries form a paper: a build from the same inputs gives the
same papers with and without it. Each paper is compared with the records that share a key or a position with it; the
best pairs are assigned first.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from paper_library.build.entry import strip_line_number
from paper_library.build.entry_matcher import Facts
from paper_library.build.id_evidence import Likeness, Record
from paper_library.build.id_register import IdRegister
from paper_library.paper_ids import make_paper_id

_MOST_COMPARED: Final = 20_000
"""The most pairs of titles in one file that are compared; more are not corrections."""


@dataclass(slots=True)
class Cluster:
    """The entries of one paper."""

    numbers: list[int]
    facts: list[Facts]
    evidence: dict[str, int]
    """The ids that share evidence with the entries, with the kinds of evidence."""


@dataclass(slots=True)
class Assignment:
    """The ids of clusters, by their index in the list."""

    known: dict[int, str] = field(default_factory=dict[int, str])
    """The ids of papers that the register has."""
    absorbed: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """The ids of other papers of the register that are part of this paper now."""

    def list_ids(self) -> set[str]:
        """Return all assigned and absorbed ids."""
        return {*self.known.values(), *(one for ids in self.absorbed.values() for one in ids)}


def match_known_ids(clusters: Sequence[Cluster], register: IdRegister) -> Assignment:
    pairs = [
        (at, likeness)
        for at, cluster in enumerate(clusters)
        for known, kinds in cluster.evidence.items()
        if (likeness := Likeness(register[known], kinds, cluster.facts)).is_same_paper
    ]
    pairs.sort(key=lambda pair: (-pair[1].score, pair[0], pair[1].record.paper_id))
    result = Assignment()
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
    clusters: Sequence[Cluster], register: IdRegister, result: Assignment, taken: set[str]
) -> None:
    """Assign the ids of papers whose titles were corrected: nearly the same title in the same file."""
    new: dict[str, list[int]] = defaultdict(list)
    for at, cluster in enumerate(clusters):
        if at not in result.known:
            for file in {facts.file for facts in cluster.facts}:
                new[file].append(at)
    lost: dict[str, list[Record]] = defaultdict(list)
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
    clusters: Sequence[Cluster], new_indexes: Sequence[int], lost_records: Sequence[Record]
) -> Iterable[tuple[int, Record]]:
    for at in new_indexes:
        for record in lost_records:
            likeness = Likeness(record, 0, clusters[at].facts)
            if likeness.has_nearly_same_title and not likeness.has_contradiction:
                yield at, record
