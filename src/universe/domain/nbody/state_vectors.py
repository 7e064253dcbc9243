"""Integrate bodies with stated vectors to the time of a run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from universe.domain.nbody.body_selection import read_mass
from universe.domain.nbody.integration.methods import integrate
from universe.domain.nbody.integration.point_masses import compute_pairwise_distances, make_relative_matrix
from universe.domain.orbits.jacobi_hierarchy import (
    ROOT,
    Bodies,
    JacobiHierarchy,
    build_hierarchy_from_indices,
    make_orbit_sort_key,
)
from universe.domain.orbits.kepler_blocks import read_kepler_orbit
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.systems.bodies import compute_elements_digest
from universe.domain.units_and_dates import read_number
from uraniborg.kernel.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class VectorSet:
    """Bodies whose states are known at one instant, with the masses used since then."""

    epoch: float
    ids: tuple[str, ...]
    masses: Floats
    positions: Floats
    velocities: Floats


def read_state_vectors(stars: Bodies) -> VectorSet | None:
    """Return the state vectors of all bodies that have one at the instant of the first, or None if none has one."""
    found = {body_id: vector for body_id, body in stars.items() if (vector := _read_matching_vector(body))}
    if not found:
        return None
    epoch = next(iter(found.values()))[0]
    listed = {body_id: vector for body_id, vector in found.items() if vector[0] == epoch}
    _, masses, positions, velocities = zip(*listed.values(), strict=True)
    return VectorSet(epoch, tuple(listed), np.array(masses), np.array(positions), np.array(velocities))


def integrate_state_vectors(stars: Bodies, vectors: VectorSet, time: float) -> dict[str, tuple[Floats, Floats]]:
    """Return position and velocity of the bodies at a time, by integration. Raise TooLong or TooClose."""
    periods = [read_kepler_orbit(stars, body_id).period for body_id in vectors.ids if stars[body_id].get("kepler")]
    heaviest = int(vectors.masses.argmax())
    positions, velocities = integrate_final_state(
        vectors.masses,
        vectors.positions,
        vectors.velocities,
        time - vectors.epoch,
        shortest_period=min(periods, default=math.inf),
        relativistic_body=heaviest,
    )
    return {body_id: (positions[index], velocities[index]) for index, body_id in enumerate(vectors.ids)}


def add_moon_masses_to_planets(stars: Bodies, chosen: Sequence[str]) -> tuple[Bodies, dict[str, list[str]]]:
    """Return the bodies, planets with the masses of their moons, and these moons by planet.

    A chosen planet that starts from a state vector stands for its moons, unless one of these is chosen.
    """
    listed = set(chosen)
    moons: dict[str, list[str]] = {}
    for body_id in stars:
        planet = _get_parent_or_empty(stars, body_id)
        if (
            body_id not in listed
            and planet in listed
            and _get_parent_or_empty(stars, planet)
            and _read_matching_vector(stars[planet])
        ):
            moons.setdefault(planet, []).append(body_id)
    taken = {_get_parent_or_empty(stars, body_id) for body_id in chosen}
    moons = {planet: left for planet, left in moons.items() if planet not in taken}
    masses = {planet: sum(read_mass(stars, one) for one in (planet, *left)) for planet, left in moons.items()}
    heavier = {planet: {**stars[planet], "mass": mass} for planet, mass in masses.items()}
    return {**stars, **heavier}, moons


def move_planets_to_moon_barycentres(
    stars: Bodies, states: dict[str, tuple[Floats, Floats]], moons: Mapping[str, Sequence[str]]
) -> dict[str, tuple[Floats, Floats]]:
    """Return the states with planets at the barycentre of themselves and their moons that have states."""
    merged = dict(states)
    for planet, left in moons.items():
        members = [planet, *(one for one in left if one in states)]
        weights = np.array([read_mass(stars, one) for one in members])
        if weights.sum() > 0:
            weights /= weights.sum()
            position, speed = (weights @ np.array([states[one][kind] for one in members]) for kind in (0, 1))
            merged[planet] = position, speed
    return merged


def _get_parent_or_empty(stars: Bodies, body_id: str) -> str:
    parent = stars[body_id].get("parentId")
    return parent if isinstance(parent, str) and parent in stars else ""


def overwrite_orbits_with_states(
    stars: Bodies, family: JacobiHierarchy, orbit_states: Floats, states: Mapping[str, tuple[Floats, Floats]]
) -> tuple[JacobiHierarchy, list[str]]:
    """Write the orbits of bodies with states into `orbit_states`, shape (2, n, 3).

    Return the hierarchy for the positions of all bodies, and the bodies that have states. The state of a planet is that
    of the barycentre of the planet and its moons without states. Other bodies beside those with states are placed
    without moving them.
    """
    held: list[int] = []
    for index in family.order:
        if family.ids[index] in states and (family.parents[index] == ROOT or family.parents[index] in held):
            held.append(index)
    beside = {family.parents[index] for index in held}
    masses = list(family.masses)
    for index in family.order:
        parent = family.parents[index]
        if index not in held and (parent in beside or (parent not in held and parent != ROOT and masses[parent] == 0)):
            masses[index] = 0.0
    sizes = [make_orbit_sort_key(stars[body_id]) for body_id in family.ids]
    placing = build_hierarchy_from_indices(family.ids, family.parents, masses, sizes)
    own = [
        placing.subsystem_masses[index]
        - sum(placing.subsystem_masses[child] for child in placing.children[index] if child in held)
        for index in held
    ]
    order = {index: position for position, index in enumerate(held)}
    merged = build_hierarchy_from_indices(
        tuple(family.ids[index] for index in held),
        [order.get(family.parents[index], ROOT) for index in held],
        own,
        [sizes[index] for index in held],
    )
    matrix = make_relative_matrix(merged)
    for kind in (0, 1):
        orbit_states[kind, held] = matrix @ np.array([states[family.ids[index]][kind] for index in held])
    return placing, [family.ids[index] for index in held]


def _read_matching_vector(body: Mapping[str, Any]) -> tuple[float, float, list[float], list[float]] | None:
    """Return epoch, mass, position and velocity of a body, or None if it has no vector that matches its elements."""
    block = body.get("stateVector")
    if not isinstance(block, Mapping):
        return None
    fields = cast("Mapping[str, Any]", block)
    try:
        if fields.get("elements") != compute_elements_digest(body.get("kepler")):
            return None
        mass = read_number(fields, "mass", read_number(body, "mass", 0.0))
        return (
            read_number(fields, "epoch", 0.0),
            mass,
            _read_triple(fields, "position"),
            _read_triple(fields, "velocity"),
        )
    except (InvalidInput, TypeError, ValueError, OverflowError):  # an invalid element has no digest
        return None


def _read_triple(fields: Mapping[str, Any], name: str) -> list[float]:
    found = fields.get(name)
    values = dict(zip("xyz", cast("list[Any]", found) if isinstance(found, list) else (), strict=False))
    listed = [read_number(values, axis) for axis in "xyz"]
    if None in listed:
        raise InvalidInput(
            f"'{name}' must have three numbers.", hint="Give x, y and z.", argument=name, allowed="3 numbers"
        )
    return cast("list[float]", listed)


MOST_WORK: Final = 500_000
"""Inner orbits times bodies squared (at least 8 of them): about half a minute of one processor."""
_MOST_STEPS: Final = 200_000


class TooLong(Exception):
    """The time is too far from the epoch for an integration."""


class TooClose(Exception):
    """Two bodies meet on the way to the time."""


def integrate_final_state(
    masses: Floats,
    positions: Floats,
    velocities: Floats,
    days: float,
    *,
    shortest_period: float,
    relativistic_body: int | None = None,
) -> tuple[Floats, Floats]:
    """Return positions and velocities after `days`; `shortest_period` is in days.

    Raise TooLong or TooClose.
    """
    if days == 0:
        return positions, velocities
    if abs(days) / shortest_period * max(masses.size, 8) ** 2 > MOST_WORK:
        raise TooLong
    if not compute_pairwise_distances(positions.T[None]).min() > 0:
        raise TooClose
    segments = integrate(masses, positions, velocities, days, relativistic_body=relativistic_body)
    try:
        last = next(segments)
        for steps, segment in enumerate(segments):
            if steps > _MOST_STEPS:
                raise TooLong
            last = segment
    except ArithmeticError:
        raise TooClose from None
    return last.last_positions.T, last.last_velocities.T
