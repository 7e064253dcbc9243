"""Print diagnostics as compilers do: the problem, its position, an excerpt and the fix."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pflow.cli.json_positions import Position, Positions
from pflow.cli.workflow_sources import locate_workflow_file
from pflow.errors import InvalidWorkflow
from pflow.service import Service
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.streams import format_json
from uraniborg.kernel.terminal.styled_text import (
    BOLD,
    CYAN,
    DIM,
    RED,
    YELLOW,
    StyledText,
    mask_and_escape_text,
    measure_width,
)
from uraniborg.kernel.text import plural

if TYPE_CHECKING:
    from pflow.workflow_replies import Diagnostic

MOST_PRINTED: Final = 50
"""How many diagnostics are printed; --json lists all."""
_LARGEST: Final = 2_000_000
_EXCERPT: Final = 100
_STYLES: Final = {"error": RED, "warning": YELLOW}
_ABOUT_KEYS: Final = ("unknown_key", "unknown_param", "ignored_key")


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

    def find_position(self, diagnostic: "Diagnostic") -> Position | None:
        if "line" in diagnostic and "column" in diagnostic:
            found: Position | None = Position(diagnostic["line"], diagnostic["column"])
        else:
            is_key = diagnostic["code"] in _ABOUT_KEYS
            found = self._positions.find_position(diagnostic["path"], of_key=is_key) if self._positions else None
        return found if found and found.line <= len(self.lines) else None

    def copy_with_position(self, diagnostic: "Diagnostic") -> "Diagnostic":
        """Return the diagnostic with its line and column."""
        found = self.find_position(diagnostic)
        return {**diagnostic, "line": found.line, "column": found.column} if found else diagnostic


def get_error_diagnostics(error: InvalidWorkflow) -> "list[Diagnostic]":
    """Return the diagnostics of the error, with line and column if the file is not JSON."""
    found: list[Diagnostic] = error.ids["diagnostics"]
    if "line" not in error.ids:
        return found
    return [{**one, "line": error.ids["line"], "column": error.ids["column"]} for one in found]


def read_workflow_text(service: Service, name_or_path: str) -> SourceText | None:
    """Return the file of the workflow that the command line names, or None if it cannot be read."""
    try:
        file, display_path = locate_workflow_file(service, name_or_path)
    except UraniborgError:
        return None
    return SourceText.read(file, display_path)


def summarize_severities(diagnostics: "Sequence[Diagnostic]") -> str:
    """Return the number of errors and warnings, such as `1 error and 2 warnings`."""
    counts = [(sum(one["severity"] == kind for one in diagnostics), kind) for kind in _STYLES]
    return " and ".join(plural(count, kind) for count, kind in counts if count)


def print_diagnostics(page: Page, diagnostics: "Sequence[Diagnostic]", source: SourceText | None = None) -> None:
    """Print errors first, then warnings, each with its help."""
    ordered = sorted(diagnostics, key=lambda one: one["severity"] != "error")
    for one in ordered[:MOST_PRINTED]:
        _print_diagnostic(page, one, source)
        page.write_line()
    if len(ordered) > MOST_PRINTED:
        page.write_line(f"… and {len(ordered) - MOST_PRINTED:,} more; --json lists all.")
        page.write_line()


def _print_diagnostic(page: Page, diagnostic: "Diagnostic", source: SourceText | None) -> None:
    style = _STYLES[diagnostic["severity"]]
    page.write_message(
        StyledText(style, f"{diagnostic['severity']}[{diagnostic['code']}]"),
        StyledText(BOLD, f": {diagnostic['message']}"),
        hanging=2,
    )
    position = source.find_position(diagnostic) if source else None
    if source and position:
        where = f"{source.display_path}:{position.line}:{position.column}"
        page.write_line(StyledText(CYAN, "  --> "), where, StyledText(DIM, f"  {diagnostic['path']}".rstrip()))
        _print_excerpt(page, source.lines[position.line - 1], position, style)
    elif diagnostic["path"]:
        page.write_line(StyledText(CYAN, "  --> "), diagnostic["path"])
    for label, text_line in _collect_help_lines(diagnostic):
        page.write_line("  ", StyledText(CYAN, "= "), StyledText(DIM, f"{label}: "), text_line)


def _print_excerpt(page: Page, line: str, position: Position, style: str) -> None:
    """Print the part of the line that fits, with a mark below the value."""
    at = position.column - 1
    room = min(_EXCERPT, page.width - 10)
    start = 0 if at + position.length <= room else max(0, at - room // 2)
    end = start + room
    before, marked = (
        mask_and_escape_text(part.replace("\t", " "))
        for part in (line[start:at], line[at : min(end, at + position.length)])
    )
    margin = " " * len(str(position.line))
    page.write_line(StyledText(CYAN, f" {position.line} | "), line[start:end].replace("\t", " "))
    mark = "^" * max(1, measure_width(marked))
    page.write_line(StyledText(CYAN, f" {margin} | "), " " * measure_width(before), StyledText(style, mark))


def _collect_help_lines(diagnostic: "Diagnostic") -> list[tuple[str, str]]:
    nearest, available = diagnostic.get("nearest"), diagnostic.get("available")
    lines: list[tuple[str, str]] = []
    if nearest:
        lines.append(("did you mean", str(nearest)))
    if hint := diagnostic.get("hint"):
        lines.append(("hint", str(hint)))
    if available and not nearest:
        lines.append(("available", ", ".join(map(str, available))))
    if (example := diagnostic.get("example")) not in (None, nearest):
        lines.append(("example", format_json(example)))
    return lines
