"""VOTable, the XML tables of the Virtual Observatory: read defensively, and written.

Only TABLEDATA is read. Errors that services send inside a VOTable are reported as such.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from universe.exchange.errors import ImportRefused
from universe.exchange.tables import MAX_ROWS, Table

_NAMESPACE: Final = "http://www.ivoa.net/xml/VOTable/v1.3"
_ENCODINGS: Final = ("BINARY", "BINARY2", "FITS", "PARQUET")


def parse_votable(content: bytes) -> Table:
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


def _read_first_table(root: Iterable[object]) -> Table:
    from xml.etree.ElementTree import Element

    table: Table | None = None
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
            table = Table(units, [])
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


def _read_rows(element: "Iterable[object]", names: Sequence[str], table: Table) -> None:
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
        f'  <INFO name="QUERY_STATUS" value="OK"/>\n  <TABLE name={quoteattr(_clean_text(name))}>\n',
        f"   <DESCRIPTION>{escape(_clean_text(description))}</DESCRIPTION>\n",
    ]
    for column, (datatype, unit) in columns.items():
        size = ' arraysize="*"' if datatype == "unicodeChar" else ""
        measured = f" unit={quoteattr(unit)}" if unit else ""
        parts.append(f"   <FIELD name={quoteattr(column)} datatype={quoteattr(datatype)}{size}{measured}/>\n")
    parts.append("   <DATA>\n    <TABLEDATA>\n")
    for row in rows:
        cells = "".join(f"<TD>{escape(_clean_text(row.get(column, '')))}</TD>" for column in columns)
        parts.append(f"     <TR>{cells}</TR>\n")
    parts.append("    </TABLEDATA>\n   </DATA>\n  </TABLE>\n </RESOURCE>\n</VOTABLE>\n")
    return "".join(parts)


def _clean_text(text: str) -> str:
    """Return the text without characters that XML does not allow."""
    return "".join(char if char in "\t\n" or (char >= " " and char not in "\ufffe\uffff") else " " for char in text)
