"""Make bodies of a state from the data of a system: orbits, physical values, state vectors and sources.

A compatible orbit is the same ellipse as the true orbit, traversed at the mean rate. Both positions agree at time 0 and
after each period; in between they differ by at most about twice the eccentricity, in radians.
"""

import math
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final, cast

import numpy as np

from universe.domain.entities import Entity
from universe.domain.field_types import Kepler, Source
from universe.domain.orbits.jacobi_hierarchy import compute_orbited_masses
from universe.domain.orbits.kepler_equation import solve_kepler
from universe.domain.provenance.citations import replace_sources
from universe.domain.systems.shipped_data import Facts, ShippedVectors, SkyPlane, SystemData
from universe.domain.systems.stated_orbit_conversion import (
    ConversionTarget,
    ConvertedOrbit,
    Rotation,
    Vector,
    compute_plane_vectors,
    compute_stated_period,
    convert_stated_orbit,
    make_sky_rotation,
)
from universe.domain.units_and_dates import SOLAR_MASS_IN_KG, G, convert_unit
from uraniborg.kernel.json_values import JsonObject

GM_SUN: Final = 1.327_124_400_412_794_2e11
"""In km^3/s^2: masses stated as mass parameters are compared with the Sun's of the same ephemeris."""
_DECIMALS: Final = 10
_ANGLES: Final = ("inclination", "longitudeOfAscendingNode", "argumentOfPeriapsis", "meanAnomaly")

_FOLLOWS: Final[dict[str, tuple[str, ...]]] = {
    "mass": ("physical.massKg",),
    "radius": ("physical.radiusKm",),
    "kepler.semiMajorAxis": ("orbitalDistance", "semiMajorAxis", "orbitOffsetX", "orbitOffsetY", "orbitOffsetZ"),
    "kepler.eccentricity": ("eccentricity", "orbitOffsetX", "orbitOffsetY", "orbitOffsetZ"),
    "kepler.inclination": ("orbitRotX", "orbitRotY", "orbitRotZ"),
    "kepler.longitudeOfAscendingNode": ("orbitRotX", "orbitRotY", "orbitRotZ"),
    "kepler.argumentOfPeriapsis": ("orbitRotX", "orbitRotY", "orbitRotZ"),
    "kepler.meanAnomaly": ("orbitalPhase",),
    "kepler.period": ("orbitalSpeed",),
}
"""The fields that are computed from each stated field."""
_STATED: Final = ("massIs", "radiusIs", "teffKelvin", "luminositySolar", "note")
_POLE_SIGNS: Final = {"towards-us": 1.0, "away-from-us": -1.0}
"""The direction of the pole of the sky plane: towards us for transit data, away for visual orbits."""
_VECTOR: Final = ("epoch", "position", "velocity", "mass")
_DERIVED_AXIS: Final = ("kepler.semiMajorAxis", *_FOLLOWS["kepler.semiMajorAxis"])


def make_bodies(system: SystemData, julian_date: float) -> dict[str, Entity]:
    """Return the bodies of a system by id at the Julian date that becomes time 0."""
    facts_of = {facts["id"]: facts for facts in system["bodies"]}
    masses = {body_id: _read_mass(facts) for body_id, facts in facts_of.items()}
    plane: SkyPlane = system.get("skyPlane", {"inclinationDeg": 0.0, "nodeDeg": 0.0, "poleIs": "towards-us"})
    sky = make_sky_rotation(plane["inclinationDeg"], plane["nodeDeg"])
    orbited = _compute_orbited_masses(facts_of, masses)
    vectors = system.get("stateVectors")
    bodies: dict[str, Entity] = {}
    for body_id, facts in facts_of.items():
        orbit = None
        if facts["parent"]:
            orbit = convert_stated_orbit(facts["orbit"], ConversionTarget(julian_date, sky, orbited[body_id]))
        body = _make_body(facts, masses[body_id], orbit, system, julian_date)
        body["children"] = [str(other["id"]) for other in facts_of.values() if other["parent"] == body_id]
        cites = facts["cites"]
        if vectors and (vector := make_state_vector(vectors, body, julian_date)):
            body["stateVector"] = vector
            cites = {**cites, vectors["source"]: [f"stateVector.{name}" for name in _VECTOR]}
        sources = _make_sources(body, cites, system["sources"], has_computed_axis=_is_axis_computed(facts))
        bodies[body_id] = replace_sources(body, sources)
    return bodies


def _make_body(
    facts: Facts, mass: float, orbit: ConvertedOrbit | None, system: SystemData, julian_date: float
) -> Entity:
    radius_km = _read_radius_km(facts)
    still = {"orbitalDistance": 0.0, "orbitalSpeed": 0.0, "orbitalPhase": 0.0}
    body: Entity = {
        "id": facts["id"],
        "name": facts["name"],
        "bodyType": facts["bodyType"],
        "mass": mass,
        "radius": convert_unit(radius_km, "km", "au") * system["displayMagnification"],
        "color": facts["color"],
        "parentId": facts["parent"],
        **(compute_scene_orbit_fields(orbit) if orbit else still),
    }
    if orbit:
        body["kepler"] = cast("Entity", make_kepler_block(orbit, facts["orbit"]["derived"]))
    if kind := facts.get("asteroidSubType"):
        body["asteroidSubType"] = kind
    body["physical"] = {
        "massKg": mass * SOLAR_MASS_IN_KG,
        "radiusKm": radius_km,
        "epochJulianDate": julian_date,
        "displayMagnification": system["displayMagnification"],
        "referencePlane": system["referencePlane"],
        **_compute_observer_direction(system),
        **{name: facts[name] for name in _STATED if name in facts},
        **(_make_element_facts(orbit, facts["orbit"]) if orbit else {}),
    }
    return body


def _compute_observer_direction(system: SystemData) -> JsonObject:
    """Return the unit vector from the system towards us in the reference frame, if it is known."""
    if "skyPlane" not in system:
        return {}
    plane = system["skyPlane"]
    pole = make_sky_rotation(plane["inclinationDeg"], plane["nodeDeg"])[:, 2] * _POLE_SIGNS[plane["poleIs"]]
    return {"towardsObserver": [round(float(part), 15) + 0.0 for part in pole]}


def _make_element_facts(orbit: ConvertedOrbit, facts: Facts) -> JsonObject:
    """Return facts about the elements: unknown ones, the omega of the source, and their accuracy."""
    unknown = {
        "kepler.eccentricity": orbit.eccentricity is None,
        "kepler.inclination": orbit.plane is None,
        "kepler.longitudeOfAscendingNode": orbit.plane is None,
        "kepler.argumentOfPeriapsis": orbit.periapsis is None and orbit.eccentricity != 0,
    }
    found: JsonObject = {}
    if listed := [name for name, holds in unknown.items() if holds]:
        found["unknown"] = [*listed]
    return {
        **found,
        **({"omegaOf": facts["omegaOf"]} if "omegaOf" in facts else {}),
        **({"orbitAccuracyDegrees": facts["accuracyDeg"]} if "accuracyDeg" in facts else {}),
    }


def make_kepler_block(orbit: ConvertedOrbit, derived: str | None) -> Kepler:
    """Return the `kepler` block of an orbit; `derived` is the one of axis and period that follows from the masses."""
    inclination, node = orbit.plane or (None, None)
    numbers = {
        "semiMajorAxis": orbit.semi_major_axis,
        "eccentricity": orbit.eccentricity,
        "inclination": inclination,
        "longitudeOfAscendingNode": node,
        "argumentOfPeriapsis": orbit.periapsis,
        "meanAnomaly": orbit.mean_anomaly,
        "epoch": 0.0,
        "period": orbit.period,
        "osculatingPeriod": orbit.osculating_period,
    }
    known = {
        name: round(value, _DECIMALS) if name in _ANGLES else value
        for name, value in numbers.items()
        if value is not None
    }
    return cast("Kepler", {"units": "astronomical", **known, **({"derived": derived} if derived else {})})


def _is_axis_computed(facts: Facts) -> bool:
    """Return True if the data state no size of the orbit, so that it is computed from the period and the masses."""
    return "orbit" in facts and not any(name.startswith("semiMajorAxis") for name in facts["orbit"])


def _make_sources(
    body: Facts, cites: Mapping[str, list[str]], sources: Mapping[str, Facts], *, has_computed_axis: bool
) -> list[Source]:
    basis = None
    if has_computed_axis:
        basis = "kepler.osculatingPeriod" if "osculatingPeriod" in body["kepler"] else "kepler.period"
    return [
        cast("Source", {"id": key, **sources[key], "fields": list_cited_fields(body, stated, basis)})
        for key, stated in cites.items()
    ]


def list_cited_fields(body: Facts, stated: Iterable[str], axis_basis: str | None) -> list[str]:
    """Return the fields of the body that are stated, and those that follow from them; the axis from `axis_basis`."""
    found: dict[str, None] = {}
    for name in stated:
        found.update(dict.fromkeys((name, *_FOLLOWS.get(name, ()))))
        if name == axis_basis:
            found.update(dict.fromkeys(_DERIVED_AXIS))
    return [name for name in found if _has_field(body, name)]


def map_computed_fields(body: Facts, stated: Iterable[str]) -> dict[str, str]:
    """Return the fields of the body that follow from stated ones, each with the field that it is computed from."""
    known = list(stated)
    kepler: Facts = body.get("kepler", {})
    axis, period = "kepler.semiMajorAxis", "kepler.period"
    found = {axis: period} if kepler.get("derived") == "semiMajorAxis" else {period: axis}
    found = {name: basis for name, basis in found.items() if basis in known and name not in known}
    for basis in (*known, *found):
        found = {**dict.fromkeys(_FOLLOWS.get(basis, ()), basis), **found}
    return {name: basis for name, basis in found.items() if name not in known and _has_field(body, name)}


def _has_field(body: Facts, name: str) -> bool:
    block, _, inner = name.partition(".")
    return inner in body.get(block, ()) if inner else block in body


def _compute_orbited_masses(facts_of: Mapping[str, Facts], masses: Mapping[str, float]) -> dict[str, float]:
    sizes = {
        key: compute_stated_period(facts["orbit"]) ** (2 / 3) for key, facts in facts_of.items() if facts["parent"]
    }
    return compute_orbited_masses(
        {
            key: {
                "mass": masses[key],
                "parentId": facts["parent"],
                "kepler": {"semiMajorAxis": sizes[key]} if facts["parent"] else None,
            }
            for key, facts in facts_of.items()
        }
    )


def _read_mass(facts: Facts) -> float:
    if "massGmKm3PerS2" in facts:
        return facts["massGmKm3PerS2"] / GM_SUN
    return facts["massSolar"] if "massSolar" in facts else convert_unit(facts["massEarth"], "earth_mass", "solar_mass")


def _read_radius_km(facts: Facts) -> float:
    if "radiusKm" in facts:
        return facts["radiusKm"]
    unit = "solar_radius" if "radiusSolar" in facts else "earth_radius"
    return convert_unit(facts["radiusSolar" if unit == "solar_radius" else "radiusEarth"], unit, "km")


def compute_scene_orbit_fields(orbit: ConvertedOrbit) -> dict[str, float]:
    """Return the orbital fields of a body, in scene units of one AU and simulation seconds of one day."""
    eccentricity = orbit.eccentricity or 0.0
    inclination, node = orbit.plane or (0.0, 0.0)
    to_periapsis, to_side = (
        _swap_to_scene_axes(vector) for vector in compute_plane_vectors(inclination, node, orbit.periapsis or 0.0)
    )
    eccentric = solve_kepler(math.radians(orbit.mean_anomaly), eccentricity).item()
    to_centre = -orbit.semi_major_axis * eccentricity * to_periapsis
    turns = _compute_rotation_angles(np.column_stack([to_periapsis, np.cross(to_side, to_periapsis), to_side]))
    return {
        "orbitalDistance": orbit.semi_major_axis,
        "orbitalSpeed": 360 / orbit.period,
        "orbitalPhase": _convert_to_rounded_degrees(eccentric) % 360,
        "semiMajorAxis": orbit.semi_major_axis,
        **({} if orbit.eccentricity is None else {"eccentricity": eccentricity}),
        **{f"orbitOffset{axis}": float(shift) + 0.0 for axis, shift in zip("XYZ", to_centre, strict=True)},
        **({f"orbitRot{axis}": turn for axis, turn in zip("XYZ", turns, strict=True)} if orbit.plane else {}),
    }


def _swap_to_scene_axes(vector: Vector) -> Vector:
    """Convert to the scene, where Y is up: y of the reference plane is z of the scene."""
    return vector[[0, 2, 1]]


def _compute_rotation_angles(matrix: Rotation) -> tuple[float, float, float]:
    """Return the degrees about X, Y and Z that make up a rotation, applied about Z first and X last."""
    cosine = math.hypot(matrix[0, 0], matrix[0, 1])
    about_y = math.atan2(matrix[0, 2], cosine)
    if cosine < 1e-12:  # X and Z rotate about the same axis, so one of them is enough
        return (
            _convert_to_rounded_degrees(math.atan2(matrix[2, 1], matrix[1, 1])),
            _convert_to_rounded_degrees(about_y),
            0.0,
        )
    about_x = math.atan2(-matrix[1, 2], matrix[2, 2])
    about_z = math.atan2(-matrix[0, 1], matrix[0, 0])
    return (
        _convert_to_rounded_degrees(about_x),
        _convert_to_rounded_degrees(about_y),
        _convert_to_rounded_degrees(about_z),
    )


def _convert_to_rounded_degrees(radians: float) -> float:
    return round(math.degrees(radians), _DECIMALS) + 0.0


_BASIS: Final = (
    "eccentricity",
    "inclination",
    "longitudeOfAscendingNode",
    "argumentOfPeriapsis",
    "meanAnomaly",
    "epoch",
)


def make_state_vector(shipped: ShippedVectors, body: Entity, julian_date: float) -> JsonObject | None:
    """Return the state vector of a body of a system whose time 0 is this Julian date, or None if it has none."""
    if body["id"] not in shipped["vectors"]:
        return None
    position, velocity, pull = shipped["vectors"][str(body["id"])]
    return {
        "epoch": shipped["epochJd"] - julian_date,
        "position": [*position],
        "velocity": [*velocity],
        "mass": pull / G,
        "frame": shipped["frame"],
        "elements": compute_elements_digest(body.get("kepler")),
    }


def compute_elements_digest(block: Any) -> str:
    """Return a digest of the elements of a `kepler` block that fix an orbit.

    A state vector is valid while the digest matches: a changed element replaces the orbit of the vector. The digest
    leaves out the one of semi-major axis and period that follows from the masses.
    """
    fields: Mapping[str, Any] = cast("Mapping[str, Any]", block) if isinstance(block, Mapping) else {}
    size = "period" if fields.get("derived") == "semiMajorAxis" else "semiMajorAxis"
    values = [fields.get(name) for name in (*_BASIS, size)]
    return sha256(repr([None if value is None else float(value) for value in values]).encode()).hexdigest()[:16]
