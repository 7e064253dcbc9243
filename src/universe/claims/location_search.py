"""Find the location that a source names in the text of a paper: a row under its header, or a passage."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from universe.claims.stated_numbers import Location
from universe.claims.written_numbers import MOST_CHARS, normalise_number_text

_RULE: Final = re.compile(r"[\s|:+-]*-{2,}[\s|:+-]*")
_WORD: Final = re.compile(r"[a-z]+|[0-9]+")
_DIGITS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "01234567890123456789")
_MOST_TEXT: Final = 20_000_000


def is_location_in_text(location: Location, text: str) -> bool:
    """Return True if the text contains the row, below its header if it has one, or the passage."""
    text = text[:_MOST_TEXT]
    if not location.row:
        return _normalise_for_comparison(location.passage) in _normalise_for_comparison(text)
    row, header = _Cells(location.row), _Cells(location.header)
    return any(_has_row_in_table(table, row, header) for table in _find_tables(text)) or _has_row_in_plain_lines(
        text, row, header
    )


def _has_row_in_table(table: Sequence[str], row: "_Cells", header: "_Cells") -> bool:
    """Return True if a table contains the row below the header. Lines that cannot match are skipped early."""
    columns: dict[int, set[tuple[int, ...]]] = {}
    for line in table:
        may_be_row, may_be_header = row.can_be_in(line), bool(header.cells) and header.can_be_in(line)
        if not (may_be_row or may_be_header):
            continue
        cells = [_normalise_for_comparison(cell) for cell in _split_cells(line)]
        if not header.cells and _find_columns(cells, row.cells):
            return True
        if any([cells[column] for column in one] == row.cells for one in columns.get(len(cells), ())):
            return True
        if may_be_header and (found := _find_columns(cells, header.cells)):
            columns.setdefault(len(cells), set()).add(tuple(found))
    return False


class _Cells:
    """The cells of a row or header, with a fast test for lines that cannot contain them."""

    def __init__(self, written: Sequence[str]) -> None:
        self.cells = [_normalise_for_comparison(cell) for cell in written]
        self._words = set(
            _WORD.findall(" ".join(normalise_number_text(cell) for cell in written).translate(_DIGITS).casefold())
        )

    def can_be_in(self, line: str) -> bool:
        line = line.translate(_DIGITS).casefold()
        return all(word in line for word in self._words)


def _find_columns(cells: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return the columns of `cells` with the wanted cells, in order; an empty list if one is missing."""
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


def _find_tables(text: str) -> Iterator[list[str]]:
    """Yield the tables of a markdown or LaTeX text as lines."""
    table: list[str] = []
    for line in text.splitlines():
        if _split_cells(line):
            table.append(line)
        elif table and not line.strip().startswith(("\\hline", "%")):
            yield table
            table = []
    if table:
        yield table


def _split_cells(line: str) -> list[str]:
    line = line.strip()
    if line.startswith("|") or line.count("|") > 1:
        cells = re.split(r"(?<!\\)\|", line.strip("|"))
        return [] if len(cells) < 2 else [cell.replace("\\|", "|") for cell in cells]
    if line.count("&") and re.search(r"\\\\|\\cr\b|\\tabularnewline", line):
        return re.split(r"(?<!\\)&", re.sub(r"(?:\\\\|\\cr\b|\\tabularnewline).*$", "", line))
    return []


def _has_row_in_plain_lines(text: str, row: _Cells, header: _Cells) -> bool:
    """Return True if a line of plain text, as from a PDF, contains the row and an earlier line the header."""
    wanted, above = "".join(row.cells), "".join(header.cells)
    has_header = not above
    if len(row.cells) < 2 or not wanted:
        return False
    for line in text.splitlines():
        may_be_header = not has_header and header.can_be_in(line)
        if not (may_be_header or (has_header and row.can_be_in(line))) or _split_cells(line):
            continue
        squashed = _normalise_for_comparison(line)
        if has_header and re.search(rf"(?<![\d.]){re.escape(wanted)}(?![\d.]\d|\d)", squashed):
            return True
        has_header = has_header or above in squashed
    return False


def _normalise_for_comparison(text: str) -> str:
    """Return the text in lower case, without spaces, braces, index marks and quotation marks."""
    pieces = (normalise_number_text(text[at : at + MOST_CHARS]) for at in range(0, len(text), MOST_CHARS))
    return re.sub(r"[\s{}_\"'“”‘’]+", "", "".join(pieces)).casefold()
