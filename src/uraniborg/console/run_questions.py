"""The questions that runs wait for."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from uraniborg.kernel.inbox import DecisionNotFound, Inbox, State


def add_question_states(inbox: Inbox, runs: Sequence[dict[str, Any]]) -> None:
    """Set `question_state` of the runs that wait: the state of the question, or None if the question was deleted."""
    asked = {run["id"]: approval_id for run in runs if (approval_id := find_approval_id(run))}
    states = _read_states(inbox, list(set(asked.values()))) if asked else {}
    for run in runs:
        run["question_state"] = states.get(asked.get(run["id"], ""))


def find_approval_id(run: dict[str, Any]) -> str | None:
    """Return the id of the question that a run of the log waits for, or None."""
    error: dict[str, Any] = run["error"] or {}
    return error.get("approval_id") if run["status"] == "waiting" else None


def _read_states(inbox: Inbox, ids: Sequence[str]) -> dict[str, State]:
    missing = inbox.missing(ids)
    states: dict[str, State] = {one: "pending" for one in ids if one not in missing}
    states |= {entry.id: entry.state for entry in inbox.settled(ids)}
    for one in missing:
        with suppress(DecisionNotFound):
            states[one] = inbox.get(one).state  # archived
    return states
