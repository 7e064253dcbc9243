"""Hold all papers of a search: each stays, and decisions and scores change whether it is in the result."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from pydantic import BaseModel, Field

from paper_search.domain.review_models import (
    AGENT,
    BY_AUTOMATION,
    BY_REVIEWER,
    DuplicateCorrection,
    Exclusion,
    ExclusionReason,
    PaperDecision,
    ReviewDecision,
    ReviewStatus,
    Sender,
    select_counting_decisions,
)
from paper_search.models import Paper, RawPaper, ScoredPaper
from paper_search.workflow.pooled_paper import (
    WANTED,
    FoundRecord,
    PaperPart,
    PooledPaper,
    RecordKey,
    combine_reviews,
)


class RoundAdditions(NamedTuple):
    """The numbers of new papers and of duplicates among the records of one round."""

    screened: int
    duplicates_within_round: int
    duplicates_of_earlier_rounds: int

    def add_known_records(self, count: int) -> "RoundAdditions":
        """Return the numbers with more records of papers that the pool has."""
        return self._replace(duplicates_of_earlier_rounds=self.duplicates_of_earlier_rounds + count)


class Pool(BaseModel):
    """All papers of a search."""

    entries: list[PooledPaper] = Field(default_factory=list[PooledPaper])
    corrections: list[DuplicateCorrection] = Field(default_factory=list[DuplicateCorrection])
    """The merges and splits of reviewers."""
    apart: set[frozenset[RecordKey]] = Field(default_factory=set[frozenset[RecordKey]])
    """Pairs of records that reviewers have split."""
    threshold: float | None = None
    """The `min_relevance` of the last round that admitted papers."""

    def select_by_status(self, status: ReviewStatus) -> list[Paper]:
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
        own = [
            _build_exclusion(entry, reason, threshold) for entry in self.entries if (reason := entry.exclusion_reason)
        ]
        return own + [
            part.exclusion.model_copy(update={"detail": entry.id, "round": counted_in})
            for entry in self.entries
            if len(entry.parts) > 1
            for part, counted_in in entry.joined_parts
            if part.exclusion
        ]

    def add_papers(
        self,
        papers: Sequence[RawPaper],
        members: Sequence[Sequence[int]],
        found: Sequence[FoundRecord],
    ) -> RoundAdditions:
        """Add merged papers to the pool, and return how many are new.

        `members` are the records of each paper: positions in `found`, or behind them in the entries of the pool. A
        paper without records is skipped; entries that are in no paper stay as they are.
        """
        earlier = list(self.entries)
        fresh: list[PooledPaper] = []
        repeated = 0
        for paper, positions in zip(papers, members, strict=True):
            new = [found[position] for position in positions if position < len(found)]
            if known := [earlier[position - len(found)] for position in positions if position >= len(found)]:
                repeated += len(new)
                self._merge_entries(paper, known, new)
            elif new:
                scored = ScoredPaper(paper=paper, relevance_score=0.0, relevance_reason="")
                fresh.append(PooledPaper(scored=scored, parts=[PaperPart(records=new)]))
        self.entries += fresh
        return RoundAdditions(len(fresh), max(0, len(found) - len(fresh) - repeated), repeated)

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
            if entry.scored.relevance_score < bar and entry.status not in WANTED:
                entry.admitted = False

    def add_decisions(
        self, decisions: Mapping[str, PaperDecision], reviewer: str, at: datetime | None, sender: Sender | None = None
    ) -> None:
        """Store a reviewer's decisions; a former id of a paper stands for the paper."""
        by_id = self.index_by_current_and_former_id()
        # Earlier versions stored the interface of an agent as the name of the reviewer only.
        sender = sender or Sender()
        is_agent, actor = sender.is_program(reviewer) or reviewer == AGENT, sender.get_actor(reviewer)
        for paper_id, given in decisions.items():
            if entry := by_id.get(paper_id):
                entry.add_decision(
                    ReviewDecision(
                        status=given.status,
                        reason=given.reason,
                        reviewer=reviewer,
                        at=at,
                        by_agent=is_agent,
                        actor=actor,
                    )
                )

    def index_by_current_and_former_id(self) -> dict[str, PooledPaper]:
        """Return the entries by every id that stands for them."""
        former = {other: entry for entry in self.entries for other in entry.other_ids}
        return former | {entry.id: entry for entry in self.entries}

    def _merge_entries(self, paper: RawPaper, members: list[PooledPaper], new: Sequence[FoundRecord]) -> None:
        """Replace the members, which a record showed to be one paper, by one entry for the merged paper."""
        one = next((entry for entry in members if entry.id == paper.id), members[0])
        for entry in members:
            if entry is not one:
                entry.parts[0].joined_by = "software"
                entry.parts[0].exclusion = _build_exclusion(entry, ExclusionReason.MERGED, None)
        self.unite_entries(one, members, paper)
        one.parts[0].records += new

    def unite_entries(self, one: PooledPaper, members: Sequence[PooledPaper], paper: RawPaper) -> None:
        """Make `one` the only entry of all members, with all their parts, decisions and ids, for the merged paper."""
        others = [entry for entry in members if entry is not one]
        if others:
            for entry in members:
                entry.keep_standing()
            best = max(members, key=lambda entry: entry.scored.relevance_score)
            one.scored = best.scored.model_copy(update={"paper": one.scored.paper})
            one.admitted = any(entry.admitted for entry in members)
            one.decisions = combine_reviews(d for entry in members for d in entry.decisions)
            former = dict.fromkeys(name for entry in members for name in (*entry.other_ids, entry.id))
            one.other_ids = [name for name in former if name != one.id]
            one.parts = [*one.parts, *(part for entry in others for part in entry.parts)]
            self.entries = [entry for entry in self.entries if not any(entry is other for other in others)]
        one.set_paper(paper)


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
