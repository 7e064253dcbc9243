"""What the checker found, told as a compiler does: what is wrong, where, how it looks there, and how it is right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pflow.cli.json_positions import Position, Positions
from pflow.cli.printing import BOLD, CYAN, DIM, RED, YELLOW, Page, Painted, clean, columns, json_text
from pflow.cli.sources import place_of
from pflow.errors import InvalidWorkflow
from pflow.service import Service
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.text import plural

MOST: Final = 50
"""How many are told of; JSON has all."""
_LARGEST: Final = 2_000_000
_EXCERPT: Final = 100
_STYLES: Final = {"error": RED, "warning": YELLOW}
_ABOUT_KEYS: Final = ("unknown_key", "unknown_param", "ignored_key")

Plain = Mapping[str, Any]


@dataclass(frozen=True)
class SourceText:
    """The file that the diagnostics are about, and how it is called."""

    told: str
    text: str

    @classmethod
    def read(cls, file: Path, told: str) -> "SourceText | None":
        """None for a file in which nothing can be shown."""
        try:
            if file.stat().st_size > _LARGEST:
                return None
            return cls(told, file.read_bytes().decode())
        except (OSError, ValueError):
            return None

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _positions(self) -> Positions | None:
        """Where what is, if it is JSON."""
        try:
            return Positions(self.text)
        except ValueError:
            return None

    def position(self, one: Plain) -> Position | None:
        if "line" in one:
            found: Position | None = Position(one["line"], one["column"])
        else:
            is_key = one["code"] in _ABOUT_KEYS
            found = self._positions.of(one["path"], key=is_key) if self._positions else None
        return found if found and found.line <= len(self.lines) else None

    def located(self, one: Plain) -> dict[str, Any]:
        """The diagnostic with its line and column."""
        found = self.position(one)
        return {**one, "line": found.line, "column": found.column} if found else dict(one)


def diagnostics_of(error: InvalidWorkflow) -> list[dict[str, Any]]:
    """Those that the error carries; the one of a file that is no JSON says where that is."""
    place = {key: error.ids[key] for key in ("line", "column") if key in error.ids}
    return [{**one, **place} for one in error.ids["diagnostics"]]


def text_of(service: Service, given: str) -> SourceText | None:
    """The file of what the command line named, if it can be shown."""
    try:
        file, told = place_of(service, given)
    except UraniborgError:
        return None
    return SourceText.read(file, told)


def summary(diagnostics: Sequence[Plain]) -> str:
    """1 error and 2 warnings."""
    counts = [(sum(one["severity"] == kind for one in diagnostics), kind) for kind in _STYLES]
    return " and ".join(plural(count, kind) for count, kind in counts if count)


def tell_diagnostics(page: Page, diagnostics: Sequence[Plain], text: SourceText | None = None) -> None:
    """Errors first, each with all that helps."""
    ordered = sorted(diagnostics, key=lambda one: one["severity"] != "error")
    for one in ordered[:MOST]:
        _tell(page, one, text)
        page.line()
    if len(ordered) > MOST:
        page.line(f"… and {len(ordered) - MOST:,} more; --json lists all.")
        page.line()


def _tell(page: Page, one: Plain, text: SourceText | None) -> None:
    style = _STYLES[one["severity"]]
    page.line(Painted(style, f"{one['severity']}[{one['code']}]"), Painted(BOLD, f": {one['message']}"))
    position = text.position(one) if text else None
    if text and position:
        where = f"{text.told}:{position.line}:{position.column}"
        page.line(Painted(CYAN, "  --> "), where, Painted(DIM, f"  {one['path']}".rstrip()))
        _tell_excerpt(page, text.lines[position.line - 1], position, style)
    elif one["path"]:
        page.line(Painted(CYAN, "  --> "), one["path"])
    for label, told in _help(one):
        page.line("  ", Painted(CYAN, "= "), Painted(DIM, f"{label}: "), told)


def _tell_excerpt(page: Page, line: str, position: Position, style: str) -> None:
    """The line, as much of it as can be seen, with a mark below the value."""
    at = position.column - 1
    room = min(_EXCERPT, page.width - 10)
    start = 0 if at + position.length <= room else max(0, at - room // 2)
    end = start + room
    before, marked = (
        clean(part.replace("\t", " ")) for part in (line[start:at], line[at : min(end, at + position.length)])
    )
    margin = " " * len(str(position.line))
    page.line(Painted(CYAN, f" {position.line} | "), line[start:end].replace("\t", " "))
    mark = "^" * max(1, columns(marked))
    page.line(Painted(CYAN, f" {margin} | "), " " * columns(before), Painted(style, mark))


def _help(one: Plain) -> list[tuple[str, str]]:
    nearest, available = one.get("nearest"), one.get("available")
    told: list[tuple[str, str]] = []
    if nearest:
        told.append(("did you mean", str(nearest)))
    if hint := one.get("hint"):
        told.append(("hint", str(hint)))
    if available and not nearest:
        told.append(("available", ", ".join(map(str, available))))
    if one.get("example") not in (None, nearest):
        told.append(("example", json_text(one["example"])))
    return told
