"""Print for programs as JSON, and for people in columns and colours.

Text for people is cleaned here: secrets are masked, and control characters are escaped.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple, TextIO

from uraniborg.kernel.cli import can_use_color, get_terminal_columns
from uraniborg.kernel.logging import make_printable, redact

BOLD: Final = "1"
DIM: Final = "2"
RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"
CYAN: Final = "36"
_WIDTH: Final = 100
"""Columns to assume if neither COLUMNS nor a terminal gives a number."""
_GAP: Final = 2
_DEEPEST: Final = 16
_BELOW: Final = 3
"""Indentation of text that is put below its line."""
_LEAST: Final = 24
"""Columns that a text of several words needs."""
_WORDY: Final = 16
_NARROWEST: Final = 8
"""The least width to which a column is cut so that the last one fits."""


class StyledText(NamedTuple):
    """A piece of a line in another colour, if there are colours."""

    style: str
    text: str


Piece = str | StyledText


LastCell = Literal["cut", "wrapped", "below"]


def mask_and_escape_text(text: str, *, keep_chars: str = "") -> str:
    return make_printable(redact(text), keep=keep_chars)


def format_json(value: Any, *, indented: bool = False) -> str:
    """Return the value as JSON; values without a JSON form become text."""
    import orjson

    option = orjson.OPT_NON_STR_KEYS | (orjson.OPT_INDENT_2 if indented else 0)
    try:
        return orjson.dumps(value, default=str, option=option).decode()
    except orjson.JSONEncodeError:  # integers beyond 64 bits, half characters
        import json

        return json.dumps(value, default=str, indent=2 if indented else None)


def print_json(value: Any, stream: TextIO | None = None) -> None:
    """Print the value as one line of UTF-8 JSON, by default on stdout."""
    out = stream or sys.stdout
    data = f"{format_json(value)}\n".encode("utf-8", "backslashreplace")
    if hasattr(out, "buffer"):
        out.flush()
        out.buffer.write(data)
    else:
        out.write(data.decode())


def write_text(stream: TextIO, text: str) -> None:
    """Write a text; characters that the stream cannot encode are escaped."""
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def print_stderr_message(label: str, style: str, text: str) -> None:
    """Print a message on stderr, such as `warning: …`; further lines are indented."""
    with contextlib.suppress(OSError):
        Page(sys.stderr).write_labelled_message(label, style, text)
    flush_stderr()


def flush_stderr() -> None:
    """Flush stderr; if it is closed, discard the rest so that the exit code stays the same."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


class Page:
    """Text for a person, by default on stdout."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._is_colored = can_use_color(self._stream)
        self._columns = get_terminal_columns(self._stream)
        self._is_empty = True

    @property
    def width(self) -> int:
        """The length of a line."""
        return self._columns or _WIDTH

    def write_line(self, *pieces: Piece) -> None:
        """Write a line; one that is a single text and does not fit the terminal is wrapped."""
        rest: list[str] = []
        if len(pieces) == 1 and isinstance(pieces[0], str):
            first, *rest = self._wrap_to_terminal(pieces[0], 0)
            pieces = (first,)
        write_text(self._stream, "".join(map(self.render_piece, pieces)).rstrip() + "\n")
        self._is_empty = False
        for part in self._wrap_to_terminal(" ".join(rest), 2) if rest else []:
            self.write_line(f"  {part}")

    def write_heading(self, text: str) -> None:
        """Write a heading, after an empty line unless it is the first line."""
        if not self._is_empty:
            self.write_line()
        self.write_line(StyledText(BOLD, text))

    def write_paragraph(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """Write wrapped text; each line keeps its own indentation."""
        for line in mask_and_escape_text(text, keep_chars="\n").split("\n"):
            edge = " " * (indent + min(len(line) - len(line.lstrip(" ")), _DEEPEST))
            for part in wrap_words(line, max(_LEAST, self.width - len(edge))):
                self.write_line(edge, StyledText(style, part))

    def write_labelled_message(self, label: str, style: str, text: str) -> None:
        """Write a message with a label, such as `error: …`; further lines are indented."""
        first, *more = mask_and_escape_text(text, keep_chars="\n").split("\n")
        start, *rest = self._wrap_to_terminal(first, len(label) + 2)
        self.write_line(StyledText(style, f"{label}:"), f" {start}")
        for line in (*rest, *more):
            for part in self._wrap_to_terminal(line, 2):
                self.write_line(f"  {part}")

    def _wrap_to_terminal(self, line: str, indent: int) -> list[str]:
        """Return the line in parts that fit the terminal after an indent; a line that begins with a space is code."""
        if self._columns is None or measure_width(line) + indent <= self._columns or line.startswith(" "):
            return [line]
        return wrap_words(line, max(_LEAST, self._columns - indent))

    def write_table(self, rows: Iterable[Sequence[Piece]], *, indent: int = 2, last_cell: LastCell = "cut") -> None:
        """Write rows in columns that fit the terminal.

        `last_cell` is how to shorten the last cell: cut it, wrap it beside the others, or cut it on a line below.
        """
        cells = [[_make_cell(piece, in_full=last_cell == "wrapped") for piece in row] for row in rows]
        count = max(map(len, cells), default=0)
        widths = [max(measure_width(row[at].text) for row in cells if len(row) > at) for at in range(count)]
        if self._columns is not None and widths:
            widths = _fit_widths(widths, self._columns - indent, last_cell)
        for row in cells:
            line: list[Piece] = [" " * indent]
            used = indent
            for cell, width in zip(row[:-1], widths, strict=False):
                cut_text = cut_to_width(cell.text, width)
                taken = width + (_GAP if width else 0)
                line += [StyledText(cell.style, cut_text), " " * (taken - measure_width(cut_text))]
                used += taken
            self._write_last_cell(line, row[-1], used, indent, last_cell)

    def _write_last_cell(
        self, line: list[Piece], cell: StyledText, used: int, indent: int, last_cell: LastCell
    ) -> None:
        """Write the line with its last cell, which gets the remaining columns."""
        room = measure_width(cell.text) if self._columns is None else max(1, self._columns - used)
        if measure_width(cell.text) <= room or last_cell == "cut":
            self.write_line(*line, StyledText(cell.style, cut_to_width(cell.text, room)))
            return
        is_beside = last_cell == "wrapped" and room >= _LEAST
        start = used if is_beside else indent + _BELOW
        parts = (
            wrap_words(cell.text, self.width - start)
            if last_cell == "wrapped"
            else [cut_to_width(cell.text, self.width - start)]
        )
        self.write_line(*line, StyledText(cell.style, parts.pop(0))) if is_beside else self.write_line(*line)
        for part in parts:
            self.write_line(" " * start, StyledText(cell.style, part))

    def render_piece(self, piece: Piece) -> str:
        if isinstance(piece, str):
            return mask_and_escape_text(piece)
        text = mask_and_escape_text(piece.text)
        return f"\x1b[{piece.style}m{text}\x1b[0m" if self._is_colored and piece.style and text else text


def _fit_widths(widths: list[int], room: int, last_cell: LastCell) -> list[int]:
    """Return widths that leave room for the last column.

    The widest columns shrink first; narrow ones, such as names and times, only if nothing else helps.
    """
    *others, wanted = widths
    wishes = [(_WORDY, 0 if last_cell == "below" else min(wanted, _LEAST)), (_NARROWEST, min(wanted, 1))]
    for narrowest, needed in wishes:
        while others and max(others) > narrowest and sum(width + _GAP for width in others if width) + needed > room:
            others[others.index(max(others))] -= 1
    return [*others, wanted]


def format_on_one_line(value: Any, max_width: int = 60) -> str:
    """Return a value in one line: text unchanged, other values as JSON."""
    text = mask_and_escape_text(value if isinstance(value, str) else format_json(value), keep_chars="\n")
    return cut_to_width(text.strip("\n").replace("\n", "⏎"), max_width)


def format_to_minute(timestamp: str | None) -> str:
    return (timestamp or "")[:16].replace("T", " ")


def format_duration(milliseconds: float) -> str:
    """Return a duration for people: 12 ms, 1.2 s, 3 min 05 s."""
    if milliseconds < 999.5:
        return "<1 ms" if milliseconds < 1 else f"{milliseconds:.0f} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _make_cell(piece: Piece, *, in_full: bool) -> StyledText:
    """Return a cleaned cell on one line: the first line of the text, or all of its words if `in_full`."""
    style, text = ("", piece) if isinstance(piece, str) else piece
    text = mask_and_escape_text(text, keep_chars="\n")
    return StyledText(style, " ".join(text.split()) if in_full and "\n" in text else get_first_line_with_mark(text))


def measure_width(text: str) -> int:
    """Return the number of columns that a text takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_measure_char, text))


def cut_to_width(text: str, max_width: int, mark: str = "…") -> str:
    """Return the text, cut to this width with a mark at its end if it is too long."""
    if measure_width(text) <= max_width:
        return text
    left = max_width - measure_width(mark)
    for index, char in enumerate(text):
        left -= _measure_char(char)
        if left < 0:
            return text[:index] + mark
    return text + mark


def get_first_line_with_mark(text: str) -> str:
    """Return the first line that is not empty, with a mark if more lines follow."""
    if "\n" not in text:
        return text
    first, _, more = text.strip().partition("\n")
    return f"{first.rstrip()} …" if more else first


def wrap_words(text: str, max_width: int) -> list[str]:
    """Return the text in lines of at most `max_width` columns. Words that are too long for a line are cut."""
    lines = [""]
    for given in text.split():
        word = given
        while measure_width(f"{lines[-1]} {word}".lstrip()) > max_width:
            if lines[-1]:
                lines.append("")
                continue
            piece = cut_to_width(word, max_width, "") or word[0]
            lines[-1], word = piece, word[len(piece) :]
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _measure_char(char: str) -> int:
    import unicodedata  # most texts do not need it

    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
