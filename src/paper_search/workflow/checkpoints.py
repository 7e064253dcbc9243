"""Checkpoints at which a search waits for a person, and the decisions that a person can take."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

from pydantic import BaseModel, Field, model_validator

from paper_search.models import Paper, PaperCollection, ParsedIntent, SearchStrategy, TermSuggestion


class CheckpointKind(StrEnum):
    """The two kinds of checkpoints."""

    STRATEGY_CONFIRMATION = "strategy_confirmation"
    RESULT_REVIEW = "result_review"


class DecisionAction(StrEnum):
    """The three actions of a decision."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"


class QueryFinding(BaseModel):
    """A warning about a query of a strategy, with its position and, if there is one, an edit that corrects it."""

    query: int
    """The index of the query, from 0."""
    severity: str
    start: int
    end: int
    message: str
    hint: str
    correction: dict[str, int | str] | None = None


class StrategyPayload(BaseModel):
    """The proposed strategy, the intent that it follows from, and the papers of earlier rounds."""

    intent: ParsedIntent
    strategy: SearchStrategy
    collection: PaperCollection | None = None
    """None in the first round, and in checkpoints of versions that did not store the papers."""
    findings: list[QueryFinding] = Field(default_factory=list[QueryFinding])
    """Warnings about queries that a person wrote; they do not stop the search."""


class ResultPayload(BaseModel):
    """The papers found so far, and those of them with the status include."""

    collection: PaperCollection
    accumulated_papers: list[Paper] = Field(default_factory=list[Paper])
    suggestions: list[TermSuggestion] = Field(default_factory=list[TermSuggestion])
    """Terms of the best papers that the next plan will suggest."""


class Checkpoint(BaseModel):
    """A question to a person. `iteration` counts the decisions before it, `round` the rounds before it."""

    kind: CheckpointKind
    payload: StrategyPayload | ResultPayload
    run_id: str = Field(default_factory=lambda: str(uuid4()))
    iteration: int = 0
    round: int = 0
    timestamp: str = Field(default_factory=lambda: datetime.now(UTC).isoformat())

    @property
    def plan(self) -> SearchStrategy:
        """The proposed strategy, or the one that was searched last."""
        payload = self.payload
        is_proposal = isinstance(payload, StrategyPayload)
        return payload.strategy if is_proposal else payload.collection.metadata.search_strategy

    @property
    def suggestions(self) -> list[TermSuggestion]:
        """The terms that feedback can accept."""
        return (
            self.payload.suggestions if isinstance(self.payload, ResultPayload) else self.payload.strategy.suggestions
        )

    @property
    def checkpoint_id(self) -> str:
        """The id of the checkpoint, unique among all sessions."""
        return f"{self.run_id}:{self.iteration}:{self.kind.value}"

    @model_validator(mode="after")
    def _check_payload(self) -> "Checkpoint":
        expected = StrategyPayload if self.kind is CheckpointKind.STRATEGY_CONFIRMATION else ResultPayload
        if type(self.payload) is not expected:
            raise ValueError(f"a {self.kind.value} checkpoint carries a {expected.__name__}")
        return self


class Decision(BaseModel):
    """A person's decision: an action, the strategy or feedback that belongs to it, and a note in their own words."""

    action: DecisionAction
    revised_data: Any = None
    note: str | None = None


@runtime_checkable
class CheckpointHandler(Protocol):
    """Takes decisions for a search."""

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        """Return the decision for the checkpoint; the search waits for it."""
        ...
