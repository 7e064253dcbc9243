"""Apply merges and splits of reviewers to the pool, also when later rounds find the records again."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, product
from typing import Final, get_args

from paper_search.domain.review_models import (
    DEFAULT_REVIEWER,
    DuplicateCorrection,
    Judge,
    RecordName,
    Sender,
    UserFeedback,
    find_judge,
)
from paper_search.models import RawPaper, ScoredPaper, SourceRecord
from paper_search.workflow.paper_pool import Pool, RoundAdditions
from paper_search.workflow.pooled_paper import (
    WANTED,
    FoundRecord,
    PaperPart,
    PooledPaper,
    RecordKey,
    combine_reviews,
)
from paper_search.workflow.skill_interfaces import RecordMerger

_FIRST: Final[str] = SourceRecord.model_fields["reason"].default
_COMPARED: Final = ("doi", "title", "venue", "year", "pages")
_SAME: Final = "same paper"
_SPLIT_SCORE: Final = "Score of the paper that it was split from."


@dataclass(frozen=True, slots=True)
class DuplicateCorrections:
    """The corrections of one pool. `merger` merges the fields of the records."""

    pool: Pool
    merger: RecordMerger

    def apply(self, feedback: UserFeedback, at: datetime | None, sender: Sender) -> None:
        """Apply the merges and splits of the feedback."""
        reviewer = feedback.reviewer or DEFAULT_REVIEWER
        for merge in feedback.merge:
            own = merge.reviewer or reviewer
            by_id = self.pool.index_by_current_and_former_id()
            members = [by_id[paper_id] for paper_id in merge.papers]
            correction = DuplicateCorrection(
                kind="merge",
                papers=[entry.id for entry in members],
                title=members[0].scored.paper.title,
                reviewer=own,
                at=at,
                by_agent=sender.is_program(own),
                actor=sender.get_actor(own),
            )
            self._merge(members, find_judge(by_agent=correction.by_agent, actor=correction.actor))
            self.pool.corrections.append(correction)
        for split in feedback.split:
            own = split.reviewer or reviewer
            entry = self.pool.index_by_current_and_former_id()[split.paper]
            correction = DuplicateCorrection(
                kind="split",
                papers=[entry.id],
                records=split.records,
                title=entry.scored.paper.title,
                reviewer=own,
                at=at,
                by_agent=sender.is_program(own),
                actor=sender.get_actor(own),
            )
            self._split(entry, split.records)
            self.pool.corrections.append(correction)

    def name_records(self, papers: Iterable[RawPaper], round_number: int) -> list[FoundRecord]:
        return [FoundRecord(paper=paper, names=self._list_names(paper), round=round_number) for paper in papers]

    def _list_names(self, paper: RawPaper) -> list[RecordKey]:
        named = [(name.source, name.record_id) for name in self.merger.name_records(paper)]
        return named if paper.records else [*named, (paper.source, f"id:{paper.id}")]

    def take_known_records(self, found: Sequence[FoundRecord]) -> list[FoundRecord]:
        """Add the records that the pool knows to their papers; return the other records.

        Known are the records of papers that reviewers merged or split, and records without a title that their source
        sent before: nothing else can show that these are one paper.
        """
        untitled = {record.key for record in found if not record.paper.title.strip()}
        if not (self.pool.corrections or untitled):
            return list(found)
        split = {key for pair in self.pool.apart for key in pair}
        owners: dict[RecordKey, PooledPaper] = {}
        repeated: list[tuple[FoundRecord, PooledPaper]] = []
        for entry in self.pool.entries:
            keys = {record.key for record in entry.records}
            if keys & split or _is_merged_by_reviewer(entry):
                owners |= dict.fromkeys(keys, entry)
            elif keys & untitled:
                repeated += [(record, entry) for record in entry.records if record.key in untitled]
        changed: dict[int, PooledPaper] = {}
        fresh: list[FoundRecord] = []
        for record in found:
            if entry := owners.get(record.key):
                part = next(part for part in entry.parts if any(one.key == record.key for one in part.records))
                part.records.append(record)
                changed[id(entry)] = entry
            elif entry := next((entry for one, entry in repeated if one.paper == record.paper), None):
                entry.parts[0].records.append(record)
            else:
                fresh.append(record)
        for entry in changed.values():
            entry.set_paper(self._combine([entry], entry.records, _SAME))
        if changed:
            self.assign_ids()
        return fresh

    def add_papers(
        self, papers: Sequence[RawPaper], members: Sequence[Sequence[int]], found: Sequence[FoundRecord]
    ) -> RoundAdditions:
        """Add merged papers as `Pool.add_papers` does, with the papers that reviewers have split apart again."""
        if not self.pool.apart:
            return self.pool.add_papers(papers, members, found)
        divided: list[tuple[RawPaper, list[int]]] = []
        for paper, positions in zip(papers, members, strict=True):
            known = [position for position in positions if position >= len(found)]
            groups = self._group_together(known, len(found))
            if len(groups) < 2:
                divided.append((paper, list(positions)))
                continue
            for position in positions:
                if position < len(found):
                    self._find_nearest(found[position], groups, len(found)).append(position)
            for group in groups:
                entries = [self.pool.entries[position - len(found)] for position in group if position >= len(found)]
                new = [found[position] for position in group if position < len(found)]
                records = [*(record for entry in entries for record in entry.records), *new]
                divided.append((self._combine(entries, records, _SAME), group))
        added = self.pool.add_papers([paper for paper, _ in divided], [group for _, group in divided], found)
        self.assign_ids()
        return added

    def _find_nearest(self, record: FoundRecord, groups: list[list[int]], offset: int) -> list[int]:
        """Return the group whose paper shares most with the record."""

        def count_shared(group: list[int]) -> int:
            paper = self.pool.entries[group[0] - offset].scored.paper
            same = len(paper.identifiers.items() & record.paper.identifiers.items())
            return same + sum(getattr(paper, name) == getattr(record.paper, name) for name in _COMPARED)

        return max(groups, key=count_shared)

    def _group_together(self, positions: Sequence[int], offset: int) -> list[list[int]]:
        """Return the positions of entries in groups in which no two were split."""
        groups: list[list[int]] = []
        for position in positions:
            keys = _list_keys(self.pool.entries[position - offset])
            group = next(
                (
                    group
                    for group in groups
                    if not any(self._is_apart(keys, _list_keys(self.pool.entries[one - offset])) for one in group)
                ),
                None,
            )
            if group is None:
                groups.append([position])
            else:
                group.append(position)
        return groups

    def _is_apart(self, here: Iterable[RecordKey], there: Iterable[RecordKey]) -> bool:
        return bool(self.pool.apart) and any(frozenset(pair) in self.pool.apart for pair in product(here, there))

    def _merge(self, members: list[PooledPaper], judge: Judge) -> None:
        one, *others = members
        for left, right in combinations(members, 2):
            self.pool.apart -= {frozenset(pair) for pair in product(_list_keys(left), _list_keys(right))}
        reason = f"merged by {'an' if judge == 'agent' else 'a'} {judge}"
        paper = self._combine(members, [record for entry in members for record in entry.records], reason)
        for entry in members:
            entry.keep_standing()
        for entry in others:
            entry.parts[0].joined_by = judge
        # Of decisions made at one time the one on the first paper counts.
        decisions = combine_reviews(d for entry in reversed(members) for d in entry.decisions)
        self.pool.unite_entries(one, members, paper)
        one.decisions = decisions
        self.assign_ids()

    def _split(self, entry: PooledPaper, leaving: Sequence[RecordName]) -> None:
        """Divide the records of the paper; the ids of the paper stand for the rest, or for its first record."""
        entry.keep_standing()
        groups = _divide_records(entry, {(name.source, name.record_id) for name in leaving})
        for left, right in combinations(groups, 2):
            self.pool.apart |= {frozenset((one.key, other.key)) for one, other in product(left, right)}
        pieces = [self._make_piece(entry, group) for group in groups]
        ids = [entry.id, *entry.other_ids]
        for piece in pieces[1:]:
            if len(entry.parts) > 1:
                own = {name for part in piece.parts if part.before for name in part.before.ids}
                piece.other_ids = [name for name in ids if name in own]
                ids = [name for name in ids if name not in own]
        pieces[0].other_ids = ids
        index = next(place for place, one in enumerate(self.pool.entries) if one is entry)
        self.pool.entries[index : index + 1] = pieces
        self.assign_ids(pieces)

    def _make_piece(self, entry: PooledPaper, group: Sequence[FoundRecord]) -> PooledPaper:
        """Return the paper of some records of an entry. A part that was a paper is again as it was."""
        chosen = {id(record) for record in group}
        parts: list[PaperPart] = []
        for part in entry.parts:
            if own := [record for record in part.records if id(record) in chosen]:
                before = part.before if own[0] is part.records[0] else None
                parts.append(part.model_copy(update={"records": own, "before": before}))
        parts[0] = parts[0].model_copy(update={"joined_by": None, "exclusion": None})
        before = parts[0].before
        decisions = combine_reviews(decision for record in group for decision in record.decisions)
        scored = before.scored if before else entry.scored
        reason = scored.relevance_reason if before else _SPLIT_SCORE
        return PooledPaper(
            scored=ScoredPaper(
                paper=self._combine([entry], group, _SAME),
                relevance_score=scored.relevance_score,
                relevance_reason=reason,
                tags=scored.tags,
            ),
            parts=parts,
            admitted=(before or entry).admitted or any(decision.status in WANTED for decision in decisions),
            over_limit=(before or entry).over_limit,
            decisions=decisions,
        )

    def _combine(self, entries: Iterable[PooledPaper], records: Iterable[FoundRecord], reason: str) -> RawPaper:
        """Return one paper for the records, with the reasons that the entries give and else with `reason`."""
        listed = [record for entry in entries for record in entry.scored.paper.records]
        known = {(one.source, one.record_id): one.reason for one in listed if one.reason != _FIRST}
        return self.merger.merge_as_one([record.paper for record in records], reason, known)

    def assign_ids(self, new: Sequence[PooledPaper] = ()) -> None:
        """Give every paper an id of its own; the former id still stands for the paper, except for `new` papers."""
        entries = self.pool.entries
        named = self.merger.assign_distinct_ids([entry.scored.paper for entry in entries])
        current = {paper.id for paper in named}
        for entry, paper in zip(entries, named, strict=True):
            if any(entry is one for one in new):
                entry.scored = entry.scored.model_copy(update={"paper": paper})
            elif entry.id != paper.id:
                entry.set_paper(paper)
            if entry.other_ids:
                entry.other_ids = [name for name in entry.other_ids if name not in current]


def _list_keys(entry: PooledPaper) -> set[RecordKey]:
    return {record.key for record in entry.records}


def _is_merged_by_reviewer(entry: PooledPaper) -> bool:
    return any(part.joined_by in get_args(Judge) for part in entry.parts)


def _divide_records(entry: PooledPaper, leaving: set[RecordKey]) -> list[list[FoundRecord]]:
    """Return the rest of the records and those that leave; without any, the records one by one."""
    keys = {record.key for record in entry.records if leaving.intersection(record.names)}
    groups: dict[object, list[FoundRecord]] = {}
    for record in entry.records:
        groups.setdefault(record.key in keys if leaving else record.key, []).append(record)
    # The ids of the paper stand for the first group.
    return [group for _, group in sorted(groups.items(), key=lambda item: item[0] is True)]
