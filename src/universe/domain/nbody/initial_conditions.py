"""Start an N-body run: masses, positions and velocities of bodies at the time of the universe, and their accuracy."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np

from universe.domain.names_and_numbers import format_days_and_years
from universe.domain.nbody.body_selection import (
    attach_to_chosen_parents,
    build_chosen_hierarchy,
    choose_body_ids,
    read_astronomical_orbit,
    read_mass,
    read_radius_au,
)
from universe.domain.nbody.integration.point_masses import (
    compute_body_states,
    make_relative_matrix,
    subtract_barycentre,
)
from universe.domain.nbody.state_vectors import (
    TooClose,
    TooLong,
    VectorSet,
    add_moon_masses_to_planets,
    integrate_final_state,
    integrate_state_vectors,
    move_planets_to_moon_barycentres,
    overwrite_orbits_with_states,
    read_state_vectors,
)
from universe.domain.orbits.jacobi_hierarchy import Bodies, JacobiHierarchy, build_hierarchy
from universe.domain.orbits.kepler_blocks import AXIS, KeplerOrbit, make_elements
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import check_finite_time, compute_period, compute_semi_major_axis

REFERENCE_AXES: Final = [0, 2, 1]
"""The scene's axes (x, z, y) in the order of the reference frame."""


@dataclass(frozen=True, slots=True)
class InitialConditions:
    """The bodies at the start of a run: relative to the barycentre, in AU, AU per day and solar masses."""

    ids: tuple[str, ...]
    names: tuple[str, ...]
    masses: Floats
    """Shape (n,)."""
    positions: Floats
    """Shape (n, 3)."""
    velocities: Floats
    """Shape (n, 3)."""
    radii: Floats
    """Shape (n,): physical radii in AU, not-a-number if unknown."""
    relative_matrix: Floats
    """Shape (n, n): times positions it gives each body's subsystem relative to the centre it orbits; 0 for a root."""
    orbited_mass: Floats
    """Shape (n,): solar masses in Kepler's third law of each orbit; 0 for a root."""
    parents: tuple[int, ...]
    """The index of each body's parent among `ids`, -1 if none."""
    notes: tuple[str, ...]
    """Sentences about the accuracy of the start."""


def make_initial_conditions(
    universe_state: Mapping[str, Any], ids: Sequence[str] | None = None, *, use_kepler_orbits: bool = False
) -> InitialConditions:
    """Return the bodies `ids` of a plain state at its time; all with a true orbit or without a parent by default.

    Elements are read by the Jacobi rule among the chosen bodies. A body that is not chosen but between chosen ones
    sets their positions but does not attract. A planet with a state vector stands for its moons if none of them
    is chosen: at their common barycentre, with the mass of all. With `use_kepler_orbits`, bodies start on the Kepler
    orbits of their elements, and state vectors do not count.

    Raise NotFound for an id that does not exist, and InvalidInput for a body with a missing field.
    """
    stars, time = cast("Bodies", universe_state["stars"]), float(universe_state["time"])
    check_finite_time(time)
    chosen = choose_body_ids(stars, ids)
    lone, (stars, moons) = stars, add_moon_masses_to_planets(stars, chosen)
    family = build_chosen_hierarchy(stars, chosen)
    positions, velocities, notes = _compute_states(
        lone, chosen, family, moons, time, use_kepler_orbits=use_kepler_orbits
    )
    run = family if len(family.ids) == len(chosen) else build_hierarchy(attach_to_chosen_parents(stars, chosen), chosen)
    masses = np.array(run.masses)
    return InitialConditions(
        run.ids,
        tuple(str(stars[body_id].get("name") or body_id) for body_id in chosen),
        masses,
        subtract_barycentre(masses, positions[: len(chosen)]),
        subtract_barycentre(masses, velocities[: len(chosen)]),
        np.array([read_radius_au(stars[body_id]) for body_id in chosen]),
        make_relative_matrix(run),
        np.array(run.orbited_masses),
        run.parents,
        tuple(notes),
    )


def _compute_states(
    stars: Bodies,
    chosen: Sequence[str],
    family: JacobiHierarchy,
    moons: Mapping[str, Sequence[str]],
    time: float,
    *,
    use_kepler_orbits: bool,
) -> tuple[Floats, Floats, list[str]]:
    """Return positions and velocities of a family at a time, and notes: from vectors, one epoch, or Kepler motion."""
    placing, held, notes = family, list[str](), describe_absorbed_moons(stars, moons)
    counted = [*chosen, *(one for left in moons.values() for one in left)]
    relative = compute_orbit_states(stars, family, time)
    moving = [body_id for body_id, parent in zip(family.ids, family.parents, strict=True) if parent >= 0]
    epochs = {read_astronomical_orbit(stars, body_id).epoch for body_id in moving}
    try:
        vectors = None if use_kepler_orbits else read_state_vectors(stars)
        if vectors and len(set(vectors.ids) & set(family.ids)) > 1 and family.ids[family.order[0]] in vectors.ids:
            placing, held = overwrite_orbits_with_states(
                stars,
                family,
                relative,
                move_planets_to_moon_barycentres(stars, integrate_state_vectors(stars, vectors, time), moons),
            )
            notes.append(describe_state_vectors(stars, held, time - vectors.epoch, vectors))
        elif epochs - {time} and not use_kepler_orbits:
            if has_mean_elements(stars, moving):
                notes.append(describe_kepler_motion("the elements of some of them are means over years"))
            elif len(epochs) > 1 or len(family.ids) > len(chosen):
                notes.append(describe_kepler_motion("their elements do not all hold at one instant"))
            else:
                positions, velocities = _integrate_from_epoch(stars, family, epoch := epochs.pop(), time)
                notes.append(describe_integration_from_epoch(epoch, time - epoch))
                return positions, velocities, notes + describe_data_problems(stars, chosen, counted, family, moving)
    except TooLong:
        notes.append(describe_kepler_motion("the time is too far from the instant at which their states are known"))
    except TooClose:
        notes.append(describe_kepler_motion("two bodies meet after the instant at which their states are known"))
    by_elements = [body_id for body_id in moving if body_id not in held]
    notes += describe_data_problems(stars, chosen, counted, family, by_elements)
    return compute_body_states(placing, relative[0]), compute_body_states(placing, relative[1]), notes


def _integrate_from_epoch(stars: Bodies, family: JacobiHierarchy, epoch: float, time: float) -> tuple[Floats, Floats]:
    """Return positions and velocities at a time, integrated from the instant at which all elements hold."""
    relative, masses = compute_orbit_states(stars, family, epoch), np.array(family.masses)
    positions, velocities = (subtract_barycentre(masses, compute_body_states(family, one)) for one in relative)
    periods = [
        read_astronomical_orbit(stars, body_id).period
        for body_id in family.ids
        if body_id != family.ids[family.order[0]]
    ]
    return integrate_final_state(masses, positions, velocities, time - epoch, shortest_period=min(periods))


def compute_orbit_states(stars: Bodies, family: JacobiHierarchy, time: float) -> Floats:
    """Return positions and velocities of all orbits at a time, by Kepler motion; shape (2, n, 3), roots 0."""
    states = np.zeros((2, len(family.ids), 3))
    moving = [index for index, parent in enumerate(family.parents) if parent >= 0]
    motion = make_elements([_read_consistent_orbit(stars, family, index, time) for index in moving])
    states[0, moving] = motion.compute_positions(time)[:, REFERENCE_AXES]
    states[1, moving] = motion.compute_velocities(time)[:, REFERENCE_AXES]
    return states


def _read_consistent_orbit(stars: Bodies, family: JacobiHierarchy, index: int, time: float) -> KeplerOrbit:
    """Return an orbit whose size and period obey Kepler's third law for the mass it is about."""
    mass = family.orbited_masses[index]
    orbit = read_astronomical_orbit(stars, family.ids[index], mass)
    if orbit.eccentricity >= 1:
        scale = orbit.periapsis_distance if orbit.eccentricity == 1 else -orbit.semi_major_axis
        return replace(orbit, period=compute_period(scale, mass))
    # The stated period gives the position at the time; the orbit there has its own period.
    mean = (orbit.mean_anomaly + 360 * math.fmod((time - orbit.epoch) / orbit.period, 1.0)) % 360
    if orbit.osculating_period is None and orbit.derived != AXIS:
        axis = orbit.semi_major_axis
    else:
        axis = compute_semi_major_axis(orbit.osculating_period or orbit.period, mass)
    return replace(
        orbit,
        semi_major_axis=axis,
        periapsis_distance=axis * (1 - orbit.eccentricity),
        period=compute_period(axis, mass),
        mean_anomaly=mean,
        epoch=time,
    )


_LISTED: Final = 6
_DISAGREEMENT: Final = 0.01
_EPHEMERIS: Final = "folkner2009"
_BODIES_OF_EPHEMERIS: Final = 11
"""Sun, Moon and nine planets: their states are exact only if all of them are integrated together."""
_KINDS: Final = {"estimate": "an estimate and not measured", "minimum": "a minimum (m sin i)"}


def describe_data_problems(
    stars: Bodies,
    chosen: Sequence[str],
    attracting: Sequence[str],
    family: JacobiHierarchy,
    from_elements: Sequence[str],
) -> list[str]:
    """Return sentences about the data of the bodies: values that are left out, unknown or inconsistent.

    `attracting` are the bodies that attract, `from_elements` those that start from elements.
    """
    notes: list[str] = []
    left = sum(1 for body_id, body in stars.items() if body.get("kepler") and body_id not in attracting)
    if left:
        notes.append(
            f"Only the chosen bodies are included: they keep their orbital elements, and {left} other "
            f"{'bodies do' if left > 1 else 'body does'} not attract."
        )
    accuracies = {
        body_id: _read_physical_block(stars, body_id).get("orbitAccuracyDegrees") for body_id in from_elements
    }
    for degrees in sorted({value for value in accuracies.values() if isinstance(value, (int, float))}):
        names = _join_first_names(stars, [body_id for body_id, value in accuracies.items() if value == degrees])
        unit = "degree" if degrees == 1 else "degrees"
        notes.append(f"The start of {names} is accurate to {degrees:g} {unit}: the elements are mean, not osculating.")
    for name, field, taken in (
        ("eccentricity", "eccentricity", "a circle is assumed"),
        ("argument of periapsis", "argumentOfPeriapsis", "a periapsis at the node is assumed"),
        ("inclination", "inclination", "an orbit in the reference plane is assumed"),
    ):
        unknown = [body_id for body_id in from_elements if _is_element_absent(stars[body_id], field)]
        if unknown:
            notes.append(f"The {name} of {_join_first_names(stars, unknown)} is unknown: {taken}.")
    for kind, meaning in _KINDS.items():
        if listed := [body_id for body_id in chosen if _read_physical_block(stars, body_id).get("massIs") == kind]:
            notes.append(f"The mass of {_join_first_names(stars, listed)} is {meaning}.")
    return notes + _describe_disagreements(stars, family, from_elements)


def describe_absorbed_moons(stars: Bodies, moons: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a sentence about planets that stand for their moons, if there are any."""
    if not moons:
        return []
    names, verb = _join_first_names(stars, moons), "stand" if len(moons) > 1 else "stands"
    return [
        f"{names} {verb} for planet and moons: at their barycentre, with the mass of all, but "
        "without the moons' own motion (for Earth without its Moon about 2 arcseconds in 10 years)."
    ]


def describe_state_vectors(stars: Bodies, ids: Sequence[str], days: float, vectors: VectorSet) -> str:
    """Return a sentence about bodies `ids` that start from state vectors, integrated over this many days."""
    moved = (
        f", integrated over {format_days_and_years(abs(days))} with the relativistic field of the central body"
        if days
        else ""
    )
    note = f"{_join_first_names(stars, ids)} start from state vectors{moved}."
    changed = [one for one in ids if _has_changed_mass(stars, one, vectors)]
    if any(_EPHEMERIS in _list_source_ids(stars[body_id]) for body_id in ids):
        note += " They are from JPL's ephemeris DE421 at J2000 (Folkner, Williams and Boggs 2009)"
        if len(vectors.ids) < _BODIES_OF_EPHEMERIS:
            note += "; bodies of the ephemeris are missing or have other orbits"
            note += ", so the integration differs from the ephemeris." if days else "."
        elif changed:
            note += "."
        else:
            note += (
                "; integrated together to 2025 with relativity they stay within 0.01 arcseconds of it, the Moon "
                "within 1 arcsecond."
            )
    if changed:
        note += (
            f" The mass of {_join_first_names(stars, changed)} is not the one that the state vectors were integrated "
            "with: the start is that of the measured bodies, and the run continues with the changed mass."
        )
    return note


def _has_changed_mass(stars: Bodies, body_id: str, vectors: VectorSet) -> bool:
    """Return True if the mass of a body, with satellites without vectors, differs from that of its vector."""
    own = sum(
        read_mass(stars, one)
        for one, body in stars.items()
        if one == body_id or (body.get("parentId") == body_id and one not in vectors.ids)
    )
    mass = float(vectors.masses[vectors.ids.index(body_id)])
    return abs(own - mass) > _DISAGREEMENT * mass


def describe_integration_from_epoch(epoch: float, days: float) -> str:
    """Return a sentence about elements that hold at one instant and were integrated to the time."""
    span = format_days_and_years(abs(days))
    return f"The elements hold at time {epoch:.10g}; the bodies were integrated from there over {span}."


def describe_kepler_motion(reason: str) -> str:
    """Return a sentence about elements that were moved to the time along Kepler orbits."""
    return f"The bodies were moved to the time by Kepler motion, without mutual attraction: {reason}."


def has_mean_elements(stars: Bodies, ids: Iterable[str]) -> bool:
    """Return True if the elements of a body are means over years, which hold at any time but are not its orbit."""
    return any("orbitAccuracyDegrees" in _read_physical_block(stars, body_id) for body_id in ids)


def _describe_disagreements(stars: Bodies, family: JacobiHierarchy, from_elements: Sequence[str]) -> list[str]:
    notes: list[str] = []
    for body_id in from_elements:
        fields = cast("Mapping[str, Any]", stars[body_id].get("kepler") or {})
        orbit, mass = read_astronomical_orbit(stars, body_id), family.orbited_masses[family.ids.index(body_id)]
        if fields.get("period") is None or fields.get("derived") is not None or orbit.eccentricity >= 1:
            continue
        by_law = compute_period(orbit.semi_major_axis, mass)
        if abs(by_law / orbit.period - 1) > _DISAGREEMENT:
            notes.append(
                f"The period of {_join_first_names(stars, [body_id])}, {orbit.period:.6g} days, does not fit its "
                f"semi-major axis and the masses, which give {by_law:.6g} days; the run uses the semi-major axis."
            )
    return notes


def _is_element_absent(body: Mapping[str, Any], field: str) -> bool:
    fields = cast("Mapping[str, Any]", body.get("kepler") or {})
    if field == "argumentOfPeriapsis" and not fields.get("eccentricity"):
        return False
    return fields.get(field) is None


def _read_physical_block(stars: Bodies, body_id: str) -> Mapping[str, Any]:
    found = stars[body_id].get("physical")
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _list_source_ids(body: Mapping[str, Any]) -> list[Any]:
    found = body.get("sources")
    listed = cast("list[Any]", found) if isinstance(found, list) else []
    return [cast("Mapping[str, Any]", source).get("id") for source in listed if isinstance(source, Mapping)]


def _join_first_names(stars: Bodies, ids: Iterable[str]) -> str:
    names = [str(stars[body_id].get("name") or body_id)[:100] for body_id in ids]
    if len(names) > _LISTED:
        names[_LISTED:] = [f"{len(names) - _LISTED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
