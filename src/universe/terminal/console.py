"""Print to stdout with safe text."""

import sys

from rich.console import Console
from rich.markup import escape

from uraniborg.kernel.cli import PIPED_TABLE_WIDTH, get_terminal_columns
from uraniborg.kernel.logging import make_printable


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
