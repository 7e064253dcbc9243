"""The questions of a run to a person: asked once, answered once, and both in the journal."""

import inspect
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from pydantic import BaseModel

from paper_search.errors import InvalidDecision
from paper_search.workflow.checkpoints import (
    Checkpoint,
    CheckpointHandler,
    CheckpointKind,
    Decision,
    ResultPayload,
    StrategyPayload,
)
from paper_search.workflow.decisions import check_decision
from paper_search.workflow.journal import Journal
from uraniborg.kernel.clock import Clock


class TakenDecision(Decision):
    """A decision and when it was taken, as the journal stores it; earlier versions did not store the time."""

    at: datetime | None = None


class Moment(BaseModel):
    """When a question was first asked, as the journal stores it: a run that is resumed asks the same question."""

    at: str


@dataclass(frozen=True, slots=True)
class Questions:
    handler: CheckpointHandler
    run_id: str
    sources: list[str]
    """The sources that an edited strategy may name."""
    journal: Journal
    clock: Clock

    async def put(
        self, kind: CheckpointKind, payload: StrategyPayload | ResultPayload, number: int, round_number: int
    ) -> Checkpoint:
        """Return the checkpoint with this number, at the time at which it was first asked."""
        asked = await self.journal.remember(f"asked-{number}", Moment, self._now)
        return Checkpoint(
            kind=kind,
            payload=payload,
            run_id=self.run_id,
            iteration=number,
            round=round_number,
            timestamp=asked.at,
        )

    async def take_answer(self, checkpoint: Checkpoint) -> TakenDecision:
        """Return the decision from the journal, or else from the handler. Raises InvalidDecision if it does not fit."""

        async def answer() -> TakenDecision:
            decision = await _answer(self.handler, checkpoint)
            check_decision(checkpoint, decision, self.sources)
            return TakenDecision(**dict(decision), at=self.clock.now())

        return await self.journal.remember(f"decision-{checkpoint.iteration}", TakenDecision, answer)

    async def _now(self) -> Moment:
        return Moment(at=self.clock.now().isoformat())


async def _answer(handler: CheckpointHandler, checkpoint: Checkpoint) -> Decision:
    # Whatever the handler is typed as, people pass what they have.
    answering = cast("object", handler.handle(checkpoint))
    decision = await answering if inspect.isawaitable(answering) else answering
    if not isinstance(decision, Decision):
        raise InvalidDecision(
            f"The checkpoint handler answered with {type(decision).__name__}, not with a Decision.",
            hint="Return Decision(action=DecisionAction.APPROVE), or another action.",
        )
    return decision
