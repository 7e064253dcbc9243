"""Ask the person in their client about approvals of workflows."""

import asyncio
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pflow.config import load_settings
from pflow.errors import ApprovalRequired
from pflow.service.approvals import ACTIONS, format_payload
from uraniborg.kernel.mcp import Form, can_ask_person, find_dialog, get_dialog_actor, open_dialog
from uraniborg.kernel.mcp.dialogs import DOOR
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, InboxEntry

if TYPE_CHECKING:
    from pflow.service.run_replies import EndedRun
    from uraniborg.kernel.mcp import Dialog
    from uraniborg.kernel.mcp.dialogs import Answer

_MAX_CHARS: Final = 4_000
_REMEDY: Final = "Execute the workflow again after the person has answered here or with `uraniborg decide`."


async def ask_for_approval(reply: "EndedRun", call_started: float) -> bool:
    """Ask the person in the client of this call if a run waits for approval. Return True if the question is decided.

    If it is not decided when the call must reply, add the state of the `dialog` to the reply.
    """
    error = reply["error"]
    if error is None or error["code"] != ApprovalRequired.code or not can_ask_person():
        return False
    approval_id = error.get("approval_id", "")
    dialog = find_dialog(approval_id)
    if dialog is None or not dialog.is_open:
        dialog = await _open_dialog(approval_id)
    if dialog is None:
        return False
    settings = await asyncio.to_thread(load_settings)
    await dialog.wait(call_started + settings.reply_within_s - asyncio.get_running_loop().time())
    if not dialog.is_decided:
        reply["dialog"] = dialog.describe(_REMEDY)
    return dialog.is_decided


async def _open_dialog(approval_id: str) -> "Dialog | None":
    inbox = await asyncio.to_thread(lambda: _get_inbox(secure_own_folder("data")))
    entry = await asyncio.to_thread(inbox.get, approval_id)

    async def decide(answer: "Answer") -> None:
        decision = InboxDecision(action=str(answer["decision"]), note=str(answer.get("note", "")).strip() or None)
        await asyncio.to_thread(inbox.decide, approval_id, decision, DOOR, get_dialog_actor())

    return open_dialog(_build_form(entry), inbox, decide)


@lru_cache(maxsize=4)
def _get_inbox(folder: Path) -> Inbox:
    """Return the inbox in this folder, which all dialogs of the process share."""
    return Inbox(folder / "inbox.db")


def _build_form(entry: InboxEntry) -> Form:
    lines = [str(entry.payload["question"]), "", *format_payload(entry.payload)]
    fields = {
        "decision": {
            "type": "string",
            "title": "Decision",
            "description": "approve: the run continues. reject: it does not.",
            "enum": list(ACTIONS),
        },
        "note": {"type": "string", "title": "Note", "description": "A reason in your own words."},
    }
    return Form(entry.id, "\n".join(lines)[:_MAX_CHARS], fields)
