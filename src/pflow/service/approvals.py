"""Display approvals of workflows as questions, and say which answers they accept."""

import json
from typing import Final

from typing_extensions import TypedDict

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.store.inbox import InboxDecision, InboxEntry, InboxPort

ACTIONS: Final = ("approve", "reject")


class ApprovalPayload(TypedDict):
    """The question of a workflow."""

    question: str
    details: Json
    workflow: str
    node: str
    lineage: str
    actions: list[str]


def check_answer(entry: InboxEntry, given: InboxDecision) -> None:
    """Raise InvalidInput if the decision is neither approve nor reject."""
    if given.action not in ACTIONS:
        raise InvalidInput(
            f"A workflow accepts approve or reject, got '{given.action[:40]}'.",
            hint="Use approve or reject; a note can give the reason.",
            argument="action",
            allowed=list(ACTIONS),
            decision_id=entry.id,
        )


def decide(inbox: InboxPort, entry: InboxEntry, given: InboxDecision, door: str, actor: Actor) -> InboxEntry:
    """Store the decision, and return its entry. Raise InvalidInput, and as the inbox does."""
    check_answer(entry, given)
    return inbox.decide(entry.id, given, door, actor)


def format_payload(payload: JsonObject) -> list[str]:
    """Return the lines that show the workflow, the node and the details of a question."""
    # Runs of a file are logged under its stem and a digest of its path.
    stem, at, _ = str(payload.get("workflow")).partition("@")
    lines = [f"Workflow {stem}{'.json' if at else ''}, at {payload.get('node')}"]
    details = payload.get("details")
    if details is not None:
        text = details if isinstance(details, str) else json.dumps(details, indent=2, ensure_ascii=False)
        lines += ["", *text.splitlines()]
    return lines
