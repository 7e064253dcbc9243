"""Print the report of an import."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from universe.terminal.console import escape_text, make_console
from uraniborg.kernel.paragraphs import print_paragraph
from uraniborg.kernel.text import plural

_MAX_LINES: Final = 10


def print_import(reply: Mapping[str, Any]) -> None:
    """Print the universes that were created, the skipped rows by reason, and the notes."""
    console = make_console()
    report, created = reply["import"], reply["universes"]
    for one in created[:_MAX_LINES]:
        bodies = plural(one["bodies"], "body", "bodies")
        console.print(f"Created {escape_text(one['id'])}: {escape_text(one['name'])}, {bodies}.")
    if len(created) > _MAX_LINES:
        console.print(f"… and {len(created) - _MAX_LINES:,} more universes; --json lists all.")
    systems, rows = len(report["systems"]), report["skippedCount"]
    verb = "Imported" if created else "Would import"
    skipped = f"; {plural(rows, 'row')} skipped:" if rows else "."
    console.print(f"{verb} {plural(systems, 'system')} from {report['format']}{skipped}")
    for reason, count in Counter(one["reason"] for one in report["skipped"]).most_common(_MAX_LINES):
        names = [one["name"] or f"row {one['row']}" for one in report["skipped"] if one["reason"] == reason]
        print_paragraph(
            console,
            "- ",
            escape_text(f"{', '.join(names[:3])}{f' and {count - 3} more' if count > 3 else ''}: {reason}"),
        )
    if rows > len(report["skipped"]):
        console.print(f"- {plural(rows - len(report['skipped']), 'more row')}, not listed")
    for note in report["notes"]:
        print_paragraph(console, "Note: ", escape_text(note))
