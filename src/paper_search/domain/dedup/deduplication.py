"""Merge records of many sources so that each paper is there once, whatever the order of the records."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from paper_search.domain.dedup.clustering import Clustering, RecordCluster
from paper_search.domain.dedup.record_merging import list_source_records, merge_records, name_records
from paper_search.domain.dedup.records import ComparableRecord
from paper_search.models import RawPaper, make_paper_id


@dataclass(frozen=True, slots=True)
class Deduplication:
    """The papers, the number of merged records by reason, and the records of each paper."""

    papers: list[RawPaper]
    merged: dict[str, int] = field(default_factory=dict[str, int])
    members: list[list[int]] = field(default_factory=list[list[int]])
    """For each of the papers, the positions of its records in the input."""


def merge_duplicates(papers: Sequence[RawPaper]) -> list[RawPaper]:
    """Return every paper once, in the order of first appearance. See `deduplicate`."""
    return deduplicate(papers).papers


def deduplicate(papers: Sequence[RawPaper]) -> Deduplication:
    """Return every paper once, with the reasons for the merges.

    The given papers are not changed. Any order of them gives the same set, and deduplicating the result changes
    nothing. The id of a paper follows from its identifiers, else its title, and no two papers share an id.
    """
    records = _sort_records(ComparableRecord(paper, position) for position, paper in enumerate(papers))
    clustering = Clustering()
    reasons: Counter[str] = Counter()
    # A merged paper holds more than its records, so it may match records that they did not match.
    while clusters := clustering.find_groups(records):
        reasons.update(reason for found in clusters for reason in found.unions)
        merged = {index for found in clusters for index in found.members}
        alone = [record for index, record in enumerate(records) if index not in merged]
        records = _sort_records([*alone, *(_merge_cluster(records, found) for found in clusters)])
    renamed = [(record.positions, paper) for record, paper in zip(records, _assign_ids(records), strict=True)]
    renamed.sort(key=lambda pair: pair[0])
    return Deduplication(
        papers=[paper for _, paper in renamed],
        merged=dict(sorted(reasons.items())),
        members=[positions for positions, _ in renamed],
    )


def merge_as_one(papers: Sequence[RawPaper], reason: str, known: Mapping[tuple[str, str], str]) -> RawPaper:
    """Return one paper for records that are known to be one paper.

    `known` holds reasons by source and record id; records without one get `reason`.
    """
    records = _sort_records(ComparableRecord(paper, position) for position, paper in enumerate(papers))
    if len(records) == 1:
        return _assign_ids(records)[0]
    names = [(paper.source, paper.record_id) for record in records for paper in name_records(record.paper)[:1]]
    merged = merge_records([(record, known.get(name, reason)) for record, name in zip(records, names, strict=True)])
    return _assign_ids([ComparableRecord(merged)])[0]


def assign_distinct_ids(papers: Sequence[RawPaper]) -> list[RawPaper]:
    """Return the papers with the ids that `deduplicate` would give them if they were all papers."""
    return _assign_ids([ComparableRecord(paper) for paper in papers])


def _merge_cluster(records: Sequence[ComparableRecord], found: RecordCluster) -> ComparableRecord:
    indexes = sorted(found.members)
    paper = merge_records([(records[index], found.reasons[index]) for index in indexes])
    return ComparableRecord(paper, *(position for index in indexes for position in records[index].positions))


def _sort_records(records: Iterable[ComparableRecord]) -> list[ComparableRecord]:
    """Return the records sorted by content, so that no later step depends on the order of the input."""
    return _sort_by_keys((_get_compact_title, _get_source_year_doi, _get_content_key), records)


def _sort_by_keys(
    keys: Sequence[Callable[[ComparableRecord], Any]], records: Iterable[ComparableRecord]
) -> list[ComparableRecord]:
    """Return the records sorted by the first key, equal ones by the next, since later keys are costly."""
    ordered: list[ComparableRecord] = []
    for _, run in groupby(sorted(records, key=keys[0]), key=keys[0]):
        equal = list(run)
        ordered += _sort_by_keys(keys[1:], equal) if len(equal) > 1 and len(keys) > 1 else equal
    return ordered


def _get_compact_title(record: ComparableRecord) -> str:
    return record.title.compact


def _get_source_year_doi(record: ComparableRecord) -> tuple[str, int, str]:
    return record.paper.source, record.paper.year or 0, record.paper.doi or ""


def _get_content_key(record: ComparableRecord) -> tuple[str, str, str]:
    return record.content, record.paper.id, repr(record.paper.records)


def _assign_ids(records: Sequence[ComparableRecord]) -> list[RawPaper]:
    """Return the papers, each with a unique id and at least one source record."""
    ids = [_compute_id(record) for record in records]
    holders = Counter(ids)
    collisions: dict[str, list[int]] = {}
    for index, own in enumerate(ids):
        if holders[own] > 1:
            collisions.setdefault(own, []).append(index)
    for shared, indexes in collisions.items():
        for index, own in zip(indexes, _make_distinct_ids(shared, [records[index] for index in indexes]), strict=True):
            ids[index] = own
    return [_copy_with_id(record, own) for record, own in zip(records, ids, strict=True)]


def _compute_id(record: ComparableRecord) -> str:
    paper = record.paper
    return make_paper_id(record.identifiers, paper.doi, paper.title, paper.authors, paper.year)


def _make_distinct_ids(shared: str, records: Sequence[ComparableRecord]) -> list[str]:
    """Return distinct ids for papers that would share one by identifier or for lack of a title."""
    contents = [record.content for record in records]
    # Sorted, so that identical papers keep their ids when they are deduplicated again.
    ids = {
        content: sorted(make_paper_id({}, None, f"{shared} {number} {content}", [], None) for number in range(copies))
        for content, copies in Counter(contents).items()
    }
    return [ids[content].pop(0) for content in contents]


def _copy_with_id(record: ComparableRecord, own: str) -> RawPaper:
    paper = record.paper
    if paper.id == own and paper.records:
        return paper
    return paper.model_copy(update={"id": own, "records": list_source_records(record, f"id:{own}")})
