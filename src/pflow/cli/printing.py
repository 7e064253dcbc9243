"""What the commands write: JSON for programs; for people text in columns, painted where colour is welcome.

Everything for people is cleaned here: secrets are masked, and control characters shown instead of obeyed.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, TextIO

from uraniborg.kernel.logging import printable, redact
from uraniborg.kernel.terminal import use_color

BOLD: Final = "1"
DIM: Final = "2"
RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"
CYAN: Final = "36"

_WIDTH: Final = 100
"""Columns where nobody says how many there are."""


class Painted(NamedTuple):
    """A piece of a line in another colour, if there are colours."""

    style: str
    text: str


Piece = str | Painted


def clean(text: str, *, keep: str = "") -> str:
    return printable(redact(text), keep=keep)


def json_text(value: Any, *, indented: bool = False) -> str:
    """As JSON, whatever it is: what has no such form is told as text."""
    import orjson

    option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indented else 0)
    try:
        return orjson.dumps(value, default=str, option=option).decode()
    except orjson.JSONEncodeError:  # integers beyond 64 bits, half characters
        import json

        return json.dumps(value, default=str, indent=2 if indented else None)


def print_json(value: Any) -> None:
    """One line, in UTF-8 whatever the terminal prefers."""
    data = f"{json_text(value)}\n".encode("utf-8", "backslashreplace")
    if hasattr(sys.stdout, "buffer"):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    else:
        sys.stdout.write(data.decode())


def write(stream: TextIO, text: str) -> None:
    """Also what the stream has no letters for."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def say(label: str, style: str, text: str) -> None:
    """A message on stderr, such as `warning: …`; further lines of it are indented."""
    page = Page(sys.stderr)
    first, *more = clean(text, keep="\n").split("\n")
    with contextlib.suppress(OSError):
        page.line(Painted(style, f"{label}:"), f" {first}")
        for line in more:
            page.line(f"  {line}")
    settle_stderr()


def settle_stderr() -> None:
    """Whether anybody hears what is said there changes nothing: what it still holds may go nowhere."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


class Page:
    """Text for a person, on stdout unless told otherwise."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._is_colored = use_color(self._stream)
        self._columns = _columns_of(self._stream)
        self._is_empty = True

    @property
    def width(self) -> int:
        """How long lines should be."""
        return self._columns or _WIDTH

    def line(self, *pieces: Piece) -> None:
        write(self._stream, "".join(map(self.shown, pieces)).rstrip() + "\n")
        self._is_empty = False

    def heading(self, text: str) -> None:
        """With a line before it, unless it is the first."""
        if not self._is_empty:
            self.line()
        self.line(Painted(BOLD, text))

    def paragraph(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """Wrapped, with the lines that it has."""
        import textwrap

        for line in clean(text, keep="\n").split("\n"):
            for part in textwrap.wrap(line, max(20, self.width - indent)) or [""]:
                self.line(" " * indent, Painted(style, part))

    def table(self, rows: Iterable[Sequence[Piece]], *, indent: int = 2) -> None:
        """Columns as wide as what is in them. On a terminal the last is cut where the line would not fit."""
        cells = [[_cell(piece) for piece in row] for row in rows]
        if not cells:
            return
        count = max(map(len, cells))
        widths = [max(columns(row[at].text) for row in cells if len(row) > at) for at in range(count)]
        for row in cells:
            line: list[Piece] = [" " * indent]
            used = indent
            for at, cell in enumerate(row):
                if at == len(row) - 1:
                    line.append(self._cut(cell, used))
                    break
                padding = widths[at] - columns(cell.text) + (2 if widths[at] else 0)
                line += [cell, " " * padding]
                used += columns(cell.text) + padding
            self.line(*line)

    def _cut(self, cell: Painted, used: int) -> Painted:
        if self._columns is None:
            return cell
        return Painted(cell.style, cut(cell.text, max(20, self._columns - used)))

    def shown(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return clean(piece)
        text = clean(piece.text)
        return f"\x1b[{piece.style}m{text}\x1b[0m" if self._is_colored and piece.style and text else text


def columns(text: str) -> int:
    """How wide a terminal shows it."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.category(char) in ("Mn", "Me", "Cf") else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def cut(text: str, most: int) -> str:
    if columns(text) <= most:
        return text
    kept = text[: most - 1]
    while columns(kept) > most - 1:
        kept = kept[:-1]
    return f"{kept}…"


def counted(number: int, thing: str) -> str:
    """1 node, 2 nodes."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def brief(value: Any, most: int = 60) -> str:
    """A value in one line: text as it is, everything else as JSON."""
    return cut(clean(value if isinstance(value, str) else json_text(value)), most)


def minute(moment: str | None) -> str:
    return (moment or "")[:16].replace("T", " ")


def _cell(piece: Piece) -> Painted:
    """Clean before it is measured: what is shown instead of a control character is longer."""
    return Painted("", clean(piece)) if isinstance(piece, str) else Painted(piece.style, clean(piece.text))


def _columns_of(stream: TextIO) -> int | None:
    """None for what is no terminal, where nothing need be cut."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None
