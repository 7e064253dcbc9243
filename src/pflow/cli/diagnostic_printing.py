"""Diagnostics of the checker in the style of a compiler: the problem, its position, an excerpt and the fix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pflow.cli.json_positions import Position, Positions
from pflow.cli.printing import BOLD, CYAN, DIM, RED, YELLOW, Page, Painted, clean_text, measure_width, to_json_text
from pflow.cli.workflow_sources import locate_file
from pflow.errors import InvalidWorkflow
from pflow.service import Service
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.text import plural

MOST_PRINTED: Final = 50
"""How many diagnostics are printed; --json lists all."""
_LARGEST: Final = 2_000_000
_EXCERPT: Final = 100
_STYLES: Final = {"error": RED, "warning": YELLOW}
_ABOUT_KEYS: Final = ("unknown_key", "unknown_param", "ignored_key")

Plain = Mapping[str, Any]


@dataclass(frozen=True)
class SourceText:
    """The text of the file that the diagnostics are about, and the path that messages show."""

    display_path: str
    text: str

    @classmethod
    def read(cls, file: Path, display_path: str) -> "SourceText | None":
        """Return the text of a file, or None if the file is too large or is not text."""
        try:
            if file.stat().st_size > _LARGEST:
                return None
            return cls(display_path, file.read_bytes().decode())
        except (OSError, ValueError):
            return None

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _positions(self) -> Positions | None:
        """The positions of all values, or None if the text is not JSON."""
        try:
            return Positions(self.text)
        except ValueError:
            return None

    def find_position(self, one: Plain) -> Position | None:
        if "line" in one:
            found: Position | None = Position(one["line"], one["column"])
        else:
            is_key = one["code"] in _ABOUT_KEYS
            found = self._positions.find(one["path"], key=is_key) if self._positions else None
        return found if found and found.line <= len(self.lines) else None

    def add_position(self, one: Plain) -> dict[str, Any]:
        """Return the diagnostic with its line and column."""
        found = self.find_position(one)
        return {**one, "line": found.line, "column": found.column} if found else dict(one)


def get_diagnostics(error: InvalidWorkflow) -> list[dict[str, Any]]:
    """Return the diagnostics of the error, with line and column if the file is not JSON."""
    position = {key: error.ids[key] for key in ("line", "column") if key in error.ids}
    return [{**one, **position} for one in error.ids["diagnostics"]]


def read_source_text(service: Service, given: str) -> SourceText | None:
    """Return the file of the workflow that the command line names, or None if it cannot be read."""
    try:
        file, display_path = locate_file(service, given)
    except UraniborgError:
        return None
    return SourceText.read(file, display_path)


def summarize_severities(diagnostics: Sequence[Plain]) -> str:
    """Return the number of errors and warnings, such as `1 error and 2 warnings`."""
    counts = [(sum(one["severity"] == kind for one in diagnostics), kind) for kind in _STYLES]
    return " and ".join(plural(count, kind) for count, kind in counts if count)


def print_diagnostics(page: Page, diagnostics: Sequence[Plain], text: SourceText | None = None) -> None:
    """Print errors first, then warnings, each with its help."""
    ordered = sorted(diagnostics, key=lambda one: one["severity"] != "error")
    for one in ordered[:MOST_PRINTED]:
        _print_diagnostic(page, one, text)
        page.write_line()
    if len(ordered) > MOST_PRINTED:
        page.write_line(f"… and {len(ordered) - MOST_PRINTED:,} more; --json lists all.")
        page.write_line()


def _print_diagnostic(page: Page, one: Plain, text: SourceText | None) -> None:
    style = _STYLES[one["severity"]]
    page.write_line(Painted(style, f"{one['severity']}[{one['code']}]"), Painted(BOLD, f": {one['message']}"))
    position = text.find_position(one) if text else None
    if text and position:
        where = f"{text.display_path}:{position.line}:{position.column}"
        page.write_line(Painted(CYAN, "  --> "), where, Painted(DIM, f"  {one['path']}".rstrip()))
        _print_excerpt(page, text.lines[position.line - 1], position, style)
    elif one["path"]:
        page.write_line(Painted(CYAN, "  --> "), one["path"])
    for label, text_line in _collect_help(one):
        page.write_line("  ", Painted(CYAN, "= "), Painted(DIM, f"{label}: "), text_line)


def _print_excerpt(page: Page, line: str, position: Position, style: str) -> None:
    """Print the part of the line that fits, with a mark below the value."""
    at = position.column - 1
    room = min(_EXCERPT, page.width - 10)
    start = 0 if at + position.length <= room else max(0, at - room // 2)
    end = start + room
    before, marked = (
        clean_text(part.replace("\t", " ")) for part in (line[start:at], line[at : min(end, at + position.length)])
    )
    margin = " " * len(str(position.line))
    page.write_line(Painted(CYAN, f" {position.line} | "), line[start:end].replace("\t", " "))
    mark = "^" * max(1, measure_width(marked))
    page.write_line(Painted(CYAN, f" {margin} | "), " " * measure_width(before), Painted(style, mark))


def _collect_help(one: Plain) -> list[tuple[str, str]]:
    nearest, available = one.get("nearest"), one.get("available")
    lines: list[tuple[str, str]] = []
    if nearest:
        lines.append(("did you mean", str(nearest)))
    if hint := one.get("hint"):
        lines.append(("hint", str(hint)))
    if available and not nearest:
        lines.append(("available", ", ".join(map(str, available))))
    if one.get("example") not in (None, nearest):
        lines.append(("example", to_json_text(one["example"])))
    return lines
