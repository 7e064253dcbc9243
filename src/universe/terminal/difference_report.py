"""Print what differs between two versions or two universes."""

from collections.abc import Mapping
from typing import Any, Final

from uraniborg.kernel.terminal.page import Page

_MAX_LINES: Final = 40
_SHOWN: Final = 60


def print_differences(reply: Mapping[str, Any]) -> None:
    """Print added, removed and changed entities, with the old and new values of changed fields."""
    page = Page()
    before, after = reply["from"], reply["to"]
    page.write_line(f"{before['id']} version {before['version']:,} → {after['id']} version {after['version']:,}")
    if reply["equal"]:
        page.write_line("They are equal.")
        return
    lines = [*_list_lines(reply)]
    for line in lines[:_MAX_LINES]:
        page.write_line(line)
    if len(lines) > _MAX_LINES:
        page.write_line(f"… and {len(lines) - _MAX_LINES:,} more lines; --json has them.")


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
