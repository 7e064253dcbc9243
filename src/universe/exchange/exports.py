"""Universes as tables for other programs: CSV and VOTable of bodies, and a REBOUND script of a start."""

import csv
import io
import math
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

import orjson

from universe.domain.entities import Entity
from universe.domain.state import Plain
from universe.exchange.body_columns import COLUMNS, KEPLER, PHYSICAL, TEXT
from universe.exchange.votable import render_votable
from uraniborg.kernel.csv_cells import neutralize_formula
from uraniborg.kernel.errors import InvalidInput

ExportFormat = Literal["json", "csv", "votable", "rebound", "rebound-csv"]
FORMATS: Final[tuple[ExportFormat, ...]] = ("json", "csv", "votable", "rebound", "rebound-csv")
MEDIA_TYPES: Final[dict[ExportFormat, str]] = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "votable": "application/x-votable+xml",
    "rebound": "text/x-python; charset=utf-8",
    "rebound-csv": "text/csv; charset=utf-8",
}
SUFFIXES: Final[dict[str, ExportFormat]] = {
    ".json": "json",
    ".csv": "csv",
    ".vot": "votable",
    ".xml": "votable",
    ".votable": "votable",
    ".py": "rebound",
}
"""The format for the ending of a file name."""
UNIVERSE_FORMAT: Final = "uraniborg-universe/1"
_COMPUTED: Final = ("massKg", "radiusKm")


def render_export(
    plain: Plain,
    format_name: ExportFormat,
    *,
    universe_id: str,
    name: str,
    version: int,
    days: float = 365.25,
) -> bytes:
    """Return a universe in a format. `days` is the duration of a REBOUND script.

    Raise InvalidInput for a universe without a body that the format can carry.
    """
    if format_name == "json":
        return _render_json(plain, universe_id, name, version)
    if format_name in ("rebound", "rebound-csv"):
        return _render_start(plain, format_name, universe_id, version, days)
    rows = list_body_rows(plain)
    if not rows:
        raise InvalidInput(
            "This universe has no body with a true orbit, so a table of bodies would be empty.",
            hint="Export it as JSON.",
            argument="format",
            allowed=["json"],
        )
    head = f"Universe {universe_id!a}, version {version}: {len(rows)} of {len(plain['stars'])} bodies"
    if format_name == "votable":
        note = f"{head}. AU, days, solar masses, degrees. Bodies without a true orbit are left out."
        return render_votable(name, note, COLUMNS, rows).encode()
    out = io.StringIO(newline="")
    out.write(f"# {head}; bodies without a true orbit are left out\n")
    writer = csv.DictWriter(out, list(COLUMNS), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: neutralize_formula(cell) for name, cell in row.items()} for row in rows)
    return out.getvalue().encode()


def list_body_rows(plain: Plain) -> list[dict[str, str]]:
    """Return a row for each body without a parent or with a true orbit about a listed parent, parents first."""
    stars = plain["stars"]
    rows: dict[str, dict[str, str]] = {}
    ready = [key for key, body in stars.items() if not body.get("parentId")]
    for key in ready:  # grows while it is walked
        rows[key] = _make_row(stars[key], float(plain["time"]))
        below = cast("list[str]", stars[key].get("children") or [])
        ready += [one for one in below if one in stars and one not in rows and _has_true_orbit(stars[one])]
    return list(rows.values())


def _has_true_orbit(body: Mapping[str, Any]) -> bool:
    kepler = body.get("kepler")
    return isinstance(kepler, Mapping) and cast("Mapping[str, Any]", kepler).get("units") == "astronomical"


def _make_row(body: Mapping[str, Any], time: float) -> dict[str, str]:
    physical = dict(cast("Mapping[str, Any]", body.get("physical") or {}))
    kepler = cast("Mapping[str, Any]", (body.get("kepler") if body.get("parentId") else None) or {})
    values: dict[str, object] = {
        "id": body["id"],
        "name": body["name"],
        "type": body.get("bodyType"),
        "parent": body.get("parentId"),
        "color": body.get("color"),
        "mass_solar": body["mass"],
        "radius_km": physical.get("radiusKm"),
        "derived": kepler.get("derived"),
        "time_days": time,
        **{column: kepler.get(field) for field, column in KEPLER.items()},
        **{column: _pop_if_fitting(physical, field, column) for field, column in PHYSICAL.items()},
    }
    unknown = physical.pop("unknown", None)
    if isinstance(unknown, list):
        values["unknown"] = ";".join(str(one) for one in cast("list[Any]", unknown))
    for field in _COMPUTED:
        physical.pop(field, None)
    blocks = {
        "physical_json": physical,
        "state_vector_json": body.get("stateVector"),
        "sources_json": body.get("sources"),
    }
    values |= {column: orjson.dumps(block).decode() for column, block in blocks.items() if block}
    return {column: _format_value(values.get(column)) for column in COLUMNS}


def _pop_if_fitting(physical: Entity, field: str, column: str) -> Any:
    """Return and remove a field whose type is that of the column; others stay in `physical_json`."""
    value = physical.get(field)
    is_fitting = isinstance(value, str) if COLUMNS[column][0] == TEXT else isinstance(value, (int, float))
    return physical.pop(field) if is_fitting and value != "" else None


def _format_value(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return repr(float(value)) if isinstance(value, (int, float)) else str(value)


def _render_json(plain: Plain, universe_id: str, name: str, version: int) -> bytes:
    from universe.domain.citations import add_universe_to_set_by_records

    document = {
        "format": UNIVERSE_FORMAT,
        "name": name,
        "version": version,
        "state": add_universe_to_set_by_records(plain, universe_id),
    }
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _render_start(plain: Plain, format_name: ExportFormat, universe_id: str, version: int, days: float) -> bytes:
    from universe.nbody.initial_condition_exports import render_rebound_script, render_start_csv
    from universe.nbody.initial_conditions import make_initial_conditions

    start, time = make_initial_conditions(plain), float(plain["time"])
    if format_name == "rebound-csv":
        return render_start_csv(start, universe_id=universe_id, version=version, time=time).encode()
    script = render_rebound_script(
        start, days=days, universe_id=universe_id, version=version, time=time, relativity=False
    )
    return script.encode()
