"""Write for a person: lines, paragraphs, tables and trees, laid out to fit the terminal, in its colours."""

import contextlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TextIO

from uraniborg.kernel.terminal.output_streams import can_use_color, flush_stderr, get_terminal_columns, write_text
from uraniborg.kernel.terminal.styled_text import (
    BOLD,
    Piece,
    StyledText,
    clean_pieces,
    cut_to_width,
    get_first_line_with_mark,
    join_pieces,
    measure_plain_width,
    slice_pieces,
    split_lines,
    wrap_pieces,
    wrap_words,
)

_GAP: Final = 2
_BELOW: Final = 3
"""Indentation of text that is put below its line."""
LEAST_COLUMNS: Final = 24
"""Columns that a text of several words needs."""
_WORDY: Final = 16
_NARROWEST: Final = 8
"""The least width to which a column is cut so that the last one fits."""

LastCell = Literal["cut", "wrapped", "below"]
InnerCells = Literal["cut", "wrapped"]
Line = list[StyledText]


def lay_out_table(
    rows: Iterable[Sequence[Piece]],
    columns: int | None,
    *,
    headings: Sequence[str] = (),
    right_aligned: Iterable[int] = (),
    indent: int = 2,
    last_cell: LastCell = "cut",
    inner_cells: InnerCells = "cut",
) -> Iterator[Line]:
    """Yield the lines of a table that fits these columns, or of any width for None. Headings may have several lines.

    `last_cell` is how to shorten the last cell: cut it, wrap it beside the others, or cut it on a line below.
    `inner_cells` is how to shorten the others.
    """
    cells = [*_make_heading_rows(headings), *([_make_cell(piece, last_cell) for piece in row] for row in rows)]
    count = max(map(len, cells), default=0)
    widths = [max(measure_plain_width(row[at].text) for row in cells if len(row) > at) for at in range(count)]
    right = {at % count for at in right_aligned} if count else set[int]()
    if columns is not None and widths:
        widths = _fit_widths(widths, columns - indent, last_cell)
    for *others, last in cells:
        blocks = [
            wrap_words(cell.text, max(1, width)) if inner_cells == "wrapped" else [cut_to_width(cell.text, width)]
            for cell, width in zip(others, widths, strict=False)
        ]
        start = indent + sum(width + _GAP for width in widths[: len(others)] if width)
        beside, below = _split_last_cell(last.text, start, columns, indent, last_cell)
        for at in range(max(map(len, [beside, *blocks]))):
            line = [StyledText("", " " * indent)]
            for number, (cell, block, width) in enumerate(zip(others, blocks, widths, strict=False)):
                line += _align(cell.style, block[at : at + 1], width, is_right=number in right)
                line.append(StyledText("", " " * _GAP if width else ""))
            is_right = len(others) == count - 1 and count - 1 in right
            yield [*line, *_align(last.style, beside[at : at + 1], widths[-1], is_right=is_right)]
        for text in below:
            yield [StyledText("", " " * (indent + _BELOW)), StyledText(last.style, text)]


def format_table(rows: Iterable[Sequence[str]], columns: int | None, *, right_aligned: Iterable[int] = ()) -> list[str]:
    """Return the lines of a table as text without styles."""
    lines = lay_out_table(rows, columns, right_aligned=right_aligned, indent=0)
    return [join_pieces(line).rstrip() for line in lines]


def _make_heading_rows(headings: Sequence[str]) -> list[list[StyledText]]:
    """Return the rows of headings, of which those with fewer lines are at the bottom."""
    lines = [heading.split("\n") for heading in headings]
    height = max(map(len, lines), default=0)
    return [
        [StyledText(BOLD, one[at + len(one) - height] if at + len(one) >= height else "") for one in lines]
        for at in range(height)
    ]


def _make_cell(piece: Piece, last_cell: LastCell) -> StyledText:
    """Return a cleaned cell on one line: the first line of the text, or all of its words if it may be wrapped."""
    ((style, text),) = clean_pieces([piece], keep_chars="\n")
    is_joined = last_cell == "wrapped" and "\n" in text
    return StyledText(style, " ".join(text.split()) if is_joined else get_first_line_with_mark(text))


def _align(style: str, texts: Sequence[str], width: int, *, is_right: bool) -> Line:
    """Return the text, of which there may be none, with the spaces that fill its column."""
    text = "".join(texts)
    padding = " " * (width - measure_plain_width(text))
    return [StyledText(style, padding + text)] if is_right else [StyledText(style, text), StyledText("", padding)]


def _split_last_cell(
    text: str, start: int, columns: int | None, indent: int, last_cell: LastCell
) -> tuple[list[str], list[str]]:
    """Return the lines of the last cell, which gets the remaining columns: those beside the others, and those below."""
    room = measure_plain_width(text) if columns is None else max(1, columns - start)
    if columns is None or measure_plain_width(text) <= room or last_cell == "cut":
        return [cut_to_width(text, room)], []
    if last_cell == "wrapped" and room >= LEAST_COLUMNS:
        return wrap_words(text, room), []
    width = columns - indent - _BELOW
    return [""], wrap_words(text, width) if last_cell == "wrapped" else [cut_to_width(text, width)]


def _fit_widths(widths: list[int], room: int, last_cell: LastCell) -> list[int]:
    """Return widths that leave room for the last column.

    The widest columns shrink first; narrow ones, such as names and times, only if nothing else helps.
    """
    *others, wanted = widths
    wishes = [(_WORDY, 0 if last_cell == "below" else min(wanted, LEAST_COLUMNS)), (_NARROWEST, min(wanted, 1))]
    for narrowest, needed in wishes:
        while others and max(others) > narrowest and sum(width + _GAP for width in others if width) + needed > room:
            others[others.index(max(others))] -= 1
    return [*others, wanted]


@dataclass
class Branch:
    """A line of a tree, and the branches below it."""

    pieces: Sequence[Piece]
    branches: list["Branch"] = field(default_factory=list["Branch"])

    def add(self, *pieces: Piece) -> "Branch":
        """Add a branch, and return it."""
        branch = Branch(pieces)
        self.branches.append(branch)
        return branch


def lay_out_tree(root: Branch, columns: int | None) -> Iterator[Line]:
    """Yield the lines of a tree; long ones are wrapped to these columns, beside the lines that join the branches."""
    waiting = [(root, "", "")]
    while waiting:
        branch, start, indent = waiting.pop()
        stem = indent + ("│   " if branch.branches else "    ")
        pieces = clean_pieces(branch.pieces)
        whole = measure_plain_width(join_pieces(pieces))
        rooms = [whole if columns is None else max(LEAST_COLUMNS, columns - len(edge)) for edge in (indent, stem)]
        for number, line in enumerate(wrap_pieces(pieces, *rooms, cuts_words=True)):
            yield [StyledText("", stem if number else start), *line]
        last = len(branch.branches) - 1
        for at, one in reversed([*enumerate(branch.branches)]):
            fork, bar = ("└── ", "    ") if at == last else ("├── ", "│   ")
            waiting.append((one, indent + fork, indent + bar))


PLAIN_WIDTH: Final = 80
"""Columns of files and pipes, if COLUMNS does not give a number."""
_MOST_COLUMNS: Final = 120
"""Longer lines are hard to read on any terminal."""
_DEEPEST: Final = 16


class Page:
    """Text for a person, by default on stdout. Secrets are masked, and control characters escaped.

    A line is never wrapped, so that it can be copied. A message is wrapped on a terminal. A paragraph is also wrapped
    in files and pipes, to COLUMNS or 80 columns. A table fits a terminal and COLUMNS.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._is_colored = can_use_color(self._stream)
        self._columns = get_terminal_columns(self._stream)
        self._paragraph_width = min(self.width, _MOST_COLUMNS)
        self._is_terminal = self._stream.isatty()
        self._is_empty = True

    @property
    def width(self) -> int:
        """The length of a line."""
        return self._columns or PLAIN_WIDTH

    def write_line(self, *pieces: Piece) -> None:
        """Write a line as it is."""
        self._write(clean_pieces(pieces))

    def write_heading(self, text: str) -> None:
        """Write a heading, after an empty line unless it is the first line."""
        if not self._is_empty:
            self.write_line()
        self.write_line(StyledText(BOLD, text))

    def write_message(self, *pieces: Piece, hanging: int | None = None, keeps_lines: bool = False) -> None:
        """Write a text; of several pieces the first is a label, and further lines begin below the end of the label.

        `hanging` is another indentation of further lines. Line breaks in the text are kept, or else escaped.
        """
        width = self._paragraph_width if self._is_terminal else None
        self._write_wrapped(pieces, width, hanging, keep_chars="\n" if keeps_lines else "")

    def write_paragraph(self, *pieces: Piece, keeps_lines: bool = False) -> None:
        """Write a text; of several pieces the first is a label, and further lines begin below the end of the label."""
        self._write_wrapped(pieces, self._paragraph_width, None, keep_chars="\n" if keeps_lines else "")

    def write_table(
        self,
        rows: Iterable[Sequence[Piece]],
        *,
        headings: Sequence[str] = (),
        right_aligned: Iterable[int] = (),
        indent: int = 2,
        last_cell: LastCell = "cut",
        inner_cells: InnerCells = "cut",
    ) -> None:
        """Write rows in columns, as `lay_out_table` lays them out."""
        lines = lay_out_table(
            rows,
            self._columns,
            headings=headings,
            right_aligned=right_aligned,
            indent=indent,
            last_cell=last_cell,
            inner_cells=inner_cells,
        )
        for line in lines:
            self._write(line)

    def write_tree(self, root: Branch) -> None:
        """Write a tree; in files and pipes each branch is one line."""
        for line in lay_out_tree(root, self._columns if self._is_terminal else None):
            self._write(line)

    def _write_wrapped(
        self, pieces: Sequence[Piece], width: int | None, hanging: int | None, *, keep_chars: str
    ) -> None:
        """Write the text in lines of this width, or unwrapped for None; each line keeps its own indentation."""
        (start,) = clean_pieces(pieces[:1] if len(pieces) > 1 else [""])
        used = measure_plain_width(start.text)
        hanging = used if hanging is None else hanging
        for line in split_lines(clean_pieces(pieces[1:] or pieces, keep_chars=keep_chars)):
            text = join_pieces(line)
            spaces = len(text) - len(text.lstrip(" "))
            is_cut = width is not None and used + measure_plain_width(text) > width
            edge = StyledText("", " " * (min(spaces, _DEEPEST) if is_cut else spaces))
            body = slice_pieces(line, spaces, len(text))
            rooms = (max(LEAST_COLUMNS, width - len(edge.text) - taken) for taken in (used, hanging)) if width else ()
            for part in wrap_pieces(body, *rooms, cuts_words=False) if width else [body]:
                self._write([start, edge, *part])
                start, used = StyledText("", " " * hanging), hanging

    def _write(self, pieces: Sequence[StyledText]) -> None:
        end = len(join_pieces(pieces).rstrip())
        write_text(self._stream, "".join(map(self._paint, slice_pieces(pieces, 0, end))) + "\n")
        self._is_empty = False

    def render_piece(self, piece: Piece) -> str:
        """Return the piece with its colour."""
        return "".join(map(self._paint, clean_pieces([piece])))

    def _paint(self, piece: StyledText) -> str:
        style, text = piece
        return f"\x1b[{style}m{text}\x1b[0m" if self._is_colored and style and text else text


def print_stderr_message(label: str, style: str, text: str) -> None:
    """Print a message on stderr, such as `warning: …`; further lines are indented."""
    with contextlib.suppress(OSError):
        Page(sys.stderr).write_message(StyledText(style, f"{label}: "), text, hanging=2, keeps_lines=True)
    flush_stderr()
