"""Hold one paper of a pool with its records in parts, so that merges can be undone."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, Field

from paper_search.domain.review_models import (
    EXCLUSIONS_BY_JUDGE,
    Exclusion,
    ExclusionReason,
    Judge,
    ReviewDecision,
    ReviewStatus,
    combine_decisions,
    find_judge_of_decisions,
)
from paper_search.models import Paper, RawPaper, ScoredPaper

WANTED = (ReviewStatus.INCLUDE, ReviewStatus.MAYBE)
_EARLIEST = datetime.min.replace(tzinfo=UTC)

RecordKey = tuple[str, str]
"""The source and the id of a record."""


class FoundRecord(BaseModel):
    """A record as its source sent it, with the decisions that were made on its paper since then."""

    paper: RawPaper
    names: list[RecordKey]
    """The keys of the record; the first one is its own."""
    round: int
    decisions: list[ReviewDecision] = Field(default_factory=list[ReviewDecision])

    @property
    def key(self) -> RecordKey:
        """The source and id of the record."""
        return self.names[0]


class Standing(BaseModel):
    """What a part was as a paper of its own, before it was merged."""

    scored: ScoredPaper
    ids: list[str]
    admitted: bool
    over_limit: bool


class PaperPart(BaseModel):
    """Records that were one paper when they were screened."""

    records: list[FoundRecord]
    before: Standing | None = None
    joined_by: Literal["software"] | Judge | None = None
    """Who merged the part into its paper; None for the first part."""
    exclusion: Exclusion | None = None
    """How the search log lists a part that the software merged."""

    @property
    def round(self) -> int:
        """The round that found the first of the records."""
        return min((record.round for record in self.records), default=0)


class PooledPaper(BaseModel):
    """One paper with its score, its decisions and its former ids."""

    scored: ScoredPaper
    parts: list[PaperPart]
    admitted: bool = False
    """In the result unless a reviewer excludes it. An admitted paper stays admitted until `min_relevance` is raised."""
    over_limit: bool = False
    """Relevant enough, but beyond the number of papers that a round may add."""
    decisions: list[ReviewDecision] = Field(default_factory=list[ReviewDecision])
    other_ids: list[str] = Field(default_factory=list)

    @property
    def id(self) -> str:
        return self.scored.paper.id

    @property
    def records(self) -> list[FoundRecord]:
        return [record for part in self.parts for record in part.records]

    @property
    def found_in_round(self) -> int:
        """The round that found the paper first."""
        return min(part.round for part in self.parts)

    @property
    def paper(self) -> Paper:
        """The paper as results list it."""
        own = {"found_in_round": self.found_in_round, "decisions": self.decisions, "other_ids": self.other_ids}
        return Paper.from_scored(self.scored).model_copy(update=own)

    @property
    def status(self) -> ReviewStatus:
        return combine_decisions(self.decisions)

    @property
    def exclusion_reason(self) -> ExclusionReason | None:
        """The reason why the paper is not in the result, or None if it is."""
        if self.status is ReviewStatus.EXCLUDE:
            return EXCLUSIONS_BY_JUDGE[find_judge_of_decisions(self.decisions)]
        if self.admitted:
            return None
        return ExclusionReason.OVER_LIMIT if self.over_limit else ExclusionReason.BELOW_THRESHOLD

    @property
    def joined_parts(self) -> list[tuple[PaperPart, int]]:
        """The parts that were merged into the paper, each with the round in which it counts as merged.

        The paper counts for the round that found it first, so each other part counts for a later round.
        """
        return list(zip(self.parts[1:], sorted(part.round for part in self.parts)[1:], strict=True))

    def add_decision(self, decision: ReviewDecision) -> None:
        """Store the decision in place of the reviewer's earlier one, also with each record."""
        self.decisions = _replace_decision(self.decisions, decision)
        for record in self.records:
            record.decisions = _replace_decision(record.decisions, decision)
        if decision.status in WANTED:
            self.admitted = True

    def keep_standing(self) -> None:
        """Store the present standing with the part of a paper that has one part."""
        if len(self.parts) == 1:
            self.parts[0].before = Standing(
                scored=self.scored,
                ids=[self.id, *self.other_ids],
                admitted=self.admitted,
                over_limit=self.over_limit,
            )

    def set_paper(self, paper: RawPaper) -> None:
        """Replace the paper; a former id still stands for it."""
        former = dict.fromkeys([*self.other_ids, self.id])
        self.other_ids = [name for name in former if name != paper.id]
        self.scored = self.scored.model_copy(update={"paper": paper})


def combine_reviews(decisions: Iterable[ReviewDecision]) -> list[ReviewDecision]:
    """Return the latest decision of each reviewer; of two at one time the later in the list."""
    combined: list[ReviewDecision] = []
    for decision in sorted(decisions, key=lambda one: one.at or _EARLIEST):
        combined = _replace_decision(combined, decision)
    return combined


def _replace_decision(decisions: list[ReviewDecision], decision: ReviewDecision) -> list[ReviewDecision]:
    return [*(other for other in decisions if not other.is_by_same_reviewer(decision)), decision]
