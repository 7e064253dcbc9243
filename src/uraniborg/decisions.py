"""The door for people: what waits for a decision, and taking it from a terminal."""

import json
import sys
from collections.abc import Callable
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding

from uraniborg.kernel.clock import SystemClock
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.inbox import Decision, Entry, Inbox
from uraniborg.kernel.logging import printable

DOOR: Final = "terminal"
_CHECKS: Final = {"paper_search": "paper_search.sessions.answers"}
"""The module of each part whose `check_answer` says whether a decision fits what was asked."""
_MOST_BYTES: Final = 1_000_000

Check = Callable[[Entry, Decision], None]


def show_inbox(*, as_json: bool) -> None:
    """Print what waits for a decision, the oldest first."""
    waiting = Inbox().pending()
    if as_json:
        sys.stdout.write(json.dumps([_plain(entry) for entry in waiting]) + "\n")
        return
    console = Console(highlight=False)
    if not waiting:
        console.print("Nothing waits for a decision.")
        return
    now = SystemClock().now()
    for entry in waiting:
        _print(console, entry, now)
    count = "1 decision waits" if len(waiting) == 1 else f"{len(waiting)} decisions wait"
    console.print(f"\n{count}. Decide with: [bold]uraniborg decide ID approve|edit|reject[/]", soft_wrap=True)


def show_entry(named: str, *, as_json: bool) -> None:
    """Print all of what is asked under this id, the beginning of one, or a session's."""
    entry = _find(Inbox(), named)
    if as_json:
        sys.stdout.write(json.dumps(_plain(entry)) + "\n")
        return
    console = Console(highlight=False)
    _print(console, entry, SystemClock().now())
    rest: dict[str, Any] = {key: value for key, value in entry.payload.items() if key not in ("query", "question")}
    papers = rest.pop("papers", [])
    for paper in papers:
        console.print(f"\n  [bold]{escape(_line(paper['title']))}[/] [dim]({paper['year'] or '-'})[/]", soft_wrap=True)
        authors = escape(_line(", ".join(paper["authors"])))
        console.print(f"  [cyan]{paper['id']}[/] [dim]{paper['relevance_score']:.2f}  {authors}[/]", soft_wrap=True)
    if not papers:
        console.print_json(data=rest)
    elif "more" in rest:
        console.print(f"\n  [dim]{escape(rest['more'])}[/]", soft_wrap=True)


def take_decision(named: str, action: str, data: Path | None, note: str | None, *, as_json: bool) -> None:
    """Decide what waits under this id, the beginning of one, or a session's. Raises what stands in the way."""
    inbox = Inbox()
    entry = _find(inbox, named)
    decision = Decision(action=action, data=_read(data) if data else None, note=note)
    if (module := _CHECKS.get(entry.part)) is not None:
        check: Check = import_module(module).check_answer
        check(entry, decision)
    decided = inbox.decide(entry.id, decision, DOOR)
    if as_json:
        sys.stdout.write(json.dumps(_plain(decided)) + "\n")
        return
    console = Console(highlight=False)
    console.print(f"[green]✔[/] {decision.action}: {escape(_told(entry, 'query') or entry.id)}")
    console.print("  [dim]It goes on in the server that runs it, or when one is next asked about it.[/]")


def _print(console: Console, entry: Entry, now: datetime) -> None:
    console.print(f"[bold cyan]{entry.id}[/]", soft_wrap=True)
    console.print(f"  [dim]{entry.part}, {entry.kind}, asked {_ago(entry.created_at, now)}[/]")
    for line in (_told(entry, "query"), _told(entry, "question")):
        if line:
            console.print(Padding(escape(line), (0, 0, 0, 2)))


def _find(inbox: Inbox, named: str) -> Entry:
    waiting = inbox.pending()
    found = [entry for entry in waiting if named and (entry.id.startswith(named) or entry.subject == named)]
    if len(found) == 1:
        return found[0]
    if not found:
        return inbox.get(named)  # it was decided before, as deciding it once more will tell
    raise InvalidInput(
        f"{len(found)} decisions that wait begin with '{printable(named[:80])}'.",
        hint="Give more of the id; `uraniborg inbox` lists them.",
        allowed=[entry.id for entry in found[:10]],
    )


def _read(path: Path) -> Any:
    source = "stdin" if str(path) == "-" else f"'{path.name}'"
    try:
        text = sys.stdin.read(_MOST_BYTES) if str(path) == "-" else path.read_text("utf-8")
        return json.loads(text)
    except OSError as error:
        raise InvalidInput(f"{source} cannot be read: {error.strerror}.", hint="Check the path of --data.") from None
    except (ValueError, RecursionError):
        raise InvalidInput(
            f"{source} is not JSON.", hint="Write an object with the fields to change.", argument="data"
        ) from None


def _plain(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(mode="json", exclude_none=True)


def _told(entry: Entry, name: str) -> str:
    """What the asking part says for people; by agreement every payload is an object with a `question`."""
    return _line(entry.payload.get(name, ""))


def _line(text: Any) -> str:
    return printable(str(text))


def _ago(then: datetime, now: datetime) -> str:
    minutes = int((now - then).total_seconds() // 60)
    if minutes < 1:
        return "just now"
    for size, unit in ((1_440, "day"), (60, "hour"), (1, "minute")):
        if count := minutes // size:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
