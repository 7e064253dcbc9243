"""Read tables of positions and velocities, and turn bodies with states into orbits by the Jacobi rule."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from universe.domain.exchange.imported_systems import (
    BodyDraft,
    ImportedSystem,
    ImportReport,
    choose_planet_color,
    choose_star_color,
    make_id,
    make_kepler,
    make_state,
)
from universe.domain.exchange.tables import ParsedTable, Row, parse_number
from universe.domain.field_types import Source
from universe.domain.nbody.integration.point_masses import make_relative_matrix
from universe.domain.nbody.osculating_orbits import compute_osculating_elements
from universe.domain.orbits.jacobi_hierarchy import build_hierarchy
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.systems.stated_orbit_conversion import ConvertedOrbit
from universe.domain.units_and_dates import AU_IN_METRES, DAY_IN_SECONDS, GAUSS_K, SOLAR_MASS_IN_KG, G, compute_period
from universe.errors import ImportRefused
from uraniborg.kernel.json_values import Json, JsonObject


@dataclass
class VectorBody:
    """A body in solar masses, AU and AU a day, in any inertial frame that all bodies share."""

    id: str
    name: str
    mass: float
    position: Floats
    velocity: Floats
    kind: str = ""
    radius_km: float | None = None
    physical: JsonObject = field(default_factory=dict[str, Json])
    sources: list[Source] = field(default_factory=list[Source])


def make_drafts(bodies: Sequence[VectorBody]) -> list[BodyDraft]:
    """Return bodies with the osculating elements of their states at time 0. The heaviest is the root.

    Raise ValueError with the reason if no body has a mass, or two are in the same position.
    """
    ordered = sorted(bodies, key=lambda body: -body.mass)
    if not ordered or not ordered[0].mass > 0:
        raise ValueError("no body has a mass above 0")
    parents = _find_parents(ordered)
    stars = {
        body.id: {
            "mass": body.mass,
            "parentId": None if parent is None else ordered[parent].id,
            "kepler": None if parent is None else {"semiMajorAxis": _compute_size(body, ordered[parent])},
        }
        for body, parent in zip(ordered, parents, strict=True)
    }
    family = build_hierarchy(stars, list(stars))
    matrix = make_relative_matrix(family)
    positions, velocities = (np.array([getattr(body, name) for body in ordered]) for name in ("position", "velocity"))
    elements = compute_osculating_elements(matrix @ positions, matrix @ velocities, G * np.array(family.orbited_masses))
    drafts: list[BodyDraft] = []
    for index, (body, parent) in enumerate(zip(ordered, parents, strict=True)):
        draft = BodyDraft(
            body.id,
            body.name,
            body.kind or ("star" if parent is None else "planet"),
            body.mass,
            radius_km=body.radius_km,
            color=choose_star_color(None) if parent is None else choose_planet_color(index),
            physical=body.physical,
            sources=body.sources,
        )
        if parent is not None:
            draft.parent = ordered[parent].id
            axis, e = float(elements.semi_major_axis[index]), float(elements.eccentricity[index])
            angles = (
                elements.inclination,
                elements.longitude_of_ascending_node,
                elements.argument_of_periapsis,
                elements.mean_anomaly,
            )
            tilt, node, periapsis, mean = (float(one[index]) for one in angles)
            if not all(map(math.isfinite, (axis, e, tilt, node, periapsis, mean))):
                raise ValueError(f"the state of '{body.name[:60]}' gives no orbit about '{ordered[parent].name[:60]}'")
            period = compute_period(abs(axis), family.orbited_masses[index])
            draft.kepler = make_kepler(axis, e, tilt, node, periapsis, mean, period)
            draft.orbit = ConvertedOrbit(axis, e, period, mean, (tilt, node), periapsis)
        drafts.append(draft)
    return drafts


def _find_parents(ordered: Sequence[VectorBody]) -> list[int | None]:
    """Return the parent of each body by index: the nearest heavier body in whose Hill sphere it is bound, or the first.

    Bodies are sorted by mass, the heaviest first.
    """
    parents: list[int | None] = [None]
    reach = np.full(len(ordered), math.inf)
    masses = np.array([body.mass for body in ordered])
    positions, velocities = (np.array([getattr(body, name) for body in ordered]) for name in ("position", "velocity"))
    for index, body in enumerate(ordered[1:], start=1):
        distances = np.linalg.norm(positions[:index] - body.position, axis=1)
        speeds = np.linalg.norm(velocities[:index] - body.velocity, axis=1)
        is_near = (distances > 0) & (distances < reach[:index])
        is_near[is_near] = speeds[is_near] ** 2 / 2 < G * (body.mass + masses[:index][is_near]) / distances[is_near]
        is_near[0] = True
        parent = int(np.argmin(np.where(is_near, distances, math.inf)))
        if not distances[parent] > 0:
            raise ValueError(f"'{body.name[:60]}' and '{ordered[parent].name[:60]}' are in the same position")
        parents.append(parent)
        heavier = ordered[parent].mass
        reach[index] = distances[parent] * math.cbrt(body.mass / (3 * heavier)) if heavier else 0.0
    return parents


def _compute_size(body: VectorBody, parent: VectorBody) -> float:
    """Return a number that sorts orbits outwards: the semi-major axis, or the distance of an open orbit."""
    distance = float(np.linalg.norm(body.position - parent.position))
    speed = float(np.linalg.norm(body.velocity - parent.velocity))
    bound = 2 / distance - speed**2 / (G * (body.mass + parent.mass))
    return 1 / bound if bound > 1e-9 / distance else distance


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


def is_vector_table(table: ParsedTable) -> bool:
    """Return True for a table with positions, velocities and masses."""
    return table.has_columns(*_STATE) and ("m" in table.units or "mass" in table.units)


def import_vector_table(table: ParsedTable, units: VectorUnits | None) -> ImportReport:
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
