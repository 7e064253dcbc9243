"""The approval node: ask a person in the inbox once, however often the run is resumed."""

from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypedDict

from pflow.domain.node import NodeContext, Outcome
from pflow.errors import ApprovalRequired, NodeFailed
from uraniborg.kernel.errors import Conflict
from uraniborg.kernel.ids import content_id

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import Json, JsonObject
    from uraniborg.kernel.store.inbox import Inbox

_PART: Final = "pflow"
_KIND: Final = "approval"


class ApprovalOutputs(TypedDict):
    decision: str
    note: str
    data: "Json"
    approval_id: str


class Question(TypedDict):
    """The payload of the question in the inbox."""

    question: str
    details: "Json"
    workflow: str
    node: str
    lineage: str
    actions: list[str]


def get_or_request_decision(params: "JsonObject", context: NodeContext) -> Outcome:
    from uraniborg.kernel.store.inbox import Inbox  # slow to import, and few workflows ask

    inbox = Inbox()
    # Not by the workflow's name, which may change while a question waits.
    lineage = context.lineage or context.run_id
    entry_id = f"apr_{content_id(context.node_id, lineage, repr(sorted(params.items())))}"
    payload: Question = context.mask(
        {
            "question": params["question"],
            "details": params.get("details"),
            "workflow": context.workflow,
            "node": context.node_id,
            "lineage": lineage,
            "actions": ["approve", "reject"],
        }
    )
    try:
        _withdraw_superseded_questions(inbox, payload)
        entry = inbox.put(entry_id, _PART, _KIND, entry_id, payload)
        if entry.state == "withdrawn":
            entry = inbox.reopen(entry_id)
        is_refused = entry.decision is not None and entry.decision.action != "approve"
        if is_refused and params.get("on_reject") != "branch":
            inbox.archive(entry_id)  # the next run asks again
    finally:
        inbox.close()
    if entry.decision is None:
        raise ApprovalRequired(
            f"A person has to decide: {params['question']}",
            hint=f"The person decides in the console, or by `uraniborg decide {entry_id} approve` (or reject). "
            "Then run the workflow again.",
            approval_id=entry_id,
            question=params["question"],
        )
    outputs: ApprovalOutputs = {
        "decision": entry.decision.action,
        "note": entry.decision.note or "",
        "data": entry.decision.data,
        "approval_id": entry_id,
    }
    if entry.decision.action == "approve":
        return Outcome(outputs)
    if params.get("on_reject") == "branch":
        return Outcome(outputs, "rejected")
    raise NodeFailed(
        f"A person rejected this: {entry.decision.note or params['question']}",
        hint="Running the workflow again asks again.",
        outputs=outputs,
    )


def _withdraw_superseded_questions(inbox: "Inbox", question: Question) -> None:
    """Withdraw questions of the same node from runs that can no longer be resumed."""
    for entry in inbox.pending(_PART):
        pending = entry.payload
        is_same = all(pending.get(key) == question[key] for key in ("workflow", "node"))
        if is_same and pending.get("lineage") != question["lineage"]:
            with suppress(Conflict):  # decided just now
                inbox.withdraw(entry.id)
