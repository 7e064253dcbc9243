"""How much room a text takes, and how it is made to fit into the room there is."""

import os
from typing import Final, TextIO

_LEAST: Final = 20
"""Columns with which a page can do; where there are fewer, lines are longer than they should be."""


def room_of(stream: TextIO) -> int | None:
    """How many columns there are: as COLUMNS or the terminal says. None for what is none: nothing need be cut there."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and len(given) < 6 and int(given) > 0:
        return max(_LEAST, int(given))
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
