"""Start an N-body run: masses, positions and velocities of bodies at the time of the universe."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np

from universe.nbody.body_selection import (
    attach_to_chosen_parents,
    build_chosen_hierarchy,
    choose_body_ids,
    read_astronomical_orbit,
    read_radius_au,
)
from universe.nbody.initial_condition_notes import (
    describe_absorbed_moons,
    describe_data_problems,
    describe_integration_from_epoch,
    describe_kepler_motion,
    describe_state_vectors,
    has_mean_elements,
)
from universe.nbody.jacobi_coordinates import compute_body_states, make_relative_matrix, subtract_barycentre
from universe.nbody.state_vectors import (
    TooClose,
    TooLong,
    add_moon_masses_to_planets,
    integrate_final_state,
    integrate_state_vectors,
    move_planets_to_moon_barycentres,
    overwrite_orbits_with_states,
    read_state_vectors,
)
from universe.orbits.jacobi_hierarchy import Bodies, JacobiHierarchy, build_hierarchy
from universe.orbits.kepler_blocks import AXIS, KeplerOrbit, make_elements
from universe.orbits.kepler_equation import Floats
from universe.orbits.number_fields import check_finite_time
from universe.orbits.units import compute_period, compute_semi_major_axis

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
