"""The pool of papers of a search: a paper stays in it, and decisions and scores change whether it is in the result."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from pydantic import BaseModel, Field

from paper_search.models import Paper, RawPaper, ScoredPaper
from paper_search.review_models import (
    AGENT,
    BY_AUTOMATION,
    BY_REVIEWER,
    Exclusion,
    ExclusionReason,
    PaperDecision,
    ReviewDecision,
    ReviewStatus,
    combine_decisions,
    select_counting_decisions,
)

_WANTED = (ReviewStatus.INCLUDE, ReviewStatus.MAYBE)
_EARLIEST = datetime.min.replace(tzinfo=UTC)


class PooledPaper(BaseModel):
    """One paper with its score, its decisions and its former ids."""

    scored: ScoredPaper
    found_in_round: int
    admitted: bool = False
    """In the result unless a reviewer excludes it. An admitted paper stays admitted until `min_relevance` is raised."""
    over_limit: bool = False
    """Relevant enough, but beyond the number of papers that a round may add."""
    decisions: list[ReviewDecision] = Field(default_factory=list[ReviewDecision])
    other_ids: list[str] = Field(default_factory=list)

    @property
    def id(self) -> str:
        """The id of the paper."""
        return self.scored.paper.id

    @property
    def paper(self) -> Paper:
        """The paper as results list it."""
        own = {"found_in_round": self.found_in_round, "decisions": self.decisions, "other_ids": self.other_ids}
        return Paper.from_scored(self.scored).model_copy(update=own)

    @property
    def status(self) -> ReviewStatus:
        """The combined status of all decisions."""
        return combine_decisions(self.decisions)

    @property
    def exclusion_reason(self) -> ExclusionReason | None:
        """The reason why the paper is not in the result, or None if it is."""
        if self.status is ReviewStatus.EXCLUDE:
            by_agent = all(decision.by_agent for decision in self.decisions)
            return ExclusionReason.BY_AGENT if by_agent else ExclusionReason.BY_PERSON
        if self.admitted:
            return None
        return ExclusionReason.OVER_LIMIT if self.over_limit else ExclusionReason.BELOW_THRESHOLD

    def add_decision(self, decision: ReviewDecision) -> None:
        """Store the decision in place of the reviewer's earlier one."""
        self.decisions = [*(other for other in self.decisions if not other.is_by_same_reviewer(decision)), decision]
        if decision.status in _WANTED:
            self.admitted = True


class RoundAdditions(NamedTuple):
    """The numbers of new papers and of duplicates among the records of one round."""

    screened: int
    duplicates_within_round: int
    duplicates_of_earlier_rounds: int


class Pool(BaseModel):
    """All papers of a search."""

    entries: list[PooledPaper] = Field(default_factory=list[PooledPaper])
    merged: list[Exclusion] = Field(default_factory=list[Exclusion])
    """Entries that were merged into other entries."""
    threshold: float | None = None
    """The `min_relevance` of the last round that admitted papers."""

    def select_by_status(self, status: ReviewStatus) -> list[Paper]:
        """Return the papers with this status."""
        return [entry.paper for entry in self.entries if entry.status is status]

    @property
    def scores(self) -> list[ScoredPaper]:
        """The scores of the papers that no reviewer has excluded."""
        return [entry.scored for entry in self.entries if entry.status is not ReviewStatus.EXCLUDE]

    @property
    def included(self) -> list[PooledPaper]:
        """The entries that are in the present result."""
        return [entry for entry in self.entries if entry.exclusion_reason is None]

    @property
    def result(self) -> list[Paper]:
        """The papers of the present result, the most relevant first."""
        return [entry.paper for entry in sorted(self.included, key=lambda entry: entry.scored.sort_key)]

    @property
    def excluded_by_reviewers(self) -> list[Paper]:
        """The papers that people and agents have excluded, the most relevant first."""
        return self._select_by_reason(BY_REVIEWER)

    @property
    def removed_by_automation(self) -> list[Paper]:
        """The papers below `min_relevance` or over `max_results`, the most relevant first."""
        return self._select_by_reason(BY_AUTOMATION)

    def _select_by_reason(self, reasons: Collection[ExclusionReason]) -> list[Paper]:
        selected = [entry for entry in self.entries if entry.exclusion_reason in reasons]
        return [entry.paper for entry in sorted(selected, key=lambda entry: entry.scored.sort_key)]

    def list_exclusions(self, threshold: float | None) -> list[Exclusion]:
        """Return every paper that is not in the result, with the reason."""
        by_id = self._index_by_current_and_former_id()
        own = [
            _build_exclusion(entry, reason, threshold) for entry in self.entries if (reason := entry.exclusion_reason)
        ]
        return own + [
            exclusion.model_copy(update={"detail": by_id[exclusion.paper_id].id}) for exclusion in self.merged
        ]

    def add_papers(
        self, papers: Sequence[RawPaper], members: Sequence[Sequence[int]], record_count: int, round_number: int
    ) -> RoundAdditions:
        """Add merged papers to the pool, and return how many are new.

        `members` are the records of each paper: positions below `record_count` are records of the round, the others
        entries of the pool in their order. A paper without records is skipped; entries that are in no paper stay as
        they are.
        """
        earlier = list(self.entries)
        fresh: list[PooledPaper] = []
        repeated = 0
        for paper, positions in zip(papers, members, strict=True):
            if known := [earlier[position - record_count] for position in positions if position >= record_count]:
                repeated += len(positions) - len(known)
                self._merge_entries(paper, known)
            elif positions:
                scored = ScoredPaper(paper=paper, relevance_score=0.0, relevance_reason="")
                fresh.append(PooledPaper(scored=scored, found_in_round=round_number))
        self.entries += fresh
        return RoundAdditions(len(fresh), max(0, record_count - len(fresh) - repeated), repeated)

    def update_scores(self, scores: Iterable[ScoredPaper]) -> None:
        """Store new scores. A lower score never removes a paper that was admitted."""
        by_id = {entry.id: entry for entry in self.entries}
        for scored in scores:
            if entry := by_id.get(scored.paper.id):
                entry.scored = scored

    def reopen(self) -> None:
        """Let all papers that nobody has decided compete for the result again."""
        for entry in self.entries:
            entry.admitted = entry.admitted and bool(entry.decisions)

    def admit_papers(self, papers: Iterable[Paper], limit: int, threshold: float | None) -> None:
        """Admit papers to the result; papers left out although they are as relevant are marked as over the limit.

        A threshold that was raised removes papers that earlier rounds admitted, unless a reviewer wants them.
        """
        bar = threshold or 0.0
        if bar > (self.threshold or 0.0):
            self._remove_papers_below(bar)
        self.threshold = threshold
        ids = {paper.id for paper in papers}
        added = [entry for entry in self.entries if entry.id in ids and not entry.admitted]
        for entry in added:
            entry.admitted = True
        for entry in self.entries:
            if entry.status is not ReviewStatus.EXCLUDE:  # excluded papers were not candidates
                entry.over_limit = len(added) >= limit and entry.scored.relevance_score >= bar

    def _remove_papers_below(self, bar: float) -> None:
        for entry in self.entries:
            if entry.scored.relevance_score < bar and entry.status not in _WANTED:
                entry.admitted = False

    def add_decisions(
        self, decisions: Mapping[str, PaperDecision], reviewer: str, at: datetime | None, *, by_agent: bool = False
    ) -> None:
        """Store a reviewer's decisions; a former id of a paper stands for the paper."""
        by_id = self._index_by_current_and_former_id()
        # Earlier versions stored the interface of an agent as the name of the reviewer only.
        is_agent = by_agent or reviewer == AGENT
        for paper_id, given in decisions.items():
            if entry := by_id.get(paper_id):
                entry.add_decision(
                    ReviewDecision(
                        status=given.status, reason=given.reason, reviewer=reviewer, at=at, by_agent=is_agent
                    )
                )

    def _index_by_current_and_former_id(self) -> dict[str, PooledPaper]:
        former = {other: entry for entry in self.entries for other in entry.other_ids}
        return former | {entry.id: entry for entry in self.entries}

    def _merge_entries(self, paper: RawPaper, members: list[PooledPaper]) -> None:
        """Replace the members, which a record showed to be one paper, by one entry for the merged paper."""
        one = next((entry for entry in members if entry.id == paper.id), members[0])
        removed = [entry for entry in members if entry is not one]
        first, *later = sorted(entry.found_in_round for entry in members)
        # The paper counts for the round that found it first, so each removed entry counts for a later round.
        for entry, found_in_round in zip(removed, later, strict=True):
            exclusion = _build_exclusion(entry, ExclusionReason.MERGED, None)
            self.merged.append(exclusion.model_copy(update={"round": found_in_round}))
        best = max(members, key=lambda entry: entry.scored.relevance_score)
        former = dict.fromkeys(name for entry in members for name in (*entry.other_ids, entry.id))
        decisions = sorted((d for entry in members for d in entry.decisions), key=lambda d: d.at or _EARLIEST)
        one.other_ids = [name for name in former if name != paper.id]
        one.scored = best.scored.model_copy(update={"paper": paper})
        one.found_in_round = first
        one.admitted = any(entry.admitted for entry in members)
        one.decisions = []
        for decision in decisions:
            one.add_decision(decision)
        if removed:
            self.entries = [entry for entry in self.entries if not any(entry is other for other in removed)]


def find_record_positions(records: Sequence[RawPaper], papers: Sequence[RawPaper]) -> list[list[int]]:
    """Return the positions of the records of each paper, for deduplicators that do not report them."""
    owners: dict[tuple[str, str], int] = {}
    for index, paper in enumerate(papers):
        for key in _iterate_match_keys(paper):
            owners.setdefault(key, index)
    members: list[list[int]] = [[] for _ in papers]
    for position, record in enumerate(records):
        if (index := next((owners[key] for key in _iterate_match_keys(record) if key in owners), None)) is not None:
            members[index].append(position)
    return members


def _iterate_match_keys(paper: RawPaper) -> Iterator[tuple[str, str]]:
    yield "id", paper.id
    yield from ((f"record of {record.source}", record.record_id) for record in paper.records)
    yield from paper.identifiers.items()


def _build_exclusion(entry: PooledPaper, reason: ExclusionReason, threshold: float | None) -> Exclusion:
    paper = entry.scored.paper
    counting = select_counting_decisions(entry.decisions)
    refusals = [decision for decision in counting if decision.status is ReviewStatus.EXCLUDE]
    refusal = refusals[-1] if refusals and reason in BY_REVIEWER else None
    return Exclusion(
        paper_id=entry.id,
        other_ids=entry.other_ids,
        title=paper.title,
        doi=paper.doi,
        round=entry.found_in_round,
        reason=reason,
        score=entry.scored.relevance_score,
        threshold=threshold if reason is ExclusionReason.BELOW_THRESHOLD else None,
        reviewer=refusal and refusal.reviewer,
        at=refusal and refusal.at,
        detail=refusal and refusal.reason,
    )
