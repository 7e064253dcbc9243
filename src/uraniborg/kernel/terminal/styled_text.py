"""Style text for people: cleaned, measured in columns, cut and wrapped."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from uraniborg.kernel.logging import make_printable, redact
from uraniborg.kernel.terminal.output_streams import format_json

BOLD: Final = "1"
DIM: Final = "2"
RED: Final = "31"
GREEN: Final = "32"
YELLOW: Final = "33"
BLUE: Final = "34"
MAGENTA: Final = "35"
CYAN: Final = "36"
_WORD: Final = re.compile(r"\S+")


class StyledText(NamedTuple):
    """A piece of a line in another colour, if there are colours."""

    style: str
    text: str


Piece = str | StyledText


def make_color_style(hex_color: str) -> str:
    """Return the style of the nearest colour, of the 256 that terminals have, to one such as `#ffcc00`."""
    red, green, blue = (round(int(hex_color[at : at + 2], 16) / 51) for at in (1, 3, 5))
    return f"38;5;{16 + 36 * red + 6 * green + blue}"


def mask_and_escape_text(text: str, *, keep_chars: str = "") -> str:
    return make_printable(redact(text), keep=keep_chars)


def clean_pieces(pieces: Iterable[Piece], *, keep_chars: str = "") -> list[StyledText]:
    """Return the pieces with secrets masked and control characters escaped."""
    styled = (StyledText("", piece) if isinstance(piece, str) else piece for piece in pieces)
    return [StyledText(style, mask_and_escape_text(text, keep_chars=keep_chars)) for style, text in styled]


def join_pieces(pieces: Iterable[StyledText]) -> str:
    """Return the pieces as text without styles."""
    return "".join(piece.text for piece in pieces)


def slice_pieces(pieces: Iterable[StyledText], start: int, end: int) -> list[StyledText]:
    """Return the pieces of this part of their text."""
    found: list[StyledText] = []
    at = 0
    for style, text in pieces:
        if part := text[max(0, start - at) : max(0, end - at)]:
            found.append(StyledText(style, part))
        at += len(text)
    return found


def split_lines(pieces: Sequence[StyledText]) -> Iterator[list[StyledText]]:
    """Yield the pieces of each line."""
    start = 0
    for line in join_pieces(pieces).split("\n"):
        yield slice_pieces(pieces, start, start + len(line))
        start += len(line) + 1


def measure_plain_width(text: str) -> int:
    """Return the number of columns that a text takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_measure_char, text))


def _measure_char(char: str) -> int:
    import unicodedata  # most texts do not need it

    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cut_to_width(text: str, max_width: int, mark: str = "…") -> str:
    """Return the text, cut to this width with a mark at its end if it is too long."""
    if measure_plain_width(text) <= max_width:
        return text
    left = max_width - measure_plain_width(mark)
    for index, char in enumerate(text):
        left -= _measure_char(char)
        if left < 0:
            return text[:index] + mark
    return text + mark


def wrap_pieces(
    pieces: Sequence[StyledText], first_width: int, width: int, *, cuts_words: bool
) -> list[list[StyledText]]:
    """Return the pieces in lines of at most `width` columns, the first of `first_width`.

    A word that is too long for a line is cut, or else stays whole, so that it can be copied.
    """
    text = join_pieces(pieces)
    return [slice_pieces(pieces, *span) for span in _find_lines(text, first_width, width, cuts_words=cuts_words)]


def wrap_words(text: str, max_width: int) -> list[str]:
    """Return the text in lines of at most `max_width` columns. Words that are too long for a line are cut."""
    return [text[start:end] for start, end in _find_lines(text, max_width, max_width, cuts_words=True)]


def wrap_text(text: str, width: int, *, indent: str = "", hanging: str = "", cuts_words: bool = False) -> list[str]:
    """Return the text in lines that begin with an indent; `hanging` is that of further lines."""
    text = " ".join(text.split())
    spans = _find_lines(text, width - len(indent), width - len(hanging), cuts_words=cuts_words)
    return [f"{hanging if number else indent}{text[start:end]}" for number, (start, end) in enumerate(spans)]


def _find_lines(text: str, room: int, width: int, *, cuts_words: bool) -> list[tuple[int, int]]:
    """Return the start and the end of each line; `room` are the columns of the first one."""
    lines: list[tuple[int, int]] = []
    start = end = -1
    for word in _WORD.finditer(text):
        if start >= 0:
            if measure_plain_width(text[start : word.end()]) <= room:
                end = word.end()
                continue
            lines.append((start, end))
            room = width
        start, end = word.span()
        while cuts_words and measure_plain_width(text[start:end]) > room:
            cut = start + (len(cut_to_width(text[start:end], room, "")) or 1)
            lines.append((start, cut))
            start, room = cut, width
    return [*lines, (start, end)] if start >= 0 else [(0, 0)]


def get_first_line_with_mark(text: str) -> str:
    """Return the first line that is not empty, with a mark if more lines follow."""
    if "\n" not in text:
        return text
    first, _, more = text.strip().partition("\n")
    return f"{first.rstrip()} …" if more else first


def format_on_one_line(value: Any, max_width: int = 60) -> str:
    """Return a value in one line: text unchanged, other values as JSON."""
    text = mask_and_escape_text(value if isinstance(value, str) else format_json(value), keep_chars="\n")
    return cut_to_width(text.strip("\n").replace("\n", "⏎"), max_width)
