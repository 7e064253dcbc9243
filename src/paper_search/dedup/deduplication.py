"""Turns records from many sources into papers, each once, whatever order the records came in."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paper_search.dedup.clustering import Cluster, cluster
from paper_search.dedup.merging import merge, own_record
from paper_search.dedup.records import Record
from paper_search.models import RawPaper, paper_id


@dataclass(frozen=True, slots=True)
class Deduplication:
    """The papers, and how many records were merged away for each reason."""

    papers: list[RawPaper]
    merged: dict[str, int] = field(default_factory=dict[str, int])


def merge_duplicates(papers: Sequence[RawPaper]) -> list[RawPaper]:
    """Every paper once, in the order of first appearance. See `deduplicate`."""
    return deduplicate(papers).papers


def deduplicate(papers: Sequence[RawPaper]) -> Deduplication:
    """Every paper once, with the reasons for what was merged.

    The papers given are not changed. Any order of them gives the same set, and deduplicating the result changes
    nothing. Each paper's id follows from its identifiers, else its title, and no two papers share one.
    """
    records = _in_order(Record(paper, position) for position, paper in enumerate(papers))
    reasons: Counter[str] = Counter()
    # A merged paper tells more than its records did, so that it may be recognised where they were not.
    while clusters := cluster(records):
        reasons.update(reason for found in clusters for reason in found.unions)
        merged = {place for found in clusters for place in found.members}
        alone = [record for place, record in enumerate(records) if place not in merged]
        records = _in_order([*alone, *(_united(records, found) for found in clusters)])
    renamed = [(record.position, paper) for record, paper in zip(records, _identified(records), strict=True)]
    ordered = [paper for _, paper in sorted(renamed, key=lambda pair: pair[0])]
    return Deduplication(ordered, dict(sorted(reasons.items())))


def _united(records: Sequence[Record], found: Cluster) -> Record:
    places = sorted(found.members)
    paper = merge([(records[place], found.reasons[place]) for place in places])
    return Record(paper, min(records[place].position for place in places))


def _in_order(records: Iterable[Record]) -> list[Record]:
    """Sorts by content, so that nothing downstream can depend on the order of the input."""
    alike: defaultdict[tuple[str, str, int, str], list[Record]] = defaultdict(list)
    for record in records:
        paper = record.paper
        alike[record.title.compact, paper.source, paper.year or 0, paper.doi or ""].append(record)
    ordered: list[Record] = []
    for key in sorted(alike):
        group = alike[key]
        ordered += sorted(group, key=lambda record: _content(record.paper)) if len(group) > 1 else group
    return ordered


def _content(paper: RawPaper) -> tuple[str, str, str]:
    bare = paper.model_copy(update={"id": "", "records": []})
    return repr(bare), paper.id, repr(paper.records)


def _identified(records: Sequence[Record]) -> list[RawPaper]:
    """The papers, each with its own id and at least one source record."""
    papers = [record.paper for record in records]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, paper in enumerate(papers):
        holders[paper_id(paper.identifiers, paper.doi, paper.title, paper.authors, paper.year)].append(place)
    for known, places in holders.items():
        ids = [known] if len(places) == 1 else _told_apart(known, [papers[place] for place in places])
        for place, own in zip(places, ids, strict=True):
            papers[place] = _with_identity(papers[place], own)
    return papers


def _told_apart(known: str, papers: Sequence[RawPaper]) -> list[str]:
    """Ids for papers that an identifier or a missing title would give the same one."""
    contents = [_content(paper)[0] for paper in papers]
    # Sorted, so that papers alike in everything keep their ids when they are deduplicated again.
    ids = {
        content: sorted(paper_id({}, None, f"{known} {number} {content}", [], None) for number in range(copies))
        for content, copies in Counter(contents).items()
    }
    return [ids[content].pop(0) for content in contents]


def _with_identity(paper: RawPaper, own: str) -> RawPaper:
    if paper.id == own and paper.records:
        return paper
    named = paper if paper.id == own else paper.model_copy(update={"id": own})
    return named if named.records else named.model_copy(update={"records": [own_record(named)]})
