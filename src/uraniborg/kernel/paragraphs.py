"""Paragraphs with hanging indents that fit the terminal."""

from typing import TYPE_CHECKING, Final

from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_WIDTH: Final = 80
"""The width of paragraphs in files and pipes."""
_MIN_WIDTH: Final = 40
_MAX_WIDTH: Final = 120
"""Longer lines are hard to read on any terminal."""


def print_paragraph(
    console: "Console", label_markup: str, text_markup: str, *, piped_width: int | None = PLAIN_WIDTH
) -> None:
    """Print a label and a text whose further lines are indented below its first word; both are markup.

    In a file or a pipe, lines have `piped_width` columns; None does not wrap them.
    """
    first, text = Text.from_markup(label_markup), Text.from_markup(text_markup)
    if not console.is_terminal and piped_width is None:
        console.print(Text.assemble(first, text), soft_wrap=True)
        return
    full_width = min(console.width, _MAX_WIDTH) if console.is_terminal else piped_width or PLAIN_WIDTH
    width = max(_MIN_WIDTH, full_width) - first.cell_len
    for number, line in enumerate(text.wrap(console, width)):
        line.rstrip()
        console.print(Text.assemble(first if number == 0 else " " * first.cell_len, line), soft_wrap=True)
