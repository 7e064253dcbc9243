"""Turns records from many sources into papers, each once, whatever order the records came in."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from paper_search.dedup.clustering import Cluster, Clustering
from paper_search.dedup.merging import merge, source_records
from paper_search.dedup.records import Record
from paper_search.models import RawPaper, paper_id


@dataclass(frozen=True, slots=True)
class Deduplication:
    """The papers, how many records were merged away for each reason, and what each paper was made of."""

    papers: list[RawPaper]
    merged: dict[str, int] = field(default_factory=dict[str, int])
    members: list[list[int]] = field(default_factory=list[list[int]])
    """For each of the papers, the positions of its records in the input."""


def merge_duplicates(papers: Sequence[RawPaper]) -> list[RawPaper]:
    """Every paper once, in the order of first appearance. See `deduplicate`."""
    return deduplicate(papers).papers


def deduplicate(papers: Sequence[RawPaper]) -> Deduplication:
    """Every paper once, with the reasons for what was merged.

    The papers given are not changed. Any order of them gives the same set, and deduplicating the result changes
    nothing. Each paper's id follows from its identifiers, else its title, and no two papers share one.
    """
    records = _in_order(Record(paper, position) for position, paper in enumerate(papers))
    clustering = Clustering()
    reasons: Counter[str] = Counter()
    # A merged paper tells more than its records did, so that it may be recognised where they were not.
    while clusters := clustering.groups(records):
        reasons.update(reason for found in clusters for reason in found.unions)
        merged = {place for found in clusters for place in found.members}
        alone = [record for place, record in enumerate(records) if place not in merged]
        records = _in_order([*alone, *(_united(records, found) for found in clusters)])
    renamed = [(record.positions, paper) for record, paper in zip(records, _identified(records), strict=True)]
    renamed.sort(key=lambda pair: pair[0])
    return Deduplication(
        papers=[paper for _, paper in renamed],
        merged=dict(sorted(reasons.items())),
        members=[positions for positions, _ in renamed],
    )


def _united(records: Sequence[Record], found: Cluster) -> Record:
    places = sorted(found.members)
    paper = merge([(records[place], found.reasons[place]) for place in places])
    return Record(paper, *(position for place in places for position in records[place].positions))


def _in_order(records: Iterable[Record]) -> list[Record]:
    """Sorts by content, so that nothing downstream can depend on the order of the input."""
    return _sorted_by((_compact_title, _facts, _content), records)


def _sorted_by(keys: Sequence[Callable[[Record], Any]], records: Iterable[Record]) -> list[Record]:
    """Sorts by the first key, and only what is equal in that by the next, for the later ones are costly."""
    ordered: list[Record] = []
    for _, run in groupby(sorted(records, key=keys[0]), key=keys[0]):
        equal = list(run)
        ordered += _sorted_by(keys[1:], equal) if len(equal) > 1 and len(keys) > 1 else equal
    return ordered


def _compact_title(record: Record) -> str:
    return record.title.compact


def _facts(record: Record) -> tuple[str, int, str]:
    return record.paper.source, record.paper.year or 0, record.paper.doi or ""


def _content(record: Record) -> tuple[str, str, str]:
    return record.content, record.paper.id, repr(record.paper.records)


def _identified(records: Sequence[Record]) -> list[RawPaper]:
    """The papers, each with its own id and at least one source record."""
    ids = [_id_of(record) for record in records]
    holders = Counter(ids)
    collisions: dict[str, list[int]] = {}
    for place, own in enumerate(ids):
        if holders[own] > 1:
            collisions.setdefault(own, []).append(place)
    for shared, places in collisions.items():
        for place, own in zip(places, _told_apart(shared, [records[place] for place in places]), strict=True):
            ids[place] = own
    return [_with_identity(record, own) for record, own in zip(records, ids, strict=True)]


def _id_of(record: Record) -> str:
    paper = record.paper
    return paper_id(record.identifiers, paper.doi, paper.title, paper.authors, paper.year)


def _told_apart(shared: str, records: Sequence[Record]) -> list[str]:
    """Ids for papers that an identifier or a missing title would give the same one."""
    contents = [record.content for record in records]
    # Sorted, so that papers alike in everything keep their ids when they are deduplicated again.
    ids = {
        content: sorted(paper_id({}, None, f"{shared} {number} {content}", [], None) for number in range(copies))
        for content, copies in Counter(contents).items()
    }
    return [ids[content].pop(0) for content in contents]


def _with_identity(record: Record, own: str) -> RawPaper:
    paper = record.paper
    if paper.id == own and paper.records:
        return paper
    return paper.model_copy(update={"id": own, "records": source_records(record, f"id:{own}")})
