"""Where a search stops for a person, and what a person can answer."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

from pydantic import BaseModel, Field, model_validator

from paper_search.models import Paper, PaperCollection, ParsedIntent, SearchStrategy


class CheckpointKind(StrEnum):
    STRATEGY_CONFIRMATION = "strategy_confirmation"
    RESULT_REVIEW = "result_review"


class DecisionAction(StrEnum):
    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"


class StrategyPayload(BaseModel):
    intent: ParsedIntent
    strategy: SearchStrategy


class ResultPayload(BaseModel):
    collection: PaperCollection
    accumulated_papers: list[Paper] = Field(default_factory=list[Paper])


class Checkpoint(BaseModel):
    """A question to a person. `iteration` counts the decisions taken before it, `round` the searches made before it."""

    kind: CheckpointKind
    payload: StrategyPayload | ResultPayload
    run_id: str = Field(default_factory=lambda: str(uuid4()))
    iteration: int = 0
    round: int = 0
    timestamp: str = Field(default_factory=lambda: datetime.now(UTC).isoformat())

    @property
    def checkpoint_id(self) -> str:
        return f"{self.run_id}:{self.iteration}:{self.kind.value}"

    @model_validator(mode="after")
    def _payload_fits_kind(self) -> "Checkpoint":
        about_strategy = self.kind is CheckpointKind.STRATEGY_CONFIRMATION
        if about_strategy != isinstance(self.payload, StrategyPayload):
            fitting = StrategyPayload if about_strategy else ResultPayload
            raise ValueError(f"a {self.kind.value} checkpoint carries a {fitting.__name__}")
        return self


class Decision(BaseModel):
    """A person's answer: the strategy or feedback that goes with an edit or reject, and a note in their own words."""

    action: DecisionAction
    revised_data: Any = None
    note: str | None = None


@runtime_checkable
class CheckpointHandler(Protocol):
    async def handle(self, checkpoint: Checkpoint) -> Decision: ...
