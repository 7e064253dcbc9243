"""Group records that are one paper, of the pairs worth comparing: a contradiction always prevents a union.

Two titles of one paper share most of their rarest words. Any three of a title's rarest words are a key, and titles
under one key are compared, in C. Words of one title only cannot join two titles, so misspellings use no keys. Under a
key with many titles each title is compared with its neighbours only, so the work grows linearly.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, pairwise, product
from typing import NamedTuple

from rapidfuzz import fuzz, process

from paper_search.domain.dedup.author_names import Agreement, compare_authors
from paper_search.domain.dedup.record_matching import has_conflict, has_other_page, is_comparable, match_records
from paper_search.domain.dedup.records import ComparableRecord
from paper_search.domain.dedup.titles import Title, TitleDifference, compare_titles

_RAREST = 5
_COMPARED_NEIGHBOURS = 30
_BEGINNINGS = 8
_LEAST_LIKENESS = 80.0


def find_similar_titles(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    """Yield pairs of indexes of similar titles, the smaller index first. The titles must all differ."""
    met: dict[int, set[int]] = {}
    for one, other in chain(_pair_by_rare_words(titles), _pair_by_beginning(titles)):
        met.setdefault(min(one, other), set()).add(max(one, other))
    for one, others in met.items():
        choices = {other: titles[other].text for other in others}
        alike = process.extract(
            titles[one].text, choices, scorer=fuzz.token_set_ratio, score_cutoff=_LEAST_LIKENESS, limit=None
        )
        yield from ((one, other) for _, _, other in alike)


def _pair_by_rare_words(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    for block in _build_blocks(titles):
        if len(block) > _COMPARED_NEIGHBOURS:
            block.sort(key=lambda index: titles[index].compact)
        for index, one in enumerate(block, 1):
            for other in block[index : index + _COMPARED_NEIGHBOURS]:
                yield one, other


def _build_blocks(titles: Sequence[Title]) -> Iterable[list[int]]:
    """Return the indexes of titles that share three of their rarest words, or two for short titles."""
    frequency = Counter(chain.from_iterable(title.words for title in titles))
    shared = sorted((count, word) for word, count in frequency.items() if count > 1)
    rarity = {word: rank for rank, (_, word) in enumerate(shared, 1)}
    base = len(rarity) + 1
    first: dict[int, int] = {}
    blocks: dict[int, list[int]] = {}
    for index, title in enumerate(titles):
        rarest = sorted({rarity[word] for word in title.words if word in rarity})[:_RAREST]
        # Keys are numbers, not tuples: there are many, and the garbage collector skips numbers.
        keys = [(one * base + two) * base + three for one, two, three in combinations(rarest, 3)]
        if len(rarest) < _RAREST:
            keys += [one * base + two for one, two in combinations(rarest, 2)]
        for key in keys:
            if (earlier := first.setdefault(key, index)) != index:
                blocks.setdefault(key, [earlier]).append(index)
    return blocks.values()


def _pair_by_beginning(titles: Sequence[Title]) -> Iterator[tuple[int, int]]:
    beginnings: list[int] = []
    # In alphabetical order a title follows all its beginnings.
    for index in sorted(range(len(titles)), key=lambda index: titles[index].compact):
        while beginnings and not titles[index].compact.startswith(titles[beginnings[-1]].compact):
            beginnings.pop()
        yield from ((index, beginning) for beginning in beginnings[-_BEGINNINGS:])
        if len(titles[index].words) >= 4:
            beginnings.append(index)


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
"""Reasons by scheme, the strongest first."""
_TITLES_ALIKE = 60.0
_TITLES_CLOSE = 85.0
_FEW_TITLES = 3
_NEIGHBOURS = 24
_WITNESSES = 8


class RecordLink(NamedTuple):
    """A reason to unite two records; sorts by strength, then by index."""

    rank: int
    left: int
    right: int
    reason: str
    by_identifier: bool = False
    tentative: bool = False


@dataclass(slots=True, eq=False)
class RecordCluster:
    """The indexes of records that are one paper, the strongest reason for each, and the reasons of the unions."""

    members: list[int]
    published_dois: set[str]
    sources: set[str]
    witnesses: dict[Hashable, ComparableRecord]
    """The first few members that differ in a field that could contradict."""
    reasons: dict[int, str] = field(default_factory=dict[int, str])
    unions: list[str] = field(default_factory=list[str])

    def absorb_cluster(self, other: "RecordCluster", reason: str) -> None:
        """Add the members and reasons of another cluster."""
        self.members += other.members
        self.published_dois |= other.published_dois
        self.sources |= other.sources
        for profile, record in other.witnesses.items():
            if len(self.witnesses) < _WITNESSES:
                self.witnesses.setdefault(profile, record)
        self.reasons |= other.reasons
        self.unions += [*other.unions, reason]


class Clustering:
    """A repeatable search for groups among merged records that compares no two records twice."""

    def __init__(self) -> None:
        self._rejected: set[tuple[ComparableRecord, ComparableRecord]] = set()

    def find_groups(self, records: Sequence[ComparableRecord]) -> list[RecordCluster]:
        """Return the groups of two or more. The records must be sorted by compact title, equal ones by content."""
        return _unite_records(records, sorted([*_find_identifier_edges(records), *self._find_title_edges(records)]))

    def _find_title_edges(self, records: Sequence[ComparableRecord]) -> Iterator[RecordLink]:
        starts = [
            index
            for index, record in enumerate(records)
            if record.title.compact and (index == 0 or record.title.compact != records[index - 1].title.compact)
        ]
        groups = [range(start, end) for start, end in pairwise([*starts, len(records)])]
        for group in groups:
            if len(group) > 1:
                yield from self._find_matches(records, _pair_within_group(records, group))
        for left, right in find_similar_titles([records[start].title for start in starts]):
            yield from self._find_matches(records, product(groups[left][:_WITNESSES], groups[right][:_WITNESSES]))

    def _find_matches(
        self, records: Sequence[ComparableRecord], pairs: Iterable[tuple[int, int]]
    ) -> Iterator[RecordLink]:
        """Yield edges for pairs of indexes; the first records share one title, the second records another."""
        differ: TitleDifference | None = None
        for one, other in pairs:
            left, right = records[one], records[other]
            if (left, right) in self._rejected or not is_comparable(left, right):
                continue
            if differ is None:
                differ = compare_titles(left.title, right.title)
            if found := match_records(left, right, differ):
                yield RecordLink(found.rank, min(one, other), max(one, other), found.reason, tentative=found.tentative)
            else:
                self._rejected.add((left, right))


def _find_identifier_edges(records: Sequence[ComparableRecord]) -> Iterator[RecordLink]:
    first: dict[str, int] = {}
    holders: dict[str, list[int]] = {}
    for index, record in enumerate(records):
        for identity in record.iterate_identities():
            if (earlier := first.setdefault(identity, index)) != index:
                holders.setdefault(identity, [earlier]).append(index)
    schemes = list(_SAME)
    for identity, indexes in holders.items():
        scheme = identity.partition(":")[0]
        for left, right in _pair_trusted_records(records, indexes):
            yield RecordLink(schemes.index(scheme) - len(schemes), left, right, _SAME[scheme], by_identifier=True)


def _pair_trusted_records(records: Sequence[ComparableRecord], indexes: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs that a shared identifier joins; some sources give the DOI of a volume to every paper in it."""
    by_title: dict[str, list[int]] = {}
    for index in indexes:
        by_title.setdefault(records[index].title.compact, []).append(index)
    alike = _has_similar_title if len(by_title) <= _FEW_TITLES else _has_nearly_equal_title
    families: list[list[int]] = []
    for group in by_title.values():
        one = records[group[0]]
        family = next((f for f in families[:_WITNESSES] if alike(records[f[0]], one)), None)
        if family:
            family += group
        else:
            families.append(group)
    for family in families:
        for group in _separate_pages(records, sorted(family)):
            yield from pairwise(group)
    if len(families) == 2:
        one, other = families[0][0], families[1][0]
        if compare_authors(records[one].names, records[other].names) is not Agreement.DIFFERENT:
            yield min(one, other), max(one, other)


def _separate_pages(records: Sequence[ComparableRecord], indexes: Iterable[int]) -> list[list[int]]:
    """Return the indexes in groups: abstracts of one supplement, on other pages, share the DOI of the supplement."""
    groups: list[list[int]] = []
    for index in indexes:
        own = records[index]
        group = next((g for g in groups if not any(has_other_page(records[i], own) for i in g[:_WITNESSES])), None)
        if group is None:
            groups.append([index])
        else:
            group.append(index)
    return groups


def _has_similar_title(left: ComparableRecord, right: ComparableRecord) -> bool:
    one, other = left.title.text, right.title.text
    if not one or not other:
        return True
    likeness = fuzz.token_set_ratio(one, other)
    if likeness >= _TITLES_CLOSE or likeness < _TITLES_ALIKE:
        return likeness >= _TITLES_CLOSE
    return compare_authors(left.names, right.names) is not Agreement.DIFFERENT


def _has_nearly_equal_title(left: ComparableRecord, right: ComparableRecord) -> bool:
    differ = compare_titles(left.title, right.title)
    return not differ.left or not differ.right


def _pair_within_group(records: Sequence[ComparableRecord], group: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a group to compare: all of a small group, else neighbours by first author and by year."""
    if len(group) <= _NEIGHBOURS:
        yield from combinations(group, 2)
        return
    for nearness in (_get_first_family_name, _get_year_text):
        ordered = sorted(group, key=lambda index: nearness(records[index]))
        for following, index in enumerate(ordered, 1):
            yield from ((index, other) for other in ordered[following : following + _NEIGHBOURS])


def _get_first_family_name(record: ComparableRecord) -> str:
    return record.names[0].family if record.names else ""


def _get_year_text(record: ComparableRecord) -> str:
    return str(record.year)


def _unite_records(records: Sequence[ComparableRecord], edges: Iterable[RecordLink]) -> list[RecordCluster]:
    homes: dict[int, RecordCluster] = {}
    for edge in edges:
        pair = [homes.get(index) or _make_single_cluster(records, index) for index in (edge.left, edge.right)]
        small, large = sorted(pair, key=lambda found: (len(found.members), -found.members[0]))
        if small is not large:
            if not _can_unite(large, small, edge):
                continue
            homes.update(dict.fromkeys((large.members[0], *small.members), large))
            large.absorb_cluster(small, edge.reason)
        large.reasons.setdefault(edge.left, edge.reason)
        large.reasons.setdefault(edge.right, edge.reason)
    return list(dict.fromkeys(homes.values()))


def _make_single_cluster(records: Sequence[ComparableRecord], index: int) -> RecordCluster:
    record = records[index]
    profile = (record.title.compact, record.names, record.year, record.paper.venue, record.first_page)
    published = {record.published_doi} if record.published_doi else set[str]()
    return RecordCluster([index], published, record.sources, {profile: record})


def _can_unite(one: RecordCluster, other: RecordCluster, edge: RecordLink) -> bool:
    if len(one.published_dois | other.published_dois) > 1:
        return False
    if edge.tentative and one.sources & other.sources:
        return False
    if edge.by_identifier or len(one.members) == len(other.members) == 1:
        return True
    return not any(
        has_conflict(left, right) for left, right in product(one.witnesses.values(), other.witnesses.values())
    )
