"""Groups records into papers: strongest reasons first, and no chain of likenesses overrules a contradiction."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from rapidfuzz import fuzz

from paper_search.dedup.blocking import similar_titles
from paper_search.dedup.matching import Match, contradict, match
from paper_search.dedup.names import Agreement, agreement
from paper_search.dedup.records import Record
from paper_search.dedup.titles import difference
from paper_search.identifiers import SCHEMES

_SAME = {
    "doi": "same DOI",
    "arxiv": "same arXiv id",
    "pmid": "same PubMed id",
    "pmcid": "same PubMed Central id",
    "openalex": "same OpenAlex id",
    "s2": "same Semantic Scholar id",
    "dblp": "same DBLP key",
    "scholar": "same Google Scholar id",
}
_SAME_RECORD = "same record of the same source"
_TITLES_ALIKE = 60.0
_NEIGHBOURS = 24
_WITNESSES = 8


@dataclass(frozen=True, slots=True)
class Edge:
    rank: int
    left: int
    right: int
    reason: str
    certain: bool


@dataclass(slots=True)
class Cluster:
    """Records taken to be one paper, with the reason why each was."""

    members: list[int]
    published: set[str]
    reasons: dict[int, str] = field(default_factory=dict)


def cluster(records: Sequence[Record]) -> list[Cluster]:
    """The records grouped into papers, members by position. The order of the records must follow from their content."""
    by_title: defaultdict[str, list[int]] = defaultdict(list)
    for position, record in enumerate(records):
        if record.title.compact:
            by_title[record.title.compact].append(position)
    edges = [*_by_identifier(records), *_by_title(records, list(by_title.values()))]
    edges.sort(key=lambda edge: (edge.rank, edge.left, edge.right))
    return _unite(records, edges)


def _by_identifier(records: Sequence[Record]) -> Iterator[Edge]:
    holders: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for position, record in enumerate(records):
        for key in record.keys:
            holders[key].append(position)
    for (scheme, _), positions in holders.items():
        if len(positions) > 1:
            rank = SCHEMES.index(scheme) if scheme in _SAME else len(SCHEMES)
            reason = _SAME.get(scheme, _SAME_RECORD)
            for left, right in _trusted(records, sorted(set(positions))):
                yield Edge(rank - len(SCHEMES) - 1, left, right, reason, certain=True)


def _trusted(records: Sequence[Record], positions: list[int]) -> Iterator[tuple[int, int]]:
    """The pairs that one identifier really joins: some sources put the DOI of a whole volume on each paper in it."""
    families: list[list[int]] = []
    for position in positions:
        home = next((family for family in families if _titles_alike(records[family[0]], records[position])), None)
        if home is None:
            families.append([position])
        else:
            home.append(position)
    for family in families:
        yield from zip(family, family[1:], strict=False)
    if len(families) == 2:
        left, right = families[0][0], families[1][0]
        if agreement(records[left].names, records[right].names) is not Agreement.DIFFERENT:
            yield left, right


def _titles_alike(left: Record, right: Record) -> bool:
    one, other = left.title, right.title
    if not one.compact or not other.compact or one.compact == other.compact:
        return True
    return fuzz.token_set_ratio(one.text, other.text, score_cutoff=_TITLES_ALIKE) > 0


def _by_title(records: Sequence[Record], groups: list[list[int]]) -> Iterator[Edge]:
    titles = [records[group[0]].title for group in groups]
    for group in groups:
        if len(group) > 1:
            nothing = difference(records[group[0]].title, records[group[0]].title)
            yield from _matches(records, _within(records, group), nothing)
    for left, right in similar_titles(titles):
        pairs = product(groups[left][:_WITNESSES], groups[right][:_WITNESSES])
        yield from _matches(records, pairs, difference(titles[left], titles[right]))


def _within(records: Sequence[Record], group: list[int]) -> Iterator[tuple[int, int]]:
    if len(group) <= _NEIGHBOURS:
        yield from combinations(group, 2)
        return
    ordered = sorted(group, key=lambda i: (records[i].names[:1] and records[i].names[0].family or "", records[i].year or 0))
    for place, position in enumerate(ordered):
        yield from ((position, other) for other in ordered[place + 1 : place + 1 + _NEIGHBOURS])


def _matches(records, pairs, differ):
    for one, other in pairs:
        left, right = min(one, other), max(one, other)
        if found := match(records[left], records[right], differ):
            yield Edge(found.rank, left, right, found.reason, certain=False)


def _unite(records: Sequence[Record], edges: Iterable[Edge]) -> list[Cluster]:
    clusters = [Cluster([i], {r.published_doi} if r.published_doi else set()) for i, r in enumerate(records)]
    home = list(range(len(records)))
    for edge in edges:
        one, other = home[edge.left], home[edge.right]
        if one != other:
            if not _may_join(records, clusters[one], clusters[other], edge):
                continue
            small, large = sorted((one, other), key=lambda c: (len(clusters[c].members), -c))
            for member in clusters[small].members:
                home[member] = large
            clusters[large].members += clusters[small].members
            clusters[large].published |= clusters[small].published
            clusters[large].reasons |= clusters[small].reasons
            clusters[small].members = []
        reasons = clusters[home[edge.left]].reasons
        reasons.setdefault(edge.left, edge.reason)
        reasons.setdefault(edge.right, edge.reason)
    return [found for found in clusters if found.members]


def _may_join(records, one: Cluster, other: Cluster, edge: Edge) -> bool:
    if len(one.published | other.published) > 1:
        return False
    if edge.certain or len(one.members) == len(other.members) == 1:
        return True
    return not any(
        contradict(records[left], records[right])
        for left, right in product(_witnesses(records, one), _witnesses(records, other))
    )


def _witnesses(records, found: Cluster) -> list[int]:
    distinct = {}
    for m in found.members:
        distinct.setdefault((records[m].title.compact, records[m].names, records[m].year, records[m].identifiers.get('arxiv')), m)
    return list(distinct.values())[:_WITNESSES]
