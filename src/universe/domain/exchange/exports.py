"""Universes as tables for other programs: the columns of bodies in CSV and VOTable, and starts of runs for REBOUND.

Scripts and tables of a start are exact to the last bit. Texts of the universe are written as quoted data, in ASCII in
the script, so that a name cannot add code.
"""

import csv
import io
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import orjson

from universe.domain.entities import Entity
from universe.domain.exchange.tables import render_votable
from universe.domain.state import Plain
from universe.domain.units_and_dates import G
from uraniborg.kernel.boundary import neutralize_formula, neutralize_formulas
from uraniborg.kernel.errors import InvalidInput

if TYPE_CHECKING:
    from universe.domain.nbody.initial_conditions import InitialConditions

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
    from universe.domain.provenance.citations import add_universe_to_set_by_records

    document = {
        "format": UNIVERSE_FORMAT,
        "name": name,
        "version": version,
        "state": add_universe_to_set_by_records(plain, universe_id),
    }
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _render_start(plain: Plain, format_name: ExportFormat, universe_id: str, version: int, days: float) -> bytes:
    from universe.domain.nbody.initial_conditions import make_initial_conditions

    start, time = make_initial_conditions(plain), float(plain["time"])
    if format_name == "rebound-csv":
        return render_start_csv(start, universe_id=universe_id, version=version, time=time).encode()
    script = render_rebound_script(
        start, days=days, universe_id=universe_id, version=version, time=time, relativity=False
    )
    return script.encode()


TEXT: Final = "unicodeChar"
NUMBER: Final = "double"

COLUMNS: Final[dict[str, tuple[str, str]]] = {
    "id": (TEXT, ""),
    "name": (TEXT, ""),
    "type": (TEXT, ""),
    "parent": (TEXT, ""),
    "color": (TEXT, ""),
    "mass_solar": (NUMBER, "solMass"),
    "mass_is": (TEXT, ""),
    "radius_km": (NUMBER, "km"),
    "period_days": (NUMBER, "d"),
    "semi_major_axis_au": (NUMBER, "AU"),
    "derived": (TEXT, ""),
    "osculating_period_days": (NUMBER, "d"),
    "periapsis_distance_au": (NUMBER, "AU"),
    "eccentricity": (NUMBER, ""),
    "inclination_deg": (NUMBER, "deg"),
    "node_deg": (NUMBER, "deg"),
    "omega_deg": (NUMBER, "deg"),
    "mean_anomaly_deg": (NUMBER, "deg"),
    "epoch_days": (NUMBER, "d"),
    "epoch_jd": (NUMBER, "d"),
    "time_days": (NUMBER, "d"),
    "teff_k": (NUMBER, "K"),
    "luminosity_solar": (NUMBER, "solLum"),
    "unknown": (TEXT, ""),
    "display_magnification": (NUMBER, ""),
    "physical_json": (TEXT, ""),
    "state_vector_json": (TEXT, ""),
    "sources_json": (TEXT, ""),
}
"""The exported columns, each with its datatype and unit."""
SOURCE: Final = "source"
"""A column for people: the publication of all values of the row, if `sources_json` is empty. Not exported."""
ALTERNATIVES: Final[dict[str, tuple[str, str]]] = {
    "mass_earth": ("mass_solar", "earth_mass"),
    "mass_jupiter": ("mass_solar", "jupiter_mass"),
    "mass_kg": ("mass_solar", "kg"),
    "radius_earth": ("radius_km", "earth_radius"),
    "radius_jupiter": ("radius_km", "jupiter_radius"),
    "radius_solar": ("radius_km", "solar_radius"),
    "period_years": ("period_days", "year"),
    "semi_major_axis_km": ("semi_major_axis_au", "km"),
}
"""Columns that stand for another one, in another unit."""
TARGET_UNITS: Final = {
    "mass_solar": "solar_mass",
    "radius_km": "km",
    "period_days": "day",
    "semi_major_axis_au": "au",
}
UNIT_NAMES: Final[dict[str, str]] = {
    "solmass": "solar_mass",
    "msun": "solar_mass",
    "earthmass": "earth_mass",
    "geomass": "earth_mass",
    "mearth": "earth_mass",
    "jupitermass": "jupiter_mass",
    "jovmass": "jupiter_mass",
    "mjup": "jupiter_mass",
    "kg": "kg",
    "km": "km",
    "m": "m",
    "au": "au",
    "solrad": "solar_radius",
    "rsun": "solar_radius",
    "earthrad": "earth_radius",
    "rearth": "earth_radius",
    "jupiterrad": "jupiter_radius",
    "rjup": "jupiter_radius",
    "d": "day",
    "day": "day",
    "days": "day",
    "s": "s",
    "yr": "year",
    "year": "year",
    "a": "year",
}
"""Units of VOTables by their spelling in lower case without spaces."""
KEPLER: Final = {
    "period": "period_days",
    "semiMajorAxis": "semi_major_axis_au",
    "osculatingPeriod": "osculating_period_days",
    "q": "periapsis_distance_au",
    "eccentricity": "eccentricity",
    "inclination": "inclination_deg",
    "longitudeOfAscendingNode": "node_deg",
    "argumentOfPeriapsis": "omega_deg",
    "meanAnomaly": "mean_anomaly_deg",
    "epoch": "epoch_days",
}
"""The columns of the elements of a `kepler` block."""
PHYSICAL: Final = {
    "massIs": "mass_is",
    "epochJulianDate": "epoch_jd",
    "teffKelvin": "teff_k",
    "luminositySolar": "luminosity_solar",
    "displayMagnification": "display_magnification",
}
"""The columns of fields of the `physical` block; the others are in `physical_json`."""


FRAME: Final = "barycentric; x and y in the reference plane of the system, z towards its pole, right-handed"
UNITS: Final = "AU, days, solar masses"
_COLUMNS: Final = ("id", "name", "mass", "x", "y", "z", "vx", "vy", "vz")

_HEAD: Final = '''\
#!/usr/bin/env python3
"""Integrate these bodies with REBOUND (pip install rebound) and print where they end, as JSON.

Units: {units}. Frame: {frame}.
{physics}
"""

import json

import rebound

UNIVERSE = {universe}
VERSION = {version}
TIME = {time}  # of the start, in days
DAYS = {days}
G = {constant}  # AU^3 / (solar mass day^2)
BODIES = [  # id, name, mass, position, velocity
'''
_TAIL: Final = """\
]

sim = rebound.Simulation()
sim.G = G
for _, _, mass, (x, y, z), (vx, vy, vz) in BODIES:
    sim.add(m=mass, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
sim.integrator = "ias15"
sim.dt = 1e-3 if DAYS >= 0 else -1e-3
sim.integrate(DAYS)
end = {
    key: {"mass": mass, "position": [p.x, p.y, p.z], "velocity": [p.vx, p.vy, p.vz]}
    for (key, _, mass, _, _), p in zip(BODIES, sim.particles)
}
print(json.dumps({"days": sim.t, "energy": sim.energy(), "end": end}))
"""


def render_rebound_script(
    start: "InitialConditions", *, days: float, universe_id: str, version: int, time: float, relativity: bool
) -> str:
    """Return a Python script that integrates the same start with REBOUND's IAS15 for `days` days."""
    physics = "Point masses, Newton's gravity." + (
        "\nThe run included relativity; this script does not." if relativity else ""
    )
    head = _HEAD.format(
        units=UNITS, frame=FRAME, physics=physics, universe=ascii(universe_id), version=int(version),
        time=repr(float(time)), days=repr(float(days)), constant=repr(float(G)),
    )  # fmt: skip
    lines = (
        f"    ({key!a}, {name!a}, {mass!r}, {tuple(position)!r}, {tuple(velocity)!r}),\n"
        for key, name, mass, position, velocity in _list_body_rows(start)
    )
    return "".join([head, *lines, _TAIL])


def render_start_csv(start: "InitialConditions", *, universe_id: str, version: int, time: float) -> str:
    """Return the start as CSV with a header in comments, one row for each body."""
    out = io.StringIO(newline="")
    out.write(f"# start of an N-body run of universe {universe_id!a}, version {int(version)}, day {time!r}\n")
    out.write(f"# units: {UNITS} (velocities in AU a day); G = {G!r}\n")
    out.write(f"# frame: {FRAME}\n")
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for key, name, mass, position, velocity in _list_body_rows(start):
        rows.writerow([*neutralize_formulas([key, name]), repr(mass), *map(repr, position), *map(repr, velocity)])
    return out.getvalue()


def _list_body_rows(start: "InitialConditions") -> Iterator[tuple[str, str, float, list[float], list[float]]]:
    return zip(
        start.ids, start.names, start.masses.tolist(), start.positions.tolist(), start.velocities.tolist(), strict=True
    )
