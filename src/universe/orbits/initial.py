"""Masses, positions and velocities of bodies of a state, as an N-body run starts from them."""

from collections.abc import Sequence

import numpy as np

from universe.orbits.anomaly import Floats
from universe.orbits.blocks import ASTRONOMICAL, KeplerOrbit, elements, kepler_orbit
from universe.orbits.grouping import Bodies
from universe.orbits.hierarchy import Hierarchy, parent_indices
from universe.orbits.numbers import number, require_time
from uraniborg.kernel.errors import InvalidInput, NotFound


def initial_conditions(stars: Bodies, ids: Sequence[str], t: float) -> tuple[Floats, Floats, Floats]:
    """Masses (solar), positions (AU) and velocities (AU a day) of the bodies `ids` at time `t`, about their barycentre.

    Axes are the scene's. Every body needs a mass in solar masses and, unless it has no parent, a `kepler` block in
    astronomical units; so does every body between it and the one without a parent.

    Raises NotFound for an id that is not there, and InvalidInput naming the body that lacks something.
    """
    require_time(t)
    chosen = _chosen(stars, ids)
    masses = np.array([_mass(stars, body_id) for body_id in chosen])
    if not masses.any():
        raise _lacking(chosen[0], "mass", "none of the bodies has one above 0", "its mass in solar masses")
    chains = _with_ancestors(stars, chosen)
    orbits = {body_id: _orbit(stars, body_id) for body_id in chains if not _stands_at_origin(stars, body_id)}
    standing = [body_id for body_id in chosen if body_id not in orbits]
    if len(standing) > 1:
        raise _lacking(standing[1], "kepler", f"it would stand where '{standing[0]}' does", "the elements of its orbit")
    positions, velocities = _in_world(chains, orbits, t)
    centre, flow = masses @ positions[: len(chosen)], masses @ velocities[: len(chosen)]
    total = masses.sum()
    return masses, positions[: len(chosen)] - centre / total, velocities[: len(chosen)] - flow / total


def _in_world(chains: Bodies, orbits: dict[str, KeplerOrbit], t: float) -> tuple[Floats, Floats]:
    """Positions and velocities of `chains`, in their order, from the origin their chains start at."""
    moving = [place for place, body_id in enumerate(chains) if body_id in orbits]
    motion = elements(orbits.values())
    hierarchy = Hierarchy(parent_indices(chains))
    local = np.zeros((2, len(chains), 3))
    local[0, moving], local[1, moving] = motion.positions(t), motion.velocities(t)
    return hierarchy.summed(local[0]), hierarchy.summed(local[1])


def _chosen(stars: Bodies, ids: Sequence[str]) -> list[str]:
    if not ids or len(set(ids)) < len(ids):
        raise InvalidInput(
            "The bodies to move must be named, each once.",
            hint="Give the ids of the bodies whose gravity counts.",
            argument="ids",
            allowed="one or more different ids",
        )
    for body_id in ids:
        if body_id not in stars:
            raise NotFound(f"There is no body '{body_id}'.", hint="Name bodies of this universe.", id=body_id)
    return list(ids)


def _with_ancestors(stars: Bodies, ids: list[str]) -> Bodies:
    """The bodies named, in their order, and then all that they go around, directly or not."""
    chains = {body_id: stars[body_id] for body_id in ids}
    for body_id in ids:
        parent = _parent(stars, body_id)
        while parent is not None and parent not in chains:
            chains[parent] = stars[parent]
            parent = _parent(stars, parent)
    return chains


def _parent(stars: Bodies, body_id: str) -> str | None:
    parent = stars[body_id].get("parentId")
    return parent if isinstance(parent, str) and parent in stars else None


def _stands_at_origin(stars: Bodies, body_id: str) -> bool:
    return _parent(stars, body_id) is None and stars[body_id].get("kepler") is None


def _orbit(stars: Bodies, body_id: str) -> KeplerOrbit:
    if stars[body_id].get("kepler") is None:
        raise _lacking(body_id, "kepler", "it has no orbital elements", "the elements of its orbit around its parent")
    orbit = kepler_orbit(stars, body_id)
    if orbit.units != ASTRONOMICAL:
        raise _lacking(
            body_id, "kepler.units", f"it is '{orbit.units}'", f"'{ASTRONOMICAL}', with AU, days and degrees"
        )
    return orbit


def _mass(stars: Bodies, body_id: str) -> float:
    try:
        mass = number(stars[body_id], "mass")
    except InvalidInput:
        mass = None
    if mass is None or mass < 0:
        raise _lacking(
            body_id, "mass", "it is absent or not a mass", "its mass in solar masses (0 for a test particle)"
        )
    return mass


def _lacking(body_id: str, field: str, problem: str, allowed: str) -> InvalidInput:
    return InvalidInput(
        f"Body '{body_id}' cannot be moved by gravity because of '{field}': {problem}.",
        hint=f"Set {field} to {allowed}, or leave the body out.",
        id=body_id,
        argument=field,
        allowed=allowed,
    )
