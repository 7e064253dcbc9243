"""Paragraphs with hanging indents that fit the terminal, and 80 columns where there is none."""

from typing import Final

from rich.console import Console
from rich.text import Text

_NARROWEST: Final = 40
_PLAIN: Final = 80
"""Of files and pipes."""
_WIDEST: Final = 120
"""Longer lines are hard to read, on any terminal."""


def print_paragraph(out: Console, label: str, text: str) -> None:
    """Print a label and a text whose further lines begin below the first word; both are markup."""
    first = Text.from_markup(label)
    width = max(_NARROWEST, min(out.width, _WIDEST) if out.is_terminal else _PLAIN) - first.cell_len
    for number, line in enumerate(Text.from_markup(text).wrap(out, width)):
        line.rstrip()
        out.print(Text.assemble(first if number == 0 else " " * first.cell_len, line))
