"""Print diagnostics as compilers do: the problem, its line and column, an excerpt and the fix."""

import json
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pflow.cli.workflow_sources import locate_workflow_file
from pflow.errors import InvalidWorkflow
from pflow.service.operations import Service
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.terminal.output_streams import format_json
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.styled_text import (
    BOLD,
    CYAN,
    DIM,
    RED,
    YELLOW,
    StyledText,
    mask_and_escape_text,
    measure_plain_width,
)

if TYPE_CHECKING:
    from pflow.service.workflow_replies import Diagnostic


_TOKEN: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_STEP: Final = re.compile(r"[.\[/]")
"""The characters that begin a step of a path. A slash precedes the path inside a nested workflow."""
_LONGEST_PATH: Final = 2_000


class TextPosition(NamedTuple):
    """Line and column are counted from 1."""

    line: int
    column: int
    length: int = 1


class _PositionedValue:
    """A value: where it and its key begin and end, and if values are in it, these by key, or by place as `[0]`."""

    __slots__ = ("inner", "key", "span")

    def __init__(self, span: tuple[int, int], key: tuple[int, int] | None = None) -> None:
        self.span = span
        self.key = key
        self.inner: dict[str, _PositionedValue] | None = None


class JsonPositions:
    """The positions of the values of a workflow in a JSON text, wrapped under `ir` or not.

    Raise ValueError if the text is not JSON.
    """

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._root = _parse_value_tree(text)
        inner = self._root.inner or {}
        if "ir" in inner and "nodes" not in inner:
            self._root = inner["ir"]

    def find_position(self, path: str, *, of_key: bool = False) -> TextPosition | None:
        """Return the position of the value or of its key; if the value is missing, that of the object around it."""
        found = _find_deepest_value(self._root, path[:_LONGEST_PATH])[1]
        if found is self._root:
            return None
        start, end = (of_key and found.key) or found.span
        line = bisect_right(self._starts, start)
        return TextPosition(line, start - self._starts[line - 1] + 1, end - start)


def _parse_value_tree(text: str) -> _PositionedValue:
    """Return the tree of values in a JSON text, without recursion."""
    outermost = _PositionedValue((0, 0))
    values: dict[str, _PositionedValue] = {}
    outermost.inner = values
    around: list[tuple[dict[str, _PositionedValue], bool]] = []
    takes_keys, name, key = False, "", None
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign in "]}":
            if not around:
                raise ValueError("The text is not JSON.")
            values, takes_keys = around.pop()
        elif takes_keys and key is None and sign[0] == '"':
            name, key = str(json.loads(sign)), token.span()
        elif sign not in ",:":
            value = values[name if key else f"[{len(values)}]"] = _PositionedValue(token.span(), key)
            key = None
            if sign in "[{":
                around.append((values, takes_keys))
                values, takes_keys = {}, sign == "{"
                value.inner = values
    if "[0]" not in outermost.inner:
        raise ValueError("The text is not JSON.")
    return outermost.inner["[0]"]


def _find_deepest_value(value: _PositionedValue, path: str) -> tuple[int, _PositionedValue]:
    """Return the deepest existing value on the path, and the length of the path to it.

    A key may itself contain dots, brackets and slashes, so every prefix of the path is tried as a key.
    """
    best = 0, value
    start = 1 if path.startswith((".", "/")) else 0
    for end in (*(sign.start() for sign in _STEP.finditer(path, start + 1)), len(path)):
        if inner := (value.inner or {}).get(path[start:end]):
            length, found = _find_deepest_value(inner, path[end:])
            best = max(best, (end + length, found), key=lambda one: one[0])
    return best


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
    def _positions(self) -> JsonPositions | None:
        """The positions of all values, or None if the text is not JSON."""
        try:
            return JsonPositions(self.text)
        except ValueError:
            return None

    def find_position(self, diagnostic: "Diagnostic") -> TextPosition | None:
        if "line" in diagnostic and "column" in diagnostic:
            found: TextPosition | None = TextPosition(diagnostic["line"], diagnostic["column"])
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


def _print_excerpt(page: Page, line: str, position: TextPosition, style: str) -> None:
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
    mark = "^" * max(1, measure_plain_width(marked))
    page.write_line(StyledText(CYAN, f" {margin} | "), " " * measure_plain_width(before), StyledText(style, mark))


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
