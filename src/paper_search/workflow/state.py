"""Where one run stands: rounds made, what was learned in them, papers kept."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, Field

from paper_search.models import Paper, RawPaper, RelevanceHints, SearchStrategy, UserFeedback, Work

P = TypeVar("P", Paper, RawPaper)


class IterationRecord(BaseModel):
    """One finished round."""

    iteration: int
    strategy: SearchStrategy
    result_count: int
    feedback: UserFeedback | None = None


class WorkflowState(BaseModel):
    """`current_iteration` counts finished rounds, `decisions_taken` the answers a person has given."""

    current_iteration: int = 0
    decisions_taken: int = 0
    history: list[IterationRecord] = Field(default_factory=list[IterationRecord])
    accumulated_papers: list[Paper] = Field(default_factory=list[Paper])
    rejected_papers: list[Paper] = Field(default_factory=list[Paper])
    is_complete: bool = False

    @property
    def previous_strategies(self) -> list[SearchStrategy]:
        return [record.strategy for record in self.history]

    @property
    def latest_feedback(self) -> UserFeedback | None:
        return self.history[-1].feedback if self.history else None

    @property
    def hints(self) -> RelevanceHints:
        """All that was learned so far, for the scorer."""
        texts = [record.feedback.free_text_feedback for record in self.history if record.feedback]
        return RelevanceHints(
            relevant=list(self.accumulated_papers),
            irrelevant=list(self.rejected_papers),
            free_text=[text for text in texts if text],
        )

    def record_iteration(
        self, strategy: SearchStrategy, result_count: int, feedback: UserFeedback | None = None
    ) -> None:
        self.history.append(
            IterationRecord(
                iteration=self.current_iteration,
                strategy=strategy,
                result_count=result_count,
                feedback=feedback,
            )
        )
        self.current_iteration += 1

    def add_accumulated(self, papers: list[Paper]) -> None:
        """Keep these papers through all later rounds. The last word on a paper counts."""
        _move(papers, into=self.accumulated_papers, out_of=self.rejected_papers)

    def add_rejected(self, papers: list[Paper]) -> None:
        """Keep these papers out of all later rounds."""
        _move(papers, into=self.rejected_papers, out_of=self.accumulated_papers)


def without(papers: list[P], unwanted: Sequence[Work]) -> list[P]:
    """The papers that are none of the unwanted ones, by id or by a source record they share."""
    ids = {paper.id for paper in unwanted if isinstance(paper, Paper)}
    records = _records(*unwanted)
    return [paper for paper in papers if paper.id not in ids and not records & _records(paper)]


def _records(*papers: Work) -> set[tuple[str, str]]:
    return {(record.source, record.record_id) for paper in papers for record in paper.records}


def _move(papers: list[Paper], *, into: list[Paper], out_of: list[Paper]) -> None:
    out_of[:] = without(out_of, papers)
    for paper in papers:
        into.extend(without([paper], into))
