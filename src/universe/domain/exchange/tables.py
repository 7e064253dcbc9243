"""Tables as text: CSV, TSV, JSON lists of rows and VOTable, read into columns and cells.

Of VOTable, which is read defensively, only TABLEDATA is read. Errors that services send inside a VOTable are reported
as such.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast
from xml.sax.saxutils import escape, quoteattr

from universe.errors import ImportRefused
from uraniborg.kernel.boundary import parse_json, restore_cell
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
class ParsedTable:
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


def parse_csv(text: str) -> ParsedTable:
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
    table = ParsedTable(_check_header(header), [], comments)
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


def parse_json_rows(content: bytes) -> ParsedTable:
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
    table = ParsedTable(_check_header(names), [])
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


_NAMESPACE: Final = "http://www.ivoa.net/xml/VOTable/v1.3"
_ENCODINGS: Final = ("BINARY", "BINARY2", "FITS", "PARQUET")


def parse_votable(content: bytes) -> ParsedTable:
    """Return the first table of a VOTable. Raise ImportRefused for XML that is not one, and for reported errors."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException, ElementTree

    try:
        root = ElementTree.fromstring(content, forbid_dtd=False)
    except DefusedXmlException:
        raise ImportRefused(
            "The XML defines entities, which are not read.", hint="Remove the definitions of entities."
        ) from None
    except (ParseError, ValueError) as exc:
        raise ImportRefused(f"The XML cannot be read: {exc}.", hint="The file may be cut off.") from None
    if _get_tag(root) != "VOTABLE":
        raise ImportRefused(
            f"The XML is not a VOTable: its root element is '{_get_tag(root)[:60]}'.", hint="Ask for format=votable."
        )
    return _read_first_table(root)


def _read_first_table(root: Iterable[object]) -> ParsedTable:
    from xml.etree.ElementTree import Element

    table: ParsedTable | None = None
    notes: list[str] = []
    names: list[str] = []
    assert isinstance(root, Element)
    for element in root.iter():
        tag = _get_tag(element)
        if tag == "INFO":
            _check_info(element.get("name", ""), element.get("value", ""), element.text or "", notes)
        elif tag == "TABLE" and table is None:
            fields = [child for child in element if _get_tag(child) == "FIELD"]
            names = [(child.get("name") or child.get("ID") or "").strip().lower() for child in fields]
            units = {name: (child.get("unit") or "").strip() for name, child in zip(names, fields, strict=True)}
            if len(units) < len(names):
                raise ImportRefused("Two columns of the VOTable have the same name.", hint="Name each column once.")
            table = ParsedTable(units, [])
            _read_rows(element, names, table)
        elif tag in _ENCODINGS:
            raise ImportRefused(
                f"The VOTable is encoded as {tag}, which is not read.",
                hint="Ask for the serialization TABLEDATA, or for CSV.",
            )
    if table is None:
        raise ImportRefused("The VOTable has no table.", hint="The query may have failed: open the file in an editor.")
    table.notes.extend(notes)
    return table


def _read_rows(element: "Iterable[object]", names: Sequence[str], table: ParsedTable) -> None:
    from xml.etree.ElementTree import Element

    assert isinstance(element, Element)
    number = 0
    for row in element.iter():
        if _get_tag(row) != "TR":
            continue
        number += 1
        if number > MAX_ROWS:
            raise ImportRefused(f"The VOTable has more than {MAX_ROWS:,} rows.", hint="Select fewer rows.")
        cells = [(cell.text or "").strip() for cell in row if _get_tag(cell) == "TD"]
        if len(cells) != len(names):
            table.problems.append((number, f"it has {len(cells)} of {len(names)} cells"))
            continue
        filled = {name: cell for name, cell in zip(names, cells, strict=True) if cell and cell.lower() != "nan"}
        table.rows.append((number, filled))


def _check_info(name: str, value: str, text: str, notes: list[str]) -> None:
    """Raise ImportRefused for an error that the service reports; note that a result was cut."""
    if name.lower() == "error" or (name == "QUERY_STATUS" and value.upper() == "ERROR"):
        message = " ".join((text if value.upper() == "ERROR" else value or text).split())
        raise ImportRefused(
            f"The service reported an error instead of a table: {message[:300] or 'without a reason'}",
            hint="Repeat the query later, or correct it.",
        )
    if name == "QUERY_STATUS" and value.upper() == "OVERFLOW":
        notes.append("The service cut the result: it has more rows than the file.")


def _get_tag(element: object) -> str:
    """Return the name of an element without its namespace."""
    return str(getattr(element, "tag", "")).rpartition("}")[2]


def render_votable(
    name: str, description: str, columns: Mapping[str, tuple[str, str]], rows: Iterable[Mapping[str, str]]
) -> str:
    """Return a VOTable of these columns, which have a datatype and a unit each."""
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>\n',
        f'<VOTABLE version="1.4" xmlns={quoteattr(_NAMESPACE)}>\n <RESOURCE type="results">\n',
        f'  <INFO name="QUERY_STATUS" value="OK"/>\n  <TABLE name={quoteattr(_replace_forbidden_characters(name))}>\n',
        f"   <DESCRIPTION>{escape(_replace_forbidden_characters(description))}</DESCRIPTION>\n",
    ]
    for column, (datatype, unit) in columns.items():
        size = ' arraysize="*"' if datatype == "unicodeChar" else ""
        measured = f" unit={quoteattr(unit)}" if unit else ""
        parts.append(f"   <FIELD name={quoteattr(column)} datatype={quoteattr(datatype)}{size}{measured}/>\n")
    parts.append("   <DATA>\n    <TABLEDATA>\n")
    for row in rows:
        cells = "".join(f"<TD>{escape(_replace_forbidden_characters(row.get(column, '')))}</TD>" for column in columns)
        parts.append(f"     <TR>{cells}</TR>\n")
    parts.append("    </TABLEDATA>\n   </DATA>\n  </TABLE>\n </RESOURCE>\n</VOTABLE>\n")
    return "".join(parts)


def _replace_forbidden_characters(text: str) -> str:
    """Return the text without characters that XML does not allow."""
    return "".join(char if char in "\t\n" or (char >= " " and char not in "\ufffe\uffff") else " " for char in text)
