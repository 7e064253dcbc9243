"""Read values of the NASA Exoplanet Archive: numbers with errors and limits, and their references.

`NAMEerr1` and `NAMEerr2` are the upper and lower error of `NAME`, `NAMElim` is 1 for an upper and -1 for a lower limit,
`NAME_reflink`, `pl_refname`, `st_refname` and `sy_refname` are HTML links to publications.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from html import unescape
from typing import Final

from universe.domain.exchange.imported_systems import ImportReport
from universe.domain.exchange.tables import Row, parse_number
from universe.domain.field_types import Location, Source
from universe.domain.names_and_numbers import join_words
from uraniborg.kernel.json_values import Json, JsonObject

ARCHIVE: Final = "nasa-exoplanet-archive"
_LIMITS: Final = {1.0: "upper", -1.0: "lower"}
_LINK: Final = re.compile(r"<a\b([^>]*)>(.*?)</a>", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE: Final = re.compile(r"(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
_YEAR: Final = re.compile(r"\b(1[89]\d\d|20\d\d)\b")
_NOT_IN_ID: Final = re.compile(r"[^a-z0-9]+")


@dataclass
class ArchiveRow:
    """One row, with the sources of the values that were read from it."""

    number: int
    cells: Row
    table: str
    columns: Collection[str]
    report: ImportReport
    uncertainties: dict[str, list[float | None]] = field(default_factory=dict[str, list[float | None]])
    limits: JsonObject = field(default_factory=dict[str, Json])
    sources: dict[str, Source] = field(default_factory=dict[str, Source])

    @property
    def name(self) -> str:
        """Return the name of the planet."""
        return self.cells.get("pl_name") or self.cells.get("hostname") or f"row {self.number}"

    def describe_missing(self, *names: str) -> str:
        """Return which of these columns are empty in the row, and which the table does not have."""
        empty = [name for name in names if name in self.columns]
        absent = [name for name in names if name not in self.columns]
        parts = [f"{join_words(empty)} {'is' if len(empty) == 1 else 'are'} empty"] if empty else []
        parts += [f"the table has no column {join_words(absent)}"] if absent else []
        return join_words(parts)

    def read_flag(self, column: str) -> bool:
        """Return True for a flag that is set."""
        return self.cells.get(column, "").lower() in ("1", "1.0", "true")

    def read_value(self, column: str, field_name: str, allowed: tuple[float, float]) -> float | None:
        """Return the value of a column; None for an empty cell and for a limit, which is recorded as such.

        Record the errors and the source of the value for the field. Raise ValueError for a value that is not a number
        between the two allowed ones.
        """
        value = parse_number(self.cells, column)
        if value is None:
            return None
        if not allowed[0] <= value <= allowed[1]:
            raise ValueError(
                f"{column} is {value:g}, outside of {allowed[0]:g} to {allowed[1]:g}: the unit may be wrong"
            )
        limit = parse_number(self.cells, f"{column}lim")
        if limit in _LIMITS:
            self.limits[field_name] = {"kind": _LIMITS[limit], "value": value, "column": column}
            return None
        errors = [parse_number(self.cells, f"{column}{ending}") for ending in ("err1", "err2")]
        if any(error is not None for error in errors):
            self.uncertainties[field_name] = errors
        self._cite(column, field_name, value)
        return value

    def _cite(self, column: str, field_name: str, value: float) -> None:
        reference = f"{column[:3]}refname" if column.startswith(("st_", "pl_")) else "sy_refname"
        link = self.cells.get(f"{column}_reflink") or self.cells.get(reference)
        source = parse_reference(link) if link else make_archive_source(self.table)
        location: Location = {
            "table": f"NASA Exoplanet Archive, {self.table}",
            "header": ["pl_name", column],
            "row": [self.name, self.cells[column]],
            "stated": {"value": value, "as_written": self.cells[column]},
        }
        known = self.sources.get(source["id"], source)
        fields, locations = known.get("fields") or [], known.get("locations") or {}
        self.sources[source["id"]] = {
            **known,
            "fields": [*fields, field_name],
            "locations": {**locations, field_name: location},
        }


def make_archive_source(table: str) -> Source:
    """Return the archive itself as a source."""
    return {
        "id": ARCHIVE,
        "title": f"NASA Exoplanet Archive, table {table}",
        "authors": ["NASA Exoplanet Science Institute"],
        "url": "https://exoplanetarchive.ipac.caltech.edu/",
    }


def parse_reference(link: str) -> Source:
    """Return the publication that a link of the archive names."""
    found = _LINK.search(link)
    attributes = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(found[1])} if found else {}
    text = " ".join(unescape(re.sub(r"<[^>]*>", " ", found[2] if found else link)).split())[:300] or "unnamed"
    year = _YEAR.search(text)
    url = unescape(attributes.get("href", ""))
    source: Source = {
        "id": _NOT_IN_ID.sub("-", (attributes.get("refstr") or text).lower()).strip("-")[:100] or "reference",
        "title": text,
    }
    if year:
        source["year"] = int(year[1])
    if url.startswith(("https://", "http://")):
        source["url"] = url
    return source
