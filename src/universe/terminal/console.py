"""Consoles, safe text, and paragraphs with hanging indents that fit the terminal."""

import sys
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from uraniborg.kernel.cli import PIPED_TABLE_WIDTH, get_terminal_columns
from uraniborg.kernel.logging import make_printable

_MIN_WIDTH: Final = 40
_PLAIN_WIDTH: Final = 80
"""The width of paragraphs in files and pipes."""
_MAX_WIDTH: Final = 120
"""Longer lines are hard to read on any terminal."""


def make_console(width: int | None = None) -> Console:
    """Return a console on stdout that does not cut or wrap lines; in a pipe, it does not wrap tables either.

    `width` is that of the terminal for None.
    """
    return Console(
        highlight=False, soft_wrap=True, width=width or get_terminal_columns(sys.stdout) or PIPED_TABLE_WIDTH
    )


def escape_text(text: str) -> str:
    """Return text from a universe without control characters and markup."""
    return escape(make_printable(text, keep=""))


def print_paragraph(console: Console, label_markup: str, text_markup: str) -> None:
    """Print a label and a text whose further lines are indented below its first word; both are markup."""
    first = Text.from_markup(label_markup)
    full_width = min(console.width, _MAX_WIDTH) if console.is_terminal else _PLAIN_WIDTH
    width = max(_MIN_WIDTH, full_width) - first.cell_len
    for number, line in enumerate(Text.from_markup(text_markup).wrap(console, width)):
        line.rstrip()
        console.print(Text.assemble(first if number == 0 else " " * first.cell_len, line))
