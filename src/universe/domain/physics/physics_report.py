"""Compute the physical quantities of every body of a universe, with units and the papers of the formulas."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from universe.domain.entities import Entity
from universe.domain.nbody.observed_systems import is_star
from universe.domain.orbits.jacobi_hierarchy import Bodies, compute_orbited_masses
from universe.domain.orbits.kepler_blocks import KeplerOrbit, read_kepler_orbit
from universe.domain.physics import formulas
from universe.domain.physics.formulas import (
    HOTTEST,
    BodyQuantities,
    HabitableZone,
    MassAndRadiusKinds,
    PhysicsReport,
    Quantity,
    Zone,
    ZoneLimit,
    ZoneReport,
    collect_papers,
    compute_habitable_zone,
)
from universe.domain.units_and_dates import convert_unit, has_astronomical_body, read_number
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import Json

ALBEDOS: Final = (0.0, 0.3)
_KOPPARAPU, _MENDEZ, _PRSA, _HAMILTON = "kopparapu2014", "mendez2017", "prsa2016", "hamilton1992"


@dataclass(frozen=True, slots=True)
class _Star:
    radius: float | None
    """In solar radii."""
    temperature: float | None
    luminosity: float | None
    zone: HabitableZone | None


def report_physics(universe_state: Mapping[str, Any]) -> PhysicsReport:
    """Return `bodies` (quantities by id), `zones` (by star), `notes` and `sources` (the papers of the formulas).

    Raise InvalidInput for a universe in scene units, whose masses and lengths are not physical.
    """
    stars = _read_astronomical_bodies(universe_state)
    hosts = _make_hosts(stars)
    masses = compute_orbited_masses(stars)
    bodies = {body_id: _report_body(stars, body_id, hosts, masses) for body_id in stars}
    zones = {body_id: _report_zone(host) for body_id, host in hosts.items()}
    used = [
        (quantity["paper"], name)
        for quantities in bodies.values()
        for name, quantity in quantities["quantities"].items()
        if quantity["value"] is not None and quantity["paper"]
    ]
    return {"bodies": bodies, **_add_notes_and_sources(stars, zones, used)}


def report_zones(universe_state: Mapping[str, Any]) -> ZoneReport:
    """Return `report_physics` without the quantities of the bodies, which takes long for many. Raise InvalidInput."""
    stars = _read_astronomical_bodies(universe_state)
    zones = {body_id: _report_zone(host) for body_id, host in _make_hosts(stars).items()}
    return _add_notes_and_sources(stars, zones, [])


def _read_astronomical_bodies(universe_state: Mapping[str, Any]) -> Bodies:
    stars = cast("Bodies", universe_state["stars"])
    if not has_astronomical_body(stars.values()):
        raise InvalidInput(
            "This universe has no body in astronomical units, so its masses and lengths are not physical.",
            hint="Start from a real system such as trappist-1, or give bodies kepler blocks with units 'astronomical'.",
            argument="kepler.units",
            allowed="astronomical",
        )
    return stars


def _make_hosts(stars: Bodies) -> dict[str, _Star]:
    return {body_id: _make_star(body) for body_id, body in stars.items() if is_star(body)}


def _add_notes_and_sources(stars: Bodies, zones: dict[str, Zone], used: Sequence[tuple[str, str]]) -> ZoneReport:
    used = [*used, *((_KOPPARAPU, "habitableZone") for zone in zones.values() if zone["limits"])]
    notes = [
        f"{stars[body_id].get('name') or body_id}: {zone['note']}" for body_id, zone in zones.items() if zone["note"]
    ]
    return {"zones": zones, "notes": notes, "sources": collect_papers(used)}


def make_computed_sources_entry(universe_state: Mapping[str, Any]) -> dict[str, Entity]:
    """Return the papers of all quantities that can be computed, as the sources of one entry among the bodies."""
    measured = collect_papers([("winn2010", "transit times"), ("lovis2010", "radial velocity semi-amplitudes")])
    sources = cast("list[Json]", [*report_physics(universe_state)["sources"], *measured])
    return {"computed quantities": {"name": "computed quantities", "sources": sources}}


def _report_body(
    stars: Bodies, body_id: str, hosts: Mapping[str, _Star], orbited_masses: Mapping[str, float]
) -> BodyQuantities:
    body = stars[body_id]
    mass, radius_km = _read_non_negative_number(body, "mass"), _read_positive_physical_number(body, "radiusKm")
    quantities: dict[str, Quantity] = {}
    if body_id in hosts:
        quantities |= _report_starlight(body, hosts[body_id])
    orbit = _read_astronomical_orbit(stars, body_id, orbited_masses)
    host_id, around = _find_host_and_orbit(stars, body_id, hosts, orbited_masses)
    if host_id is not None and around is not None and body_id not in hosts:
        quantities |= _report_climate(hosts[host_id], around)
    if mass and radius_km:
        for name, unit, formula, compute in (
            ("meanDensity", "g/cm^3", "3 m / (4 pi r^3)", formulas.compute_mean_density),
            ("surfaceGravity", "m/s^2", "G m / r^2", formulas.compute_surface_gravity),
            ("escapeSpeed", "km/s", "sqrt(2 G m / r)", formulas.compute_escape_speed),
        ):
            quantities[name] = _make_quantity(compute(mass, radius_km), unit, formula, None)
    if orbit is not None and orbit.eccentricity < 1 and mass:
        inner = orbited_masses.get(body_id, 0.0) - mass
        if inner > 0:
            value = formulas.compute_hill_radius(orbit.semi_major_axis, orbit.eccentricity, mass, inner)
            quantities["hillRadius"] = _make_quantity(value, "AU", "a (1 - e) (m / 3M)^(1/3)", _HAMILTON)
    physical = _get_mapping_or_empty(body, "physical")
    kinds = {name: physical[name] for name in ("massIs", "radiusIs") if isinstance(physical.get(name), str)}
    return {
        "name": body.get("name") or body_id,
        "star": host_id,
        "semiMajorAxis": None if orbit is None else orbit.semi_major_axis,
        **cast("MassAndRadiusKinds", kinds),
        "quantities": quantities,
    }


def _report_starlight(body: Mapping[str, Any], star: _Star) -> dict[str, Quantity]:
    """Return temperature and luminosity: as stated, or from each other and the radius."""
    has_temperature = _read_positive_physical_number(body, "teffKelvin") is not None
    has_luminosity = _read_positive_physical_number(body, "luminositySolar") is not None
    return {
        "effectiveTemperature": _make_quantity(
            star.temperature,
            "K",
            None if has_temperature else "5772 K (L / R^2)^(1/4)",
            None if has_temperature else _PRSA,
            "set physical.teffKelvin, or luminositySolar and radiusKm",
        ),
        "luminosity": _make_quantity(
            star.luminosity,
            "solar",
            None if has_luminosity else "R^2 (Teff / 5772 K)^4",
            None if has_luminosity else _PRSA,
            "set physical.luminositySolar, or teffKelvin and radiusKm",
        ),
    }


def _report_climate(star: _Star, orbit: KeplerOrbit) -> dict[str, Quantity]:
    lacking = "the star's luminosity is unknown" if orbit.eccentricity < 1 else "the orbit is open"
    axis, e = orbit.semi_major_axis, orbit.eccentricity
    has_light = star.luminosity is not None and e < 1
    light = formulas.compute_insolation(star.luminosity, axis, e) if star.luminosity is not None and e < 1 else None
    found = {"insolation": _make_quantity(light, "Earth", "L / (a^2 sqrt(1 - e^2))", _MENDEZ, lacking)}
    for albedo in ALBEDOS:
        heat = None
        if has_light and star.temperature is not None and star.radius is not None:
            heat = formulas.compute_equilibrium_temperature(star.temperature, star.radius, axis, albedo)
        found[f"equilibriumTemperature, A = {albedo:g}"] = _make_quantity(
            heat, "K", "Teff sqrt(R / 2a) (1 - A)^(1/4)", _MENDEZ, lacking
        )
    if light is not None and star.zone is not None:
        found["habitableZone"] = _make_quantity(
            star.zone.classify_insolation(light),
            "",
            f"insolation against the limits computed for {star.zone.temperature:g} K"
            + (", the lower limit of the formula" if star.zone.note else ""),
            _KOPPARAPU,
        )
    return found


def _report_zone(star: _Star) -> Zone:
    if star.temperature is None or star.luminosity is None:
        return {"limits": None, "note": "temperature or luminosity unknown, so there is no habitable zone to show."}
    if star.zone is None:
        return {"limits": None, "note": f"the fit of Kopparapu et al. 2014 ends at {HOTTEST:g} K: no habitable zone."}
    limits: dict[str, ZoneLimit] = {
        name: {"starlight": light, "au": star.zone.distances[name]} for name, light in star.zone.starlight.items()
    }
    return {"limits": limits, "temperature": star.zone.temperature, "note": star.zone.note, "paper": _KOPPARAPU}


def _make_star(body: Mapping[str, Any]) -> _Star:
    radius_km = _read_positive_physical_number(body, "radiusKm")
    radius = convert_unit(radius_km, "km", "solar_radius") if radius_km else None
    temperature, luminosity = (
        _read_positive_physical_number(body, "teffKelvin"),
        _read_positive_physical_number(body, "luminositySolar"),
    )
    if luminosity is None and radius and temperature:
        luminosity = formulas.compute_luminosity(radius, temperature)
    elif temperature is None and radius and luminosity:
        temperature = formulas.compute_effective_temperature(radius, luminosity)
    zone = compute_habitable_zone(temperature, luminosity) if temperature and luminosity else None
    return _Star(radius, temperature, luminosity, zone)


def _find_host_and_orbit(
    stars: Bodies, body_id: str, hosts: Mapping[str, _Star], orbited_masses: Mapping[str, float]
) -> tuple[str | None, KeplerOrbit | None]:
    """Return the nearest star above a body, and the orbit around it of the body or of the planet it belongs to."""
    seen: set[str] = set()
    current = body_id
    while current not in seen:
        seen.add(current)
        parent = stars[current].get("parentId")
        if not isinstance(parent, str) or parent not in stars:
            break
        if parent in hosts:
            return parent, _read_astronomical_orbit(stars, current, orbited_masses)
        current = parent
    return None, None


def _read_astronomical_orbit(stars: Bodies, body_id: str, orbited_masses: Mapping[str, float]) -> KeplerOrbit | None:
    if not _get_mapping_or_empty(stars[body_id], "kepler"):
        return None
    orbit = read_kepler_orbit(stars, body_id, lambda one: orbited_masses.get(one, 0.0))
    return orbit if orbit.units == "astronomical" else None


def _make_quantity(
    value: float | str | None, unit: str, formula: str | None, paper: str | None, lacking: str | None = None
) -> Quantity:
    found: Quantity = {"value": value, "unit": unit, "formula": formula, "paper": paper}
    return found if value is not None else {**found, "unknown": lacking}


def _read_positive_physical_number(body: Mapping[str, Any], name: str) -> float | None:
    """Return a number above 0 of the block `physical`, or None."""
    value = _read_non_negative_number(_get_mapping_or_empty(body, "physical"), name)
    return value if value is not None and value > 0 else None


def _read_non_negative_number(fields: Mapping[str, Any], name: str) -> float | None:
    try:
        value = read_number(fields, name)
    except InvalidInput:
        return None
    return value if value is not None and 0 <= value < math.inf else None


def _get_mapping_or_empty(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    block = body.get(name)
    return cast("Mapping[str, Any]", block) if isinstance(block, Mapping) else {}
