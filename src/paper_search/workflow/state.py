"""Remember the finished rounds of a search with their feedback, and the papers found."""

from datetime import datetime

from pydantic import BaseModel, Field

from paper_search.models import Paper, RelevanceHints, SearchStrategy, UserFeedback
from paper_search.review_models import DEFAULT_REVIEWER, ReviewStatus, Sender
from paper_search.workflow.paper_pool import Pool


class IterationRecord(BaseModel):
    """One finished round."""

    iteration: int
    strategy: SearchStrategy
    result_count: int
    feedback: UserFeedback | None = None


class WorkflowState(BaseModel):
    """The state of one search. `current_iteration` counts finished rounds, `decisions_taken` a person's decisions."""

    current_iteration: int = 0
    decisions_taken: int = 0
    history: list[IterationRecord] = Field(default_factory=list[IterationRecord])
    pool: Pool = Field(default_factory=Pool)
    is_complete: bool = False

    @property
    def accumulated_papers(self) -> list[Paper]:
        """The papers with the status include."""
        return self.pool.select_by_status(ReviewStatus.INCLUDE)

    @property
    def rejected_papers(self) -> list[Paper]:
        """The papers with the status exclude."""
        return self.pool.select_by_status(ReviewStatus.EXCLUDE)

    @property
    def previous_strategies(self) -> list[SearchStrategy]:
        """The strategies of all finished rounds."""
        return [record.strategy for record in self.history]

    @property
    def latest_feedback(self) -> UserFeedback | None:
        """The feedback of the last finished round."""
        return self.history[-1].feedback if self.history else None

    def list_feedback(self, *, exclude_last: bool = False, since_round: int = 0) -> list[UserFeedback]:
        """Return the feedback of all rounds from `since_round` on, with or without the last one."""
        records = self.history[since_round : -1 if exclude_last else None]
        return [record.feedback for record in records if record.feedback]

    @property
    def hints(self) -> RelevanceHints:
        """The feedback of all rounds, for the scorer."""
        return RelevanceHints(
            relevant=list(self.accumulated_papers),
            irrelevant=list(self.rejected_papers),
            free_text=[text for feedback in self.list_feedback() for text in feedback.texts],
            added_terms=[term for feedback in self.list_feedback() for term in feedback.add_terms],
        )

    def record_iteration(
        self, strategy: SearchStrategy, result_count: int, feedback: UserFeedback | None = None
    ) -> None:
        """Add a finished round to the history."""
        self.history.append(
            IterationRecord(
                iteration=self.current_iteration,
                strategy=strategy,
                result_count=result_count,
                feedback=feedback,
            )
        )
        self.current_iteration += 1

    def add_decisions(self, feedback: UserFeedback, at: datetime | None, sender: Sender | None = None) -> None:
        """Store the feedback's decisions about papers."""
        for reviewer, decisions in feedback.reviews.items():
            self.pool.add_decisions(decisions, reviewer, at, sender)
        self.pool.add_decisions(feedback.statuses, feedback.reviewer or DEFAULT_REVIEWER, at, sender)
