"""`uraniborg inbox` and `decide`: list pending questions, and answer them in a terminal."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from uraniborg.inbox_questions import check_and_decide, check_answer, load_part_questions
from uraniborg.kernel.actors import get_terminal_actor
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.clock import SystemClock
from uraniborg.kernel.deciders import load_decider_settings
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.store.files import display_path
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, InboxEntry, describe_decision
from uraniborg.kernel.terminal.command_runner import read_text_input
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.questions import confirm_at_terminal
from uraniborg.kernel.terminal.styled_text import BOLD, CYAN, DIM, GREEN, StyledText

DOOR: Final = "terminal"
_HANDLE_CHARS: Final = 8
_RECENT: Final = 3
"""The number of decisions that are listed below the questions that wait."""


def show_inbox(*, as_json: bool) -> None:
    """Print the questions that wait for a decision, the oldest first, and the last decisions."""
    inbox = Inbox()
    waiting = inbox.pending()
    if as_json:
        print_json([_dump_entry(entry) for entry in waiting])
        return
    page = Page()
    for entry in waiting:
        _print_entry(page, entry)
        page.write_line()
    if waiting:
        count = "1 decision waits." if len(waiting) == 1 else f"{len(waiting)} decisions wait."
        page.write_line(f"{count} See all of one: uraniborg inbox {_make_handle(waiting[0])}")
        named = waiting[0].payload.get("actions")
        actions = "|".join(map(str, named)) if isinstance(named, list) and named else "approve|edit|reject"
        page.write_line(f"Decide it: uraniborg decide {_make_handle(waiting[0])} {actions}")
    else:
        page.write_line("Nothing waits for a decision.")
    if decided := inbox.list_entries("decided", limit=_RECENT + 1).entries:
        page.write_line()
        page.write_line("Decided last:")
        for entry in decided[:_RECENT]:
            _print_entry(page, entry)
        if len(decided) > _RECENT:
            page.write_line(StyledText(DIM, "All decisions: uraniborg inbox --decided"))


def show_decisions(limit: int, *, as_json: bool) -> None:
    """Print the questions that were decided, the one decided last first, with who decided them, how and when."""
    decided = Inbox().list_entries("decided", limit=limit).entries
    if as_json:
        print_json([_dump_entry(entry) for entry in decided])
        return
    page = Page()
    for entry in decided:
        _print_entry(page, entry)
    if not decided:
        page.write_line("Nothing was decided yet.")
    elif len(decided) == limit:
        page.write_line(StyledText(DIM, f"There may be more: uraniborg inbox --decided --limit {2 * limit}"))


def show_question(id_or_prefix: str, *, as_json: bool) -> None:
    """Print the whole question with this id or beginning of an id."""
    entry = _find_entry(Inbox(), id_or_prefix, requires_number=False)
    if as_json:
        print_json(_dump_entry(entry))
        return
    page = Page()
    _print_entry(page, entry)
    questions = load_part_questions(entry.part)
    lines = questions.format_payload(entry.payload) if questions else json.dumps(entry.payload, indent=2).splitlines()
    page.write_line()
    for line in lines:
        page.write_line(f"  {line}")


def record_decision(id_or_prefix: str, action: str, data: Path | None, note: str | None, *, as_json: bool) -> None:
    """Decide the question with this id or beginning of an id. Raise InvalidInput, NotFound, Conflict or Refused."""
    inbox = Inbox()
    entry = _find_entry(inbox, id_or_prefix, requires_number=True)
    decision = InboxDecision(action=action, data=_read_json_data(data) if data else None, note=note)
    check_answer(entry, decision)
    actor = get_terminal_actor()
    if load_decider_settings().require_person:
        actor = actor.model_copy(update={"authenticated": "terminal"})
        confirm_at_terminal(f"{_get_payload_text(entry, 'question')}\nYour decision: {action}.", action)
    decided = check_and_decide(inbox, entry.id, decision, DOOR, actor)
    if as_json:
        print_json(decided.model_dump(mode="json", exclude_none=True, exclude={"payload"}))
        return
    page = Page()
    about = _get_payload_text(entry, "query") or _get_payload_text(entry, "workflow")
    page.write_message(StyledText(GREEN, "✓ "), f"{action}: {entry.kind} of ", StyledText(BOLD, about))
    page.write_message("  ", StyledText(DIM, _describe_continuation(entry)))


def _describe_continuation(entry: InboxEntry) -> str:
    """Return when the session or the run continues; this process does not know which server holds it."""
    if entry.part != "pflow":
        return "It continues in the server that runs it, or when one is next asked."
    return "A run of the console continues by itself while the server runs; other runs when they are run again."


def _find_entry(inbox: Inbox, id_or_prefix: str, *, requires_number: bool) -> InboxEntry:
    """Return the one entry with this id, beginning of an id, or handle as the inbox prints it.

    To decide, the handle must include the number of the question: the next question of the same session must not be
    decided by mistake.
    """
    start, colon, rest = id_or_prefix.partition(":")
    candidates = [entry for entry in inbox.beginning_with(start) if start and _has_rest_of_id(entry.id, colon + rest)]
    exact = [entry for entry in candidates if entry.id == id_or_prefix]
    waiting = [entry for entry in candidates if entry.state == "pending"]
    found = exact or (waiting if not colon and waiting else candidates)
    if len(found) == 1 and not (requires_number and not colon and ":" in found[0].id):
        return found[0]
    if not found:
        return inbox.get(id_or_prefix)
    problem = "names more than one question" if len(found) > 1 else "lacks the number of the question"
    raise InvalidInput(
        f"'{make_printable(id_or_prefix[:80])}' {problem}.",
        hint=f"Give one of: {', '.join(_make_handle(entry) for entry in found[:5])}.",
        allowed=[_make_handle(entry) for entry in found[:10]],
    )


def _has_rest_of_id(entry_id: str, rest: str) -> bool:
    _, colon, own = entry_id.partition(":")
    return not rest or f"{colon}{own}:".startswith(f"{rest}:") or colon + own == rest


def _make_handle(entry: InboxEntry) -> str:
    """Return a short name for the entry: the beginning of its id, and its number if it has one."""
    start, _, rest = entry.id.partition(":")
    number = rest.partition(":")[0]
    return f"{start[:_HANDLE_CHARS]}:{number}" if number else start


def _print_entry(page: Page, entry: InboxEntry) -> None:
    workflow = f" of {name}" if (name := _get_payload_text(entry, "workflow")) else ""
    about = f"  {entry.part}, {entry.kind}{workflow}"
    if entry.state == "pending":
        about += f", asked {_format_age(entry.created_at, SystemClock().now())}"
    page.write_line(StyledText(f"{BOLD};{CYAN}", _make_handle(entry)), StyledText(DIM, about))
    for line in (_get_payload_text(entry, "query"), _get_payload_text(entry, "question")):
        if line:
            page.write_message("  ", line, keeps_lines=True)
    if entry.state == "withdrawn":
        page.write_line(StyledText(DIM, "  withdrawn: the session or run that asked has ended"))
    elif entry.decision is not None:
        page.write_message("  ", StyledText(GREEN, f"decided: {describe_decision(entry)}"))
        if entry.decision.note:
            page.write_message("  ", f"note: {entry.decision.note}", keeps_lines=True)


def _read_json_data(path: Path) -> Any:
    text = read_text_input(path)
    try:
        return parse_json(text)
    except ValueError:
        source = "stdin" if str(path) == "-" else f"'{display_path(path)}'"
        raise InvalidInput(
            f"{source} is not JSON.", hint="Write an object with the fields to change.", argument="data"
        ) from None


def _dump_entry(entry: InboxEntry) -> JsonObject:
    return entry.model_dump(mode="json", exclude_none=True)


def _get_payload_text(entry: InboxEntry, name: str) -> str:
    """Return a text of the payload, which by convention is an object with a `question`."""
    return str(entry.payload.get(name, ""))


def _format_age(then: datetime, now: datetime) -> str:
    minutes = int((now - then).total_seconds() // 60)
    for size, unit in ((1_440, "day"), (60, "hour"), (1, "minute")):
        if (count := minutes // size) > 0:
            return f"{plural(count, unit)} ago"
    return "just now"
