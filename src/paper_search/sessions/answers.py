"""Decisions on their way between the doors, the inbox and the engine, checked at each."""

from pydantic import BaseModel

from paper_search.errors import InvalidAction
from paper_search.limits import check_decision_size
from paper_search.sessions.state import Waiting
from paper_search.workflow.checkpoints import Decision, DecisionAction
from paper_search.workflow.decisions import check_decision
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


def from_inbox(given: InboxDecision, waiting: Waiting) -> Decision:
    """Raises InvalidDecision when it does not answer what was asked."""
    check_decision_size(given.data, given.note)
    decision = Decision(action=read_action(given.action), revised_data=given.data, note=given.note)
    check_decision(waiting.checkpoint, decision, waiting.sources)
    return decision
