"""Write for a person: lines, paragraphs, tables and trees that fit the terminal, in its colours."""

import contextlib
import sys
from collections.abc import Iterable, Sequence
from typing import Final, TextIO

from uraniborg.kernel.terminal.layout import LEAST_COLUMNS, Branch, InnerCells, LastCell, lay_out_table, lay_out_tree
from uraniborg.kernel.terminal.streams import can_use_color, flush_stderr, get_terminal_columns, write_text
from uraniborg.kernel.terminal.styled_text import (
    BOLD,
    Piece,
    StyledText,
    clean_pieces,
    join_pieces,
    measure_width,
    slice_pieces,
    split_lines,
    wrap_pieces,
)

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
        used = measure_width(start.text)
        hanging = used if hanging is None else hanging
        for line in split_lines(clean_pieces(pieces[1:] or pieces, keep_chars=keep_chars)):
            text = join_pieces(line)
            spaces = len(text) - len(text.lstrip(" "))
            is_cut = width is not None and used + measure_width(text) > width
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
