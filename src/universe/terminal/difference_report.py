"""Print what differs between two versions or two universes."""

from collections.abc import Mapping
from typing import Any, Final

from universe.terminal.console import escape_text, make_console

_MAX_LINES: Final = 40
_SHOWN: Final = 60


def print_differences(reply: Mapping[str, Any]) -> None:
    """Print added, removed and changed entities, with the old and new values of changed fields."""
    console = make_console()
    before, after = reply["from"], reply["to"]
    console.print(
        f"{escape_text(before['id'])} version {before['version']:,} → {escape_text(after['id'])} version "
        f"{after['version']:,}"
    )
    if reply["equal"]:
        console.print("They are equal.")
        return
    lines = [*_list_lines(reply)]
    for line in lines[:_MAX_LINES]:
        console.print(escape_text(line))
    if len(lines) > _MAX_LINES:
        console.print(f"… and {len(lines) - _MAX_LINES:,} more lines; --json has them.")


def _list_lines(reply: Mapping[str, Any]) -> list[str]:
    first, last = reply["time"]
    lines = [f"time: {first} → {last}"] if first != last else []
    for kind, found in reply["differences"].items():
        lines += [f"+ {kind} {key}" for key in found["added"]]
        lines += [f"- {kind} {key}" for key in found["removed"]]
        lines += [
            f"~ {key} {field}: {_shorten(old)} → {_shorten(new)}"
            for key, fields in found["changed"].items()
            for field, (old, new) in fields.items()
        ]
    return lines


def _shorten(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
