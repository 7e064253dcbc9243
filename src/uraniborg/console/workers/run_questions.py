"""Find the questions that runs wait for."""

from collections.abc import Sequence
from contextlib import suppress

from pflow.run_replies import QuestionAnswer, RunSummary
from uraniborg.kernel.inbox import DecisionNotFound, Entry, Inbox


def add_question_states(inbox: Inbox, runs: Sequence[RunSummary]) -> None:
    """Set `question_state` of the runs that wait, and `question_answer` if the question is decided.

    Both are None for other runs, and if the question was deleted.
    """
    asked = {run["id"]: approval_id for run in runs if (approval_id := find_approval_id(run))}
    entries = _read_settled_entries(inbox, list(set(asked.values()))) if asked else {}
    for run in runs:
        approval_id = asked.get(run["id"], "")
        entry = entries.get(approval_id)
        run["question_state"] = entry.state if entry else "pending" if approval_id in entries else None
        run["question_answer"] = _describe_answer(entry) if entry else None


def find_approval_id(run: RunSummary) -> str | None:
    """Return the id of the question that a run of the log waits for, or None."""
    return run["error"].get("approval_id") if run["error"] and run["status"] == "waiting" else None


def _read_settled_entries(inbox: Inbox, ids: Sequence[str]) -> dict[str, Entry | None]:
    """Return the entries by their ids; None for those that wait for a decision. Deleted ones are left out."""
    missing = inbox.missing(ids)
    entries: dict[str, Entry | None] = {one: None for one in ids if one not in missing}
    entries |= {entry.id: entry for entry in inbox.settled(ids)}
    for one in missing:
        with suppress(DecisionNotFound):
            entries[one] = inbox.get(one)  # archived
    return entries


def _describe_answer(entry: Entry) -> QuestionAnswer | None:
    if entry.decision is None:
        return None
    return {
        "action": entry.decision.action,
        "note": entry.decision.note,
        "door": entry.door,
        "decided_by": entry.decided_by,
    }
