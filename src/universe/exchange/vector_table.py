"""Tables of positions and velocities, as REBOUND and `universe nbody --write-csv` write them."""

import re
from typing import Final, Literal

import numpy as np

from universe.exchange.body_drafts import make_id, make_state
from universe.exchange.errors import ImportRefused
from universe.exchange.import_report import ImportedSystem, ImportReport
from universe.exchange.tables import Row, Table, parse_number
from universe.exchange.vector_bodies import VectorBody, make_drafts
from universe.orbits.units import AU_IN_METRES, DAY_IN_SECONDS, GAUSS_K, SOLAR_MASS_IN_KG

VectorUnits = Literal["au-day", "au-year", "au-yr2pi", "si"]
_SCALES: Final[dict[str, tuple[float, float, float]]] = {
    "au-day": (1.0, 1.0, 1.0),
    "au-year": (1.0, 1.0, 1 / 365.25),
    "au-yr2pi": (1.0, 1.0, GAUSS_K),
    "si": (1 / SOLAR_MASS_IN_KG, 1 / AU_IN_METRES, DAY_IN_SECONDS / AU_IN_METRES),
}
"""For masses, lengths and velocities: the factor to solar masses, AU and AU a day."""
_STATE: Final = ("x", "y", "z", "vx", "vy", "vz")
_DECLARED: Final = re.compile(r"units:.*\bAU\b.*\bdays?\b.*solar mass", re.IGNORECASE)


def is_vector_table(table: Table) -> bool:
    """Return True for a table with positions, velocities and masses."""
    return table.has_columns(*_STATE) and ("m" in table.units or "mass" in table.units)


def import_vector_table(table: Table, units: VectorUnits | None) -> ImportReport:
    """Return the system of a table. Raise ImportRefused, also if the units are neither stated nor given."""
    report = ImportReport("rebound-csv", notes=list(table.notes))
    if units is None:
        if not any(_DECLARED.search(line) for line in table.comments):
            raise ImportRefused(
                "The table does not state its units.",
                hint="Give units: au-day, au-year, au-yr2pi (REBOUND's default with G = 1) or si; or add a line "
                "'# units: AU, days, solar masses' above the header.",
                argument="units",
                allowed=list(_SCALES),
            )
        units = "au-day"
    for number, problem in table.problems:
        report.skip(number, "", problem)
    bodies: list[VectorBody] = []
    used: set[str] = set()
    rows_of_names: dict[str, int] = {}
    for number, cells in table.rows:
        name = cells.get("name") or cells.get("id") or cells.get("hash") or f"body {number}"
        try:
            bodies.append(_read_body(cells, name, units, used))
            used.add(bodies[-1].id)
            report.note_repeated_name(name, number, bodies[-1].id, rows_of_names)
        except ValueError as exc:
            report.skip(number, name, str(exc))
    if bodies:
        try:
            drafts = make_drafts(bodies)
        except ValueError as exc:
            raise ImportRefused(f"No orbits can be computed: {exc}.", hint="Correct the rows.") from None
        report.systems.append(ImportedSystem(drafts[0].name, make_state(drafts), len(bodies)))
        report.note(
            "Each body orbits the nearest heavier body in whose Hill sphere it is bound, else the heaviest body; the "
            "elements are osculating at time 0."
        )
    return report.require_systems()


def _read_body(cells: Row, name: str, units: VectorUnits, used: set[str]) -> VectorBody:
    mass_factor, length, speed = _SCALES[units]
    mass = parse_number(cells, "m" if "m" in cells else "mass")
    values = [parse_number(cells, column) for column in _STATE]
    if mass is None or any(value is None for value in values):
        raise ValueError("its mass, position or velocity is empty")
    if mass < 0:
        raise ValueError("its mass is below 0")
    if cells.get("id") in used:
        raise ValueError(f"the id '{cells['id'][:60]}' occurs more than once")
    state = np.array(values, dtype=np.float64)
    radius = parse_number(cells, "r" if "r" in cells else "radius")
    return VectorBody(
        cells.get("id") or make_id(name, used),
        name,
        mass * mass_factor,
        state[:3] * length,
        state[3:] * speed,
        radius_km=None if not radius else radius * length * AU_IN_METRES / 1e3,
        physical={} if radius else {"unknown": ["radius"]},
    )
