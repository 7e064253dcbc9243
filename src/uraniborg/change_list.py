"""`uraniborg changes`: list who changed what in this installation."""

import sys
from heapq import merge
from itertools import islice
from typing import Final, TypedDict

from uraniborg.kernel.actors import describe_actor, read_actor
from uraniborg.kernel.change_log import FILE, LoggedChange, read_changes
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.settings import data_dir
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.streams import print_json
from uraniborg.kernel.terminal.styled_text import DIM, StyledText
from uraniborg.kernel.text import plural

_WORKFLOW_CHANGES: Final = {
    "write": "workflow written",
    "cancel": "run cancelled",
    "resume": "run resumed",
    "schedule": "workflow scheduled",
    "unschedule": "schedule removed",
    "connect": "MCP server added",
    "disconnect": "MCP server removed",
}


class ChangePage(TypedDict):
    """The last changes, the last one first, and what could not be read."""

    changes: list[LoggedChange]
    problems: list[str]


def list_changes(limit: int) -> ChangePage:
    """Return the last changes of the log and of the record of workflows. A part that cannot be read is a problem."""
    found, problems = _read_log()
    try:
        of_workflows = _read_workflow_changes()
    except (UraniborgError, OSError) as exc:
        of_workflows = []
        problems.append(f"The changes of workflows cannot be read: {as_error(exc).message}")
    # Each record has an order of its own, whatever the clock said: the times only tell how to join them.
    joined = merge(reversed(found), reversed(of_workflows), key=lambda change: change["at"], reverse=True)
    return {"changes": list(islice(joined, limit)), "problems": problems}


def print_changes(limit: int, *, as_json: bool) -> None:
    """Print the last changes, the last one first."""
    page = list_changes(limit)
    if as_json:
        print_json(page)
        return
    out = Page()
    for change in page["changes"]:
        _print_change(out, change)
    if not page["changes"]:
        out.write_line("No change is recorded yet.")
    elif len(page["changes"]) == limit:
        out.write_line(StyledText(DIM, f"There may be more: uraniborg changes --limit {2 * limit}"))
    for problem in page["problems"]:
        Page(sys.stderr).write_message(problem)


def _print_change(page: Page, change: LoggedChange) -> None:
    details = "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in change["details"].items())
    actor = read_actor(change["actor"])
    how = f", authenticated by {actor.authenticated}" if actor and actor.authenticated != "none" else ""
    page.write_line(f"{change['at'][:19]}Z  {change['change']}  {change['subject']}")
    page.write_line(StyledText(DIM, f"    by {describe_actor(actor)}{how}{f'; {details}' if details else ''}"))


def _read_log() -> tuple[list[LoggedChange], list[str]]:
    try:
        found, damaged = read_changes()
    except OSError as exc:
        return [], [f"The log of changes cannot be read: {as_error(exc).message}"]
    left_out = f"{plural(damaged, 'line')} of {data_dir() / FILE} cannot be read and are left out."
    return found, [left_out] if damaged else []


def _read_workflow_changes() -> list[LoggedChange]:
    from pflow.changes import ChangeRecord
    from pflow.config import load_settings

    home = load_settings().home.expanduser()
    if not (home / "runs.db").exists():
        return []
    return [
        {
            "at": one.at,
            "change": _WORKFLOW_CHANGES.get(one.change, one.change),
            "subject": one.subject,
            "actor": one.actor.model_dump() if one.actor else None,
            "details": {},
        }
        for one in ChangeRecord(home).list_all()
    ]
