"""Check the merges and splits of a decision against the papers of the review."""

from collections import Counter
from collections.abc import Sequence

from paper_search.errors import InvalidDecision, make_paper_id_hint
from paper_search.models import Paper, PaperCollection
from paper_search.review_models import PaperMerge, PaperSplit, RecordName
from uraniborg.kernel.logging import make_printable

_IDS_HINT = "Use the ids of the papers that the review lists."


def refuse_bad_corrections(
    collection: PaperCollection, merges: Sequence[PaperMerge], splits: Sequence[PaperSplit]
) -> None:
    """Raise InvalidDecision if a merge or split names an unknown paper or record, or contradicts another one."""
    listed = [*collection.papers, *collection.excluded_papers, *collection.removed_papers]
    papers = {name: paper for paper in listed for name in paper.other_ids} | {paper.id: paper for paper in listed}
    named: Counter[str] = Counter()
    for merge in merges:
        members = [_get_paper(papers, paper_id, "merge") for paper_id in merge.papers]
        if len(members) < 2:
            raise InvalidDecision(
                f"A merge needs at least 2 papers, got {len(members)}.",
                hint='Send lists of paper ids, such as {"merge": [["p_1…", "p_2…"]]}.',
            )
        named.update(paper.id for paper in members)
    _refuse_repeated(papers, named, "merge")
    for split in splits:
        paper = _get_paper(papers, split.paper, "split")
        if named[paper.id]:
            is_merged = any(papers[paper_id] is paper for merge in merges for paper_id in merge.papers)
            what = "is both merged and split" if is_merged else "is split twice"
            raise InvalidDecision(
                f"Paper {paper.id} {what} in one decision.",
                hint="Send one change for each paper; name all records that leave it in one split.",
                papers=[paper.id],
            )
        named[paper.id] += 1
        _refuse_bad_split(paper, split)


def _get_paper(papers: dict[str, Paper], paper_id: str, name: str) -> Paper:
    if paper_id not in papers:
        raise InvalidDecision(
            f"No such paper in this review: '{make_printable(paper_id[:80])}', in {name}.",
            hint=make_paper_id_hint(paper_id, _IDS_HINT),
            papers=[paper_id[:80]],
        )
    return papers[paper_id]


def _refuse_repeated(papers: dict[str, Paper], named: Counter[str], name: str) -> None:
    if repeated := [paper_id for paper_id, count in named.items() if count > 1]:
        others = papers[repeated[0]].other_ids
        also = f" Its former ids are the same paper: {', '.join(others[:5])}." if others else ""
        raise InvalidDecision(
            f"Paper {repeated[0]} is named twice in {name}.{also}",
            hint="Name each paper once, and all papers that are one paper in one list.",
            papers=repeated[:20],
        )


def _refuse_bad_split(paper: Paper, split: PaperSplit) -> None:
    own = [RecordName(source=record.source, record_id=record.record_id) for record in paper.records]
    if len(own) < 2:
        raise InvalidDecision(
            f"Paper {paper.id} has one record, so it cannot be split.",
            hint="Split papers whose `records` list two or more.",
            papers=[paper.id],
        )
    listed = ", ".join(f"{name.source} {make_printable(name.record_id[:80])}" for name in own[:10])
    if unknown := [name for name in split.records if name not in own]:
        raise InvalidDecision(
            f"Paper {paper.id} has no record {unknown[0].source} {make_printable(unknown[0].record_id[:80])}.",
            hint=f"Its records are: {listed}.",
            papers=[paper.id],
        )
    if len(set(split.records)) < len(split.records):
        raise InvalidDecision(f"The split of paper {paper.id} names a record twice.", hint="Name each record once.")
    if len(split.records) == len(own):
        raise InvalidDecision(
            f"The split of paper {paper.id} names all its records, so that no record is left.",
            hint="Name the records that leave, or send the paper's id alone to separate all of them.",
            papers=[paper.id],
        )
