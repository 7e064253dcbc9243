"""Bodies under construction, from any format, and the state of a universe made of them."""

import math
import re
import unicodedata
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from universe.domain.citations import list_cited_fields, replace_set_by_records, replace_sources
from universe.domain.entities import Entity
from universe.domain.field_types import Kepler, SetBy, Source, StateVector
from universe.domain.state import Plain
from universe.orbits.units import SOLAR_MASS_IN_KG, convert_unit
from universe.systems.bodies import compute_scene_orbit_fields, make_kepler_block, map_computed_fields
from universe.systems.stated_orbit_conversion import Orbit

_NOT_IN_ID: Final = re.compile(r"[^a-z0-9]+")
_PLANETS: Final = ("#d98d6b", "#c9a66b", "#7fa7c9", "#8fbf8f", "#b39ad1", "#d1b06b", "#6bb5b0", "#c98fa7")
_STARS: Final = ((3_700, "#ff8a5c"), (5_200, "#ffc27d"), (6_000, "#fff2a8"), (7_500, "#fff8ec"), (math.inf, "#cfe0ff"))
"""The colour of a star up to an effective temperature in kelvin."""
_UNKNOWN_STAR: Final = "#ffe9c0"
_ID_CHARS: Final = 100
_IMPORT: Final = "the import"
CIRCLE: Final = "the eccentricity is not known, and the orbit was taken as a circle"


@dataclass
class BodyDraft:
    """A body in solar masses, AU, days and degrees. Each source lists the fields that it states."""

    id: str
    name: str
    kind: str
    mass: float
    parent: str | None = None
    orbit: Orbit | None = None
    kepler: Kepler | None = None
    """The block itself, where it is known; else it is made from the orbit."""
    derived: str | None = None
    radius_km: float | None = None
    color: str = ""
    physical: Entity = field(default_factory=Entity)
    sources: list[Source] = field(default_factory=list[Source])
    has_complete_sources: bool = False
    """True if the sources list all fields that they support."""
    assumed: dict[str, str] = field(default_factory=dict[str, str])
    """The fields that no source states, with the reason of their values."""
    state_vector: StateVector | None = None
    magnification: float = 1.0


def make_id(name: str, used: Container[str]) -> str:
    """Return an id made of the name, with a number if the id is used."""
    folded = unicodedata.normalize("NFKD", name).casefold()
    plain = _NOT_IN_ID.sub("-", "".join(char for char in folded if not unicodedata.combining(char))).strip("-")
    base = plain[:_ID_CHARS] or "body"
    if base not in used:
        return base
    # Thousands of bodies can have one name: look for the first free number by halving.
    below, free = 1, 2
    while f"{base}-{free}" in used:
        below, free = free, 2 * free
    while free - below > 1:
        middle = (below + free) // 2
        below, free = (middle, free) if f"{base}-{middle}" in used else (below, middle)
    return f"{base}-{free}"


def list_unknown_fields(physical: Mapping[str, Any]) -> list[str]:
    """Return the fields whose values are not known, as the block `physical` of a body lists them."""
    return cast("list[str]", physical.get("unknown") or [])


def choose_star_color(teff: float | None) -> str:
    """Return the colour of a star by its effective temperature."""
    return _UNKNOWN_STAR if teff is None else next(color for limit, color in _STARS if teff <= limit)


def choose_planet_color(index: int) -> str:
    return _PLANETS[index % len(_PLANETS)]


def make_state(drafts: Sequence[BodyDraft]) -> Plain:
    """Return the plain state of these bodies at time 0, parents before children."""
    children: dict[str, list[str]] = {draft.id: [] for draft in drafts}
    for draft in drafts:
        if draft.parent is not None:
            children[draft.parent].append(draft.id)
    return {
        "stars": {draft.id: _make_body(draft, children[draft.id]) for draft in drafts},
        "rootIds": [draft.id for draft in drafts if draft.parent is None],
        "groups": {},
        "rootGroupIds": [],
        "belts": {},
        "smallBodyFields": {},
        "protoplanetaryDisks": {},
        "nebulae": {},
        "time": 0,
    }


def make_kepler(
    axis: float, e: float, tilt: float, node: float, periapsis: float, mean: float, period: float
) -> Kepler:
    """Return an orbit at the epoch 0 with a period that was computed; an open orbit does not have one."""
    kepler: Kepler = {
        "units": "astronomical",
        "semiMajorAxis": axis,
        "eccentricity": e,
        "inclination": tilt,
        "longitudeOfAscendingNode": node,
        "argumentOfPeriapsis": periapsis,
        "meanAnomaly": mean,
        "epoch": 0.0,
        "derived": "period",
    }
    return {**kepler, "period": period} if e < 1 else kepler


def _make_body(draft: BodyDraft, children: Sequence[str]) -> Entity:
    radius = 0.0 if draft.radius_km is None else convert_unit(draft.radius_km, "km", "au") * draft.magnification
    body: Entity = {
        "id": draft.id,
        "name": draft.name,
        "bodyType": draft.kind,
        "mass": draft.mass,
        "radius": radius,
        "color": draft.color or choose_planet_color(0),
        "parentId": draft.parent,
        "children": [*children],
        **_make_scene_fields(draft),
    }
    if draft.kepler is not None or draft.orbit is not None:
        kepler = draft.kepler or make_kepler_block(_require(draft.orbit), draft.derived)
        body["kepler"] = cast("Entity", kepler)
    if draft.state_vector is not None:
        body["stateVector"] = cast("Entity", draft.state_vector)
    body["physical"] = {
        "massKg": draft.mass * SOLAR_MASS_IN_KG,
        **({} if draft.radius_km is None else {"radiusKm": draft.radius_km}),
        "displayMagnification": draft.magnification,
        **draft.physical,
    }
    if draft.sources:
        body = replace_sources(body, draft.sources)
        records = {} if draft.has_complete_sources else _make_set_by_records(body, draft)
        body = replace_set_by_records(body, records)
    return body


def _make_scene_fields(draft: BodyDraft) -> Entity:
    if draft.orbit is None or draft.parent is None:
        return {"orbitalDistance": 0.0, "orbitalSpeed": 0.0, "orbitalPhase": 0.0}
    if (draft.orbit.eccentricity or 0.0) >= 1:
        distance = draft.orbit.semi_major_axis * (1 - _require(draft.orbit.eccentricity))
        return {"orbitalDistance": distance, "orbitalSpeed": 0.0, "orbitalPhase": 0.0}
    return {**compute_scene_orbit_fields(draft.orbit)}


def _make_set_by_records(body: Entity, draft: BodyDraft) -> dict[str, SetBy]:
    """Return the records of the values that the import computed from stated ones, or assumed."""
    stated = [name for source in draft.sources for name in list_cited_fields(source)]
    bases = map_computed_fields(body, (*stated, *draft.assumed))
    is_circle = "kepler.eccentricity" in list_unknown_fields(draft.physical)
    records: dict[str, SetBy] = {}
    for name, basis in bases.items():
        records[name] = {"version": 1, "by": _IMPORT, "basis": basis}
        if is_circle and name.startswith("orbitOffset"):
            records[name]["reason"] = CIRCLE
    for name, reason in draft.assumed.items():
        records[name] = {"version": 1, "by": _IMPORT, "reason": reason}
    return records


def _require(value: Any) -> Any:
    assert value is not None
    return value
