"""From the facts of a system to the bodies of a state: orbits in both ways of moving, physical values, sources."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from universe.orbits.units import SOLAR_MASS_IN_KG, convert
from universe.systems.compatible import compatible_fields
from universe.systems.elements import Facts, Moment, Orbit, orbit_at
from universe.systems.frames import from_sky

_GM_SUN: Final = 1.327_124_400_412_794_2e11
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
"""Which fields are worked out from a field that a paper states."""


def bodies_of(system: Facts, julian_date: float) -> dict[str, dict[str, Any]]:
    """The bodies of a system by id, as they are at an instant that becomes time 0."""
    facts_of = {facts["id"]: facts for facts in system["bodies"]}
    masses = {body_id: _solar_masses(facts) for body_id, facts in facts_of.items()}
    plane = system.get("skyPlane", {"inclinationDeg": 0.0, "nodeDeg": 0.0})
    sky = from_sky(plane["inclinationDeg"], plane["nodeDeg"])
    bodies: dict[str, dict[str, Any]] = {}
    for body_id, facts in facts_of.items():
        orbit = None
        if parent := facts["parent"]:
            moment = Moment(julian_date, sky, masses[parent] + masses[body_id])
            orbit = orbit_at(facts["orbit"], moment)
        body = _body(facts, masses[body_id], orbit, system, julian_date)
        body["children"] = [other["id"] for other in facts_of.values() if other["parent"] == body_id]
        body["sources"] = _sources(body, facts["cites"], system["sources"])
        bodies[body_id] = body
    return bodies


def _body(facts: Facts, mass: float, orbit: Orbit | None, system: Facts, julian_date: float) -> dict[str, Any]:
    radius_km = _radius_km(facts)
    still = {"orbitalDistance": 0.0, "orbitalSpeed": 0.0, "orbitalPhase": 0.0}
    body: dict[str, Any] = {
        "id": facts["id"],
        "name": facts["name"],
        "bodyType": facts["bodyType"],
        "mass": mass,
        "radius": convert(radius_km, "km", "au") * system["displayMagnification"],
        "color": facts["color"],
        "parentId": facts["parent"],
        **(compatible_fields(orbit) if orbit else still),
    }
    if orbit:
        body["kepler"] = _kepler(orbit)
    if kind := facts.get("asteroidSubType"):
        body["asteroidSubType"] = kind
    body["physical"] = {
        "massKg": mass * SOLAR_MASS_IN_KG,
        "radiusKm": radius_km,
        "epochJulianDate": julian_date,
        "displayMagnification": system["displayMagnification"],
        "referencePlane": system["referencePlane"],
        **{name: facts[name] for name in ("massIs", "radiusIs", "note") if name in facts},
    }
    return body


def _kepler(orbit: Orbit) -> dict[str, Any]:
    inclination, node = orbit.plane or (None, None)
    block: dict[str, Any] = {
        "units": "astronomical",
        "semiMajorAxis": orbit.semi_major_axis,
        "eccentricity": orbit.eccentricity,
        "inclination": inclination,
        "longitudeOfAscendingNode": node,
        "argumentOfPeriapsis": orbit.periapsis,
        "meanAnomaly": orbit.mean_anomaly,
        "epoch": 0.0,
        "period": orbit.period,
    }
    return {
        name: round(value, _DECIMALS) if name in _ANGLES else value
        for name, value in block.items()
        if value is not None
    }


def _sources(body: Facts, cites: Mapping[str, list[str]], sources: Mapping[str, Facts]) -> list[dict[str, Any]]:
    return [{"id": key, **sources[key], "fields": _covered(body, stated)} for key, stated in cites.items()]


def _covered(body: Facts, stated: Iterable[str]) -> list[str]:
    """The fields of the body that are stated, and those that follow from them."""
    found: dict[str, None] = {}
    for name in stated:
        found.update(dict.fromkeys((name, *_FOLLOWS.get(name, ()))))
    return [name for name in found if _has(body, name)]


def _has(body: Facts, name: str) -> bool:
    block, _, inner = name.partition(".")
    return inner in body.get(block, ()) if inner else block in body


def _solar_masses(facts: Facts) -> float:
    if "massGmKm3PerS2" in facts:
        return facts["massGmKm3PerS2"] / _GM_SUN
    return facts["massSolar"] if "massSolar" in facts else convert(facts["massEarth"], "earth_mass", "solar_mass")


def _radius_km(facts: Facts) -> float:
    if "radiusKm" in facts:
        return facts["radiusKm"]
    unit = "solar_radius" if "radiusSolar" in facts else "earth_radius"
    return convert(facts["radiusSolar" if unit == "solar_radius" else "radiusEarth"], unit, "km")
