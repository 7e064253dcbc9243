"""Tabulate the values of a universe, each with its unit, status, source and location."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from universe.claims import PaperTextReader
from universe.domain.entities import Entity
from universe.domain.state import Plain
from universe.domain.units import get_field_unit, has_astronomical_body
from universe.provenance.value_status import compute_value_status
from uraniborg.bundle.records import ValueRow
from uraniborg.kernel.csv_cells import neutralize_formula
from uraniborg.kernel.json_values import JsonObject

FIELDS: Final = (
    "mass", "radius", "kepler.period", "kepler.osculatingPeriod", "kepler.semiMajorAxis", "kepler.eccentricity",
    "kepler.inclination", "kepler.longitudeOfAscendingNode", "kepler.argumentOfPeriapsis", "kepler.meanAnomaly",
)  # fmt: skip
"""The fields of the table: those that an N-body run starts from, and the radii."""
COLUMNS: Final[tuple[str, ...]] = (
    "body", "field", "value", "unit", "status", "as written", "source", "doi", "section", "row", "set by",
)  # fmt: skip


def list_value_rows(state: Plain, text_of: PaperTextReader | None) -> list[ValueRow]:
    """Return a row for each value of each body; `text_of` returns the texts of a shelf."""
    is_astronomical = has_astronomical_body(state["stars"].values())
    return [
        row
        for key, body in state["stars"].items()
        for field in FIELDS
        if (row := _make_row(str(key), body, field, get_field_unit(field, astronomical=is_astronomical), text_of))
    ]


def _make_row(key: str, body: Entity, field: str, unit: str, text_of: PaperTextReader | None) -> ValueRow | None:
    found = compute_value_status(body, field, text_of)
    if found.value is None:
        return None
    support = next(iter(found.supports), None)
    source: Mapping[str, Any] = support.source if support else {}
    location = _get_object(_get_object(source.get("locations")).get(field))
    row: Any = location.get("row")
    return {
        "body": str(body.get("name") or key),
        "field": field,
        "value": repr(found.value),
        "unit": unit,
        "status": found.status,
        "as written": support.claim.as_written if support and support.claim else "",
        "source": str(source.get("title") or ""),
        "doi": str(source.get("doi") or ""),
        "section": str(location.get("section") or ""),
        "row": " | ".join(map(str, row)) if isinstance(row, list) else str(location.get("passage") or ""),  # pyright: ignore[reportUnknownArgumentType]
        "set by": found.display_note,
    }


def _get_object(value: Any) -> JsonObject:
    """Return an object, or an empty one for any other value: sources can come from any program."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def write_value_table(rows: Sequence[ValueRow]) -> str:
    out = io.StringIO(newline="")
    table: csv.DictWriter[str] = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows({name: neutralize_formula(cell) for name, cell in row.items()} for row in rows)
    return out.getvalue()
