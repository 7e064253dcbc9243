"""Decisions on their way between the doors, the inbox and the engine, checked at each."""

from pydantic import BaseModel

from paper_search.errors import InvalidAction, InvalidDecision
from paper_search.limits import check_decision_size
from paper_search.sessions.edits import EXAMPLE, completed_edit
from paper_search.sessions.state import Waiting
from paper_search.workflow.checkpoints import Decision, DecisionAction, StrategyPayload
from paper_search.workflow.decisions import add_reviewer, check_decision
from uraniborg.kernel.inbox import Decision as InboxDecision


def read_action(action: str) -> DecisionAction:
    """Raises InvalidAction, which names the actions there are."""
    try:
        return DecisionAction(action)
    except ValueError:
        raise InvalidAction(action, [known.value for known in DecisionAction]) from None


def to_inbox(decision: Decision) -> InboxDecision:
    data = decision.revised_data
    if isinstance(data, BaseModel):
        data = data.model_dump(mode="json")
    return InboxDecision(action=decision.action.value, data=data, note=decision.note)


def from_inbox(given: InboxDecision, waiting: Waiting, door: str | None = None) -> Decision:
    """Return the decision for the engine; decisions about papers that name no reviewer are those of the door.

    Raises InvalidDecision when it does not answer what was asked.
    """
    check_decision_size(given.data, given.note)
    action, data, payload = read_action(given.action), given.data, waiting.checkpoint.payload
    if action is DecisionAction.EDIT and isinstance(payload, StrategyPayload):
        data = completed_edit(data, payload.strategy)
    elif door:
        data = add_reviewer(data, door)
    decision = Decision(action=action, revised_data=data, note=given.note)
    try:
        check_decision(waiting.checkpoint, decision, waiting.sources)
    except InvalidDecision as refusal:
        if isinstance(payload, StrategyPayload) and action is DecisionAction.EDIT:
            refusal.hint = f"{refusal.hint} For example: {EXAMPLE}"
        raise
    return decision
