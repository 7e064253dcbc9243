"""What the commands write: JSON for programs; for people text in columns, painted where colour is welcome.

Everything for people is cleaned here: secrets are masked, and control characters shown instead of obeyed.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TextIO

from uraniborg.kernel.cli import can_use_color
from uraniborg.kernel.logging import printable, redact

BOLD: Final = "1"
DIM: Final = "2"
RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"
CYAN: Final = "36"
_WIDTH: Final = 100
"""Columns where nobody says how many there are."""
_GAP: Final = 2
_DEEPEST: Final = 16
_BELOW: Final = 3
"""How far what is put below a line is indented."""
_LEAST: Final = 24
"""Columns that a text of several words needs."""
_WORDY: Final = 16
_NARROWEST: Final = 8
"""To how few columns a column is cut so that others have room."""
_LEAST_ROOM: Final = 20
"""Columns with which a page can do; where there are fewer, lines are longer than they should be."""


class Painted(NamedTuple):
    """A piece of a line in another colour, if there are colours."""

    style: str
    text: str


Piece = str | Painted


Last = Literal["cut", "wrapped", "below"]


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


def print_json(value: Any, stream: TextIO | None = None) -> None:
    """One line, in UTF-8 whatever the terminal prefers; on stdout unless told otherwise."""
    out = stream or sys.stdout
    data = f"{json_text(value)}\n".encode("utf-8", "backslashreplace")
    if hasattr(out, "buffer"):
        out.flush()
        out.buffer.write(data)
    else:
        out.write(data.decode())


def write(stream: TextIO, text: str) -> None:
    """Also what the stream has no letters for."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def say(label: str, style: str, text: str) -> None:
    """A message on stderr, such as `warning: …`; further lines of it are indented."""
    with contextlib.suppress(OSError):
        Page(sys.stderr).labelled(label, style, text)
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
        self._is_colored = can_use_color(self._stream)
        self._columns = room_of(self._stream)
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
        """Wrapped, with the lines that it has, each as far from the edge as it is."""
        for line in clean(text, keep="\n").split("\n"):
            edge = " " * (indent + min(len(line) - len(line.lstrip(" ")), _DEEPEST))
            for part in wrapped(line, max(_LEAST, self.width - len(edge))):
                self.line(edge, Painted(style, part))

    def labelled(self, label: str, style: str, text: str) -> None:
        """Such as `error: …`; further lines of it are indented."""
        first, *more = clean(text, keep="\n").split("\n")
        self.line(Painted(style, f"{label}:"), f" {first}")
        for line in more:
            self.line(f"  {line}")

    def table(self, rows: Iterable[Sequence[Piece]], *, indent: int = 2, last: Last = "cut") -> None:
        """Columns as wide as what is in them. Where lines are bounded, all of them fit; `last` says what becomes of a
        last cell that does not: it is cut, or goes on below, or is cut and put below as a whole."""
        cells = [[_cell(piece, in_full=last == "wrapped") for piece in row] for row in rows]
        count = max(map(len, cells), default=0)
        widths = [max(columns(row[at].text) for row in cells if len(row) > at) for at in range(count)]
        if self._columns is not None and widths:
            widths = _fitting(widths, self._columns - indent, last)
        for row in cells:
            line: list[Piece] = [" " * indent]
            used = indent
            for cell, width in zip(row[:-1], widths, strict=False):
                shown = cut(cell.text, width)
                taken = width + (_GAP if width else 0)
                line += [Painted(cell.style, shown), " " * (taken - columns(shown))]
                used += taken
            self._end(line, row[-1], used, indent, last)

    def _end(self, line: list[Piece], cell: Painted, used: int, indent: int, last: Last) -> None:
        """The line with its last cell, which takes the room that is left."""
        room = columns(cell.text) if self._columns is None else max(1, self._columns - used)
        if columns(cell.text) <= room or last == "cut":
            self.line(*line, Painted(cell.style, cut(cell.text, room)))
            return
        is_beside = last == "wrapped" and room >= _LEAST
        start = used if is_beside else indent + _BELOW
        parts = wrapped(cell.text, self.width - start) if last == "wrapped" else [cut(cell.text, self.width - start)]
        self.line(*line, Painted(cell.style, parts.pop(0))) if is_beside else self.line(*line)
        for part in parts:
            self.line(" " * start, Painted(cell.style, part))

    def shown(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return clean(piece)
        text = clean(piece.text)
        return f"\x1b[{piece.style}m{text}\x1b[0m" if self._is_colored and piece.style and text else text


def _fitting(widths: list[int], room: int, last: Last) -> list[int]:
    """The widths of columns so that there is room for the last: the widest others have less. What has few letters, such
    as a name or a time, only if there is no other way."""
    *others, wanted = widths
    wishes = [(_WORDY, 0 if last == "below" else min(wanted, _LEAST)), (_NARROWEST, min(wanted, 1))]
    for narrowest, needed in wishes:
        while others and max(others) > narrowest and sum(width + _GAP for width in others if width) + needed > room:
            others[others.index(max(others))] -= 1
    return [*others, wanted]


def brief(value: Any, most: int = 60) -> str:
    """A value in one line: text as it is, everything else as JSON."""
    text = clean(value if isinstance(value, str) else json_text(value), keep="\n")
    return cut(text.strip("\n").replace("\n", "⏎"), most)


def minute(moment: str | None) -> str:
    return (moment or "")[:16].replace("T", " ")


def _cell(piece: Piece, *, in_full: bool) -> Painted:
    """Clean before it is measured: what is shown instead of a control character is longer. Without line breaks, which
    no cell can have: of what has lines the first is shown, or if all of it is to be, its words."""
    style, text = ("", piece) if isinstance(piece, str) else piece
    text = clean(text, keep="\n")
    return Painted(style, " ".join(text.split()) if in_full and "\n" in text else first_line(text))


def room_of(stream: TextIO) -> int | None:
    """How many columns there are: as COLUMNS or the terminal says. None for what is none: nothing need be cut there."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and len(given) < 6 and int(given) > 0:
        return max(_LEAST_ROOM, int(given))
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None


def columns(text: str) -> int:
    """How wide a terminal shows it."""
    return len(text) if text.isascii() else sum(map(_width_of, text))


def cut(text: str, most: int, mark: str = "…") -> str:
    """The text, or as much of it as fits with the mark that it goes on."""
    if columns(text) <= most:
        return text
    left = most - columns(mark)
    for place, char in enumerate(text):
        left -= _width_of(char)
        if left < 0:
            return text[:place] + mark
    return text + mark


def first_line(text: str) -> str:
    """The first line that says something, with a sign if there are more."""
    if "\n" not in text:
        return text
    first, _, more = text.strip().partition("\n")
    return f"{first.rstrip()} …" if more else first


def wrapped(text: str, most: int) -> list[str]:
    """Its words in lines that fit. A word that is too long for any line is cut into pieces."""
    lines = [""]
    for given in text.split():
        word = given
        while columns(f"{lines[-1]} {word}".lstrip()) > most:
            if lines[-1]:
                lines.append("")
                continue
            piece = cut(word, most, "") or word[0]
            lines[-1], word = piece, word[len(piece) :]
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _width_of(char: str) -> int:
    import unicodedata  # most texts need it not

    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
