"""Print the report of an import."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.text import plural

_MAX_LINES: Final = 10


def print_import(reply: Mapping[str, Any]) -> None:
    """Print the universes that were created, the skipped rows by reason, and the notes."""
    page = Page()
    report, created = reply["import"], reply["universes"]
    for one in created[:_MAX_LINES]:
        bodies = plural(one["bodies"], "body", "bodies")
        page.write_line(f"Created {one['id']}: {one['name']}, {bodies}.")
    if len(created) > _MAX_LINES:
        page.write_line(f"… and {len(created) - _MAX_LINES:,} more universes; --json lists all.")
    systems, rows = len(report["systems"]), report["skippedCount"]
    verb = "Imported" if created else "Would import"
    skipped = f"; {plural(rows, 'row')} skipped:" if rows else "."
    page.write_line(f"{verb} {plural(systems, 'system')} from {report['format']}{skipped}")
    for reason, count in Counter(one["reason"] for one in report["skipped"]).most_common(_MAX_LINES):
        names = [one["name"] or f"row {one['row']}" for one in report["skipped"] if one["reason"] == reason]
        more = f" and {count - 3} more" if count > 3 else ""
        page.write_paragraph("- ", f"{', '.join(names[:3])}{more}: {reason}")
    if rows > len(report["skipped"]):
        page.write_line(f"- {plural(rows - len(report['skipped']), 'more row')}, not listed")
    for note in report["notes"]:
        page.write_paragraph("Note: ", note)
