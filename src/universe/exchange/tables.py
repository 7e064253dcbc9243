"""Tables as text: CSV, TSV and JSON lists of rows, read into columns and cells, and numbers in cells."""

import csv
import io
import json
import math
import re
from dataclasses import dataclass, field
from typing import Any, Final, cast

from universe.exchange.errors import ImportRefused
from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.csv_cells import restore_cell
from uraniborg.kernel.json_values import JsonObject

MAX_BYTES: Final = 64_000_000
MAX_ROWS: Final = 100_000
_MAX_COLUMNS: Final = 2_000
_MAX_CELL: Final = 100_000
_PAGE: Final = re.compile(r"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_SHOWN: Final = 60

Row = dict[str, str]
"""Cells by column; empty cells are left out."""


@dataclass
class Table:
    """Columns with their units, rows, and the comments above them. `problems` are rows that cannot be read."""

    units: dict[str, str]
    rows: list[tuple[int, Row]]
    """The number of each row, counted from 1, and its cells."""
    comments: list[str] = field(default_factory=list[str])
    problems: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    notes: list[str] = field(default_factory=list[str])

    def has_columns(self, *names: str) -> bool:
        """Return True if the table has all of these columns."""
        return all(name in self.units for name in names)


def decode_text(content: bytes) -> str:
    """Return the content as text. Raise ImportRefused for content that is too long, not UTF-8, or a web page."""
    if len(content) > MAX_BYTES:
        raise make_too_large_error(len(content))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise ImportRefused(
            f"The content is not UTF-8 text: byte {exc.start} cannot be read.",
            hint="Save the table as CSV or VOTable in UTF-8.",
        ) from None
    if not text.strip():
        raise ImportRefused("The content is empty.", hint="Check the file or the download.")
    if _PAGE.match(text):
        raise ImportRefused(
            "The content is a web page (HTML), not a table.",
            hint="The address of the download may be wrong, or the service was busy: open the file in a browser.",
        )
    return text


def make_too_large_error(size: int, limit: int = MAX_BYTES) -> ImportRefused:
    """Return the error for content of more than `limit` bytes."""
    return ImportRefused(
        f"The content has {size:,} bytes; at most {limit:,} can be imported.",
        hint="Select fewer rows or columns, for example one system.",
        allowed=f"at most {limit} bytes",
    )


def parse_csv(text: str) -> Table:
    """Return the table of a CSV or TSV text with one header line. Lines that begin with # are comments.

    Raise ImportRefused for a text without a header or rows. Rows with another number of cells are problems.
    """
    lines = text.splitlines(keepends=True)
    comments: list[str] = []
    while lines and (lines[0].startswith("#") or not lines[0].strip()):
        comments.append(lines.pop(0).lstrip("# ").rstrip())
    if not lines:
        raise ImportRefused("The table has no header line.", hint="The first line must name the columns.")
    reader = csv.reader(io.StringIO("".join(lines), newline=""), delimiter=_choose_delimiter(lines[0]), strict=True)
    csv.field_size_limit(_MAX_CELL)
    try:
        header = [name.strip().lower() for name in next(reader)]
    except csv.Error as exc:
        raise ImportRefused(f"The header line is not CSV: {exc}.", hint="Quote names that contain commas.") from None
    table = Table(_check_header(header), [], comments)
    number = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as exc:
            table.problems.append((number + 1, f"line {reader.line_num} is not CSV ({exc}); the rest was not read"))
            break
        if not any(cell.strip() for cell in cells):
            continue
        number += 1
        _check_row_count(number)
        if len(cells) != len(header):
            table.problems.append(
                (number, f"it has {len(cells)} of {len(header)} cells; the file may be cut off or edited")
            )
            continue
        table.rows.append(
            (
                number,
                {name: restore_cell(cell.strip()) for name, cell in zip(header, cells, strict=True) if cell.strip()},
            )
        )
    return table


def parse_json_rows(content: bytes) -> Table:
    """Return the table of a JSON list of objects, as TAP services return it. Raise ImportRefused."""
    try:
        given = parse_json(content)
    except json.JSONDecodeError as exc:
        raise ImportRefused(
            f"The content is not JSON: {exc.msg} at line {exc.lineno}.", hint="The file may be cut off."
        ) from None
    rows = cast("list[Any]", given) if isinstance(given, list) else []
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise ImportRefused(
            "The JSON is not a list of rows.", hint="Ask the service for format=json, or for format=csv."
        )
    names = list(dict.fromkeys(str(name).lower() for row in rows for name in cast("JsonObject", row)))
    table = Table(_check_header(names), [])
    for number, row in enumerate(rows, start=1):
        _check_row_count(number)
        cells = {str(name).lower(): _format_cell(value) for name, value in cast("JsonObject", row).items()}
        table.rows.append((number, {name: cell for name, cell in cells.items() if cell}))
    return table


def parse_number(row: Row, name: str) -> float | None:
    """Return the number of a cell, or None if it is empty. Raise ValueError with a sentence for anything else."""
    text = row.get(name)
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"{name} is '{text[:_SHOWN]}', which is not a number") from None
    if not math.isfinite(value):
        raise ValueError(f"{name} is {text[:_SHOWN]}, which is not a finite number")
    return value


def _choose_delimiter(header: str) -> str:
    return max(",\t;|", key=header.count)


def _check_header(names: list[str]) -> dict[str, str]:
    """Return the columns without units. Raise ImportRefused for too many, unnamed or repeated columns."""
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(names) <= _MAX_COLUMNS else []
    if len(names) > _MAX_COLUMNS or repeated or not any(names):
        problem = (
            f"the column '{repeated[0][:_SHOWN]}' occurs more than once" if repeated else "it is not a list of names"
        )
        raise ImportRefused(f"The header line cannot be used: {problem}.", hint="Name each column once.")
    return dict.fromkeys(names, "")


def _check_row_count(number: int) -> None:
    if number > MAX_ROWS:
        raise ImportRefused(
            f"The table has more than {MAX_ROWS:,} rows.",
            hint="Select fewer rows, for example one system.",
            allowed=f"at most {MAX_ROWS} rows",
        )


def _format_cell(value: Any) -> str:
    if value is None or isinstance(value, (dict, list)):
        return ""
    return repr(value) if isinstance(value, float) else str(value).strip()
