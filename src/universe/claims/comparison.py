"""Find a location in the text of its paper: the row under its header, or the passage."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from universe.claims.locations import Location
from universe.claims.numbers import MOST_CHARS, plain_text

_RULE: Final = re.compile(r"[\s|:+-]*-{2,}[\s|:+-]*")
_MOST_TEXT: Final = 20_000_000


def is_in_text(location: Location, text: str) -> bool:
    """Return whether the text contains the row, under the header if there is one, or the passage."""
    text = text[:_MOST_TEXT]
    if not location.row:
        return _squash(location.passage) in _squash(text)
    row, header = [_squash(cell) for cell in location.row], [_squash(cell) for cell in location.header]
    return any(_has_row(table, row, header) for table in _tables(text)) or _has_line(text, row, header)


def _has_row(table: Sequence[Sequence[str]], row: Sequence[str], header: Sequence[str]) -> bool:
    for at, cells in enumerate(table):
        if not header and _columns(cells, row):
            return True
        columns = (_columns(above, header) for above in table[:at] if header and len(above) == len(cells))
        if any([cells[column] for column in one] == list(row) for one in columns):
            return True
    return False


def _columns(cells: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the columns of `cells` that hold the wanted cells in their order; empty if one is missing."""
    if list(cells) == list(wanted):
        return list(range(len(wanted)))
    found: list[int] = []
    for one in wanted:
        start = found[-1] + 1 if found else 0
        try:
            found.append(list(cells).index(one, start))
        except ValueError:
            return []
    return found


def _tables(text: str) -> Iterator[list[list[str]]]:
    """Yield the tables of a markdown or LaTeX text as rows of cells."""
    table: list[list[str]] = []
    for line in text.splitlines():
        cells = _split(line)
        if cells:
            table.append([_squash(cell) for cell in cells])
        elif table and not line.strip().startswith(("\\hline", "%")):
            yield table
            table = []
    if table:
        yield table


def _split(line: str) -> list[str]:
    line = line.strip()
    if line.startswith("|") or line.count("|") > 1:
        cells = re.split(r"(?<!\\)\|", line.strip("|"))
        return [] if len(cells) < 2 else [cell.replace("\\|", "|") for cell in cells]
    if line.count("&") and re.search(r"\\\\|\\cr\b|\\tabularnewline", line):
        return re.split(r"(?<!\\)&", re.sub(r"(?:\\\\|\\cr\b|\\tabularnewline).*$", "", line))
    return []


def _has_line(text: str, row: Sequence[str], header: Sequence[str]) -> bool:
    """Look for the row in text without marks between cells, as a PDF gives it: one line, the header in one before."""
    wanted, above = "".join(row), "".join(header)
    has_header = not above
    if len(row) < 2 or not wanted:
        return False
    for line in text.splitlines():
        if _split(line):
            continue
        squashed = _squash(line)
        if has_header and re.search(rf"(?<![\d.]){re.escape(wanted)}(?![\d.]\d|\d)", squashed):
            return True
        has_header = has_header or above in squashed
    return False


def _squash(text: str) -> str:
    """Return the plain text without spaces, braces, marks of indices and quotation marks, in one case."""
    pieces = (plain_text(text[at : at + MOST_CHARS]) for at in range(0, len(text), MOST_CHARS))
    return re.sub(r"[\s{}_\"'“”‘’]+", "", "".join(pieces)).casefold()
