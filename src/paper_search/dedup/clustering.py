"""Groups records into papers: strongest reasons first, and no chain of likenesses overrules a contradiction."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, product
from typing import NamedTuple

from rapidfuzz import fuzz

from paper_search.dedup.blocking import similar_titles
from paper_search.dedup.matching import comparable, contradict, match
from paper_search.dedup.names import Agreement, agreement
from paper_search.dedup.records import Record
from paper_search.dedup.titles import Difference, difference

_SAME = {
    "doi": "same DOI",
    "arxiv": "same arXiv id",
    "pmid": "same PubMed id",
    "pmcid": "same PubMed Central id",
    "openalex": "same OpenAlex id",
    "s2": "same Semantic Scholar id",
    "dblp": "same DBLP key",
    "scholar": "same Google Scholar id",
    "record": "same record of the same source",
}
"""By scheme, the most telling first."""
_TITLES_ALIKE = 60.0
_TITLES_CLOSE = 85.0
_FEW_TITLES = 3
_NEIGHBOURS = 24
_WITNESSES = 8


class Edge(NamedTuple):
    """A reason to unite two records; sorts by strength, then by place."""

    rank: int
    left: int
    right: int
    reason: str
    by_identifier: bool = False
    tentative: bool = False


@dataclass(slots=True, eq=False)
class Cluster:
    """The places of records that are one paper, the strongest reason for each, and the reasons that united them."""

    members: list[int]
    published_dois: set[str]
    sources: set[str]
    witnesses: dict[object, Record]
    """The first few members that differ in anything that could contradict."""
    reasons: dict[int, str] = field(default_factory=dict[int, str])
    unions: list[str] = field(default_factory=list[str])

    def absorb(self, other: "Cluster", reason: str) -> None:
        self.members += other.members
        self.published_dois |= other.published_dois
        self.sources |= other.sources
        for profile, record in other.witnesses.items():
            if len(self.witnesses) < _WITNESSES:
                self.witnesses.setdefault(profile, record)
        self.reasons |= other.reasons
        self.unions += [*other.unions, reason]


class Clustering:
    """Finds groups again and again as records are merged, and does not judge the same two records twice."""

    def __init__(self) -> None:
        self._rejected: set[tuple[Record, Record]] = set()

    def groups(self, records: Sequence[Record]) -> list[Cluster]:
        """The groups of two and more. The records must be sorted by compact title, and equal ones by content."""
        return _unite(records, sorted([*_by_identifier(records), *self._by_title(records)]))

    def _by_title(self, records: Sequence[Record]) -> Iterator[Edge]:
        starts = [
            place
            for place, record in enumerate(records)
            if record.title.compact and (place == 0 or record.title.compact != records[place - 1].title.compact)
        ]
        groups = [range(start, end) for start, end in pairwise([*starts, len(records)])]
        for group in groups:
            if len(group) > 1:
                yield from self._matches(records, _within(records, group))
        for left, right in similar_titles([records[start].title for start in starts]):
            yield from self._matches(records, product(groups[left][:_WITNESSES], groups[right][:_WITNESSES]))

    def _matches(self, records: Sequence[Record], pairs: Iterable[tuple[int, int]]) -> Iterator[Edge]:
        """Edges among pairs of places; the first of every pair has one title, the second another or the same."""
        differ: Difference | None = None
        for one, other in pairs:
            left, right = records[one], records[other]
            if (left, right) in self._rejected or not comparable(left, right):
                continue
            if differ is None:
                differ = difference(left.title, right.title)
            if found := match(left, right, differ):
                yield Edge(found.rank, min(one, other), max(one, other), found.reason, tentative=found.tentative)
            else:
                self._rejected.add((left, right))


def _by_identifier(records: Sequence[Record]) -> Iterator[Edge]:
    first: dict[str, int] = {}
    holders: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        for identity in record.identities():
            if (earlier := first.setdefault(identity, place)) != place:
                holders.setdefault(identity, [earlier]).append(place)
    schemes = list(_SAME)
    for identity, places in holders.items():
        scheme = identity.partition(":")[0]
        for left, right in _trusted(records, places):
            yield Edge(schemes.index(scheme) - len(schemes), left, right, _SAME[scheme], by_identifier=True)


def _trusted(records: Sequence[Record], places: list[int]) -> Iterator[tuple[int, int]]:
    """The pairs that a shared identifier joins. Some sources put the DOI of a whole volume on every paper in it."""
    by_title: dict[str, list[int]] = {}
    for place in places:
        by_title.setdefault(records[place].title.compact, []).append(place)
    alike = _titles_alike if len(by_title) <= _FEW_TITLES else _titles_nearly_equal
    families: list[list[int]] = []
    for group in by_title.values():
        one = records[group[0]]
        family = next((f for f in families[:_WITNESSES] if alike(records[f[0]], one)), None)
        if family:
            family += group
        else:
            families.append(group)
    for family in families:
        yield from pairwise(sorted(family))
    if len(families) == 2:
        one, other = families[0][0], families[1][0]
        if agreement(records[one].names, records[other].names) is not Agreement.DIFFERENT:
            yield min(one, other), max(one, other)


def _titles_alike(left: Record, right: Record) -> bool:
    one, other = left.title.text, right.title.text
    if not one or not other:
        return True
    likeness = fuzz.token_set_ratio(one, other)
    if likeness >= _TITLES_CLOSE or likeness < _TITLES_ALIKE:
        return likeness >= _TITLES_CLOSE
    return agreement(left.names, right.names) is not Agreement.DIFFERENT


def _titles_nearly_equal(left: Record, right: Record) -> bool:
    differ = difference(left.title, right.title)
    return not differ.left or not differ.right


def _within(records: Sequence[Record], group: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The pairs of a group to look at: all of a small one, of a large one those near by first author or by year."""
    if len(group) <= _NEIGHBOURS:
        yield from combinations(group, 2)
        return
    for nearness in (_first_family, _year):
        ordered = sorted(group, key=lambda place: nearness(records[place]))
        for index, place in enumerate(ordered, 1):
            yield from ((place, other) for other in ordered[index : index + _NEIGHBOURS])


def _first_family(record: Record) -> str:
    return record.names[0].family if record.names else ""


def _year(record: Record) -> str:
    return str(record.year)


def _unite(records: Sequence[Record], edges: Iterable[Edge]) -> list[Cluster]:
    homes: dict[int, Cluster] = {}
    for edge in edges:
        pair = [homes.get(place) or _alone(records, place) for place in (edge.left, edge.right)]
        small, large = sorted(pair, key=lambda found: (len(found.members), -found.members[0]))
        if small is not large:
            if not _may_unite(large, small, edge):
                continue
            homes.update(dict.fromkeys((large.members[0], *small.members), large))
            large.absorb(small, edge.reason)
        large.reasons.setdefault(edge.left, edge.reason)
        large.reasons.setdefault(edge.right, edge.reason)
    return list(dict.fromkeys(homes.values()))


def _alone(records: Sequence[Record], place: int) -> Cluster:
    record = records[place]
    profile = (record.title.compact, record.names, record.year, record.paper.venue)
    published = {record.published_doi} if record.published_doi else set[str]()
    return Cluster([place], published, record.sources, {profile: record})


def _may_unite(one: Cluster, other: Cluster, edge: Edge) -> bool:
    if len(one.published_dois | other.published_dois) > 1:
        return False
    if edge.tentative and one.sources & other.sources:
        return False
    if edge.by_identifier or len(one.members) == len(other.members) == 1:
        return True
    return not any(contradict(left, right) for left, right in product(one.witnesses.values(), other.witnesses.values()))
