"""Select the bodies of an N-body run, with the bodies that connect them."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from universe.domain.orbits.jacobi_hierarchy import Bodies, JacobiHierarchy, build_hierarchy
from universe.domain.orbits.kepler_blocks import ASTRONOMICAL, KeplerOrbit, read_kepler_orbit
from universe.domain.units_and_dates import convert_unit, read_number
from uraniborg.kernel.errors import InvalidInput, NotFound


def choose_body_ids(stars: Bodies, ids: Sequence[str] | None) -> list[str]:
    """Return the bodies to move: `ids`, or all with a true orbit or without a parent.

    Raise NotFound for an id that does not exist, and InvalidInput for no orbits, no id, an id given twice, or an
    invalid mass.
    """
    chosen = list(ids) if ids is not None else [key for key, body in stars.items() if _has_orbit_or_no_parent(body)]
    if ids is None and not any(body.get("kepler") for body in stars.values()) and len(chosen) != 1:
        problem = "No body of this universe has a kepler block" if stars else "This universe has no bodies"
        raise InvalidInput(
            f"{problem}, so gravity has no orbits to start from.",
            hint="Make a universe from a real system: universe new --from trappist-1. Or give bodies kepler blocks "
            "with units 'astronomical'.",
            argument="kepler",
            allowed="bodies with kepler blocks in astronomical units",
        )
    if not chosen:
        raise InvalidInput(
            "There is no body to move: the list of bodies is empty.",
            hint="Name the bodies whose gravity counts, or leave the list out.",
            argument="ids",
            allowed="two or more bodies",
        )
    if twice := next((one for one, times in Counter(chosen).items() if times > 1), None):
        raise InvalidInput(
            f"Body '{twice[:100]}' is named twice.",
            hint="Name each body once.",
            argument="ids",
            allowed="different ids",
            id=twice,
        )
    for body_id in chosen:
        if body_id not in stars:
            raise NotFound(f"There is no body '{body_id[:100]}'.", hint="Name bodies of this universe.", id=body_id)
    if not sum(read_mass(stars, body_id) for body_id in chosen):
        raise make_field_error(chosen[0], "mass", "none of the bodies has one above 0", "its mass in solar masses")
    return chosen


def keep_systems_of(universe_state: Mapping[str, Any], ids: Sequence[str] | None) -> Mapping[str, Any]:
    """Return the state with only the systems of these bodies: their roots and all below; the state itself for None.

    Other systems of the same universe are far away, and their distance is not known.
    """
    stars = cast("Bodies", universe_state["stars"])
    if ids is None or sum(not body.get("parentId") for body in stars.values()) < 2:
        return universe_state
    roots = {_list_body_and_ancestors(stars, body_id)[-1] for body_id in ids}
    kept = {key: body for key, body in stars.items() if _list_body_and_ancestors(stars, key)[-1] in roots}
    return {**universe_state, "stars": kept}


def build_chosen_hierarchy(stars: Bodies, chosen: Sequence[str]) -> JacobiHierarchy:
    """Return the hierarchy of the chosen bodies, in their order, and then of the bodies that connect them.

    Raise InvalidInput for bodies without a common centre, a missing orbit, and parents that are missing or form a ring.
    """
    chains = [_list_body_and_ancestors(stars, body_id) for body_id in chosen]
    common = set(chains[0]).intersection(*chains[1:])
    centre = next((body_id for body_id in chains[0] if body_id in common), None)
    if centre is None:
        alone = next(chain for chain in chains if chain[-1] != chains[0][-1])
        raise InvalidInput(
            f"Body '{alone[-1][:100]}' cannot be moved by gravity because of 'kepler': it has no orbit, so it would be "
            f"at the position of '{chains[0][-1][:100]}'.",
            hint=f"Set kepler to the elements of its orbit and parentId to '{chains[0][-1][:100]}'. If it belongs to "
            "another system, name bodies of one system only.",
            id=alone[-1],
            argument="kepler",
            allowed="bodies of one system",
        )
    connecting = [body_id for chain in chains for body_id in chain[: chain.index(centre) + 1]]
    members = list(dict.fromkeys([*chosen, *connecting]))
    for body_id in members:
        read_mass(stars, body_id)
        if body_id != centre:
            read_astronomical_orbit(stars, body_id)
    return build_hierarchy(stars, members)


def attach_to_chosen_parents(stars: Bodies, chosen: Sequence[str]) -> Bodies:
    """Return the chosen bodies, each with the nearest chosen body above it as its parent."""
    listed = set(chosen)
    above = {body_id: _list_body_and_ancestors(stars, body_id)[1:] for body_id in chosen}
    return {
        body_id: {**stars[body_id], "parentId": next((key for key in above[body_id] if key in listed), None)}
        for body_id in chosen
    }


def read_astronomical_orbit(stars: Bodies, body_id: str, orbited_mass: float | None = None) -> KeplerOrbit:
    """Return the orbit of a body; `orbited_mass` is for an orbit without a period.

    Raise InvalidInput unless it has one in astronomical units.
    """
    if stars[body_id].get("kepler") is None:
        raise make_field_error(
            body_id, "kepler", "it has no orbital elements", "the elements of its orbit around its parent"
        )
    orbit = read_kepler_orbit(stars, body_id, None if orbited_mass is None else lambda _: orbited_mass)
    if orbit.units != ASTRONOMICAL:
        raise make_field_error(
            body_id, "kepler.units", f"it is '{orbit.units}'", f"'{ASTRONOMICAL}', with AU, days and degrees"
        )
    return orbit


def read_mass(stars: Bodies, body_id: str) -> float:
    """Return the mass of a body in solar masses. Raise InvalidInput if it is absent or below 0."""
    try:
        mass = read_number(stars[body_id], "mass")
    except InvalidInput:
        mass = None
    if mass is None or mass < 0:
        raise make_field_error(
            body_id, "mass", "it is absent or invalid", "its mass in solar masses (0 for a test particle)"
        )
    return mass


def read_radius_au(body: Mapping[str, Any]) -> float:
    """Return the physical radius of a body in AU, not-a-number if unknown; `radius` is only the size it is drawn at."""
    physical = body.get("physical")
    try:
        km = (
            read_number(cast("Mapping[str, Any]", physical), "radiusKm", math.nan)
            if isinstance(physical, Mapping)
            else 0.0
        )
    except InvalidInput:
        return math.nan
    return convert_unit(km, "km", "au") if km > 0 else math.nan


def make_field_error(body_id: str, field: str, problem: str, allowed: str) -> InvalidInput:
    """Return the error for a body that gravity cannot move."""
    return InvalidInput(
        f"Body '{body_id[:100]}' cannot be moved by gravity because of '{field}': {problem}.",
        hint=f"Set {field} to {allowed}, or leave the body out.",
        id=body_id,
        argument=field,
        allowed=allowed,
    )


def _has_orbit_or_no_parent(body: Mapping[str, Any]) -> bool:
    return bool(body.get("kepler")) or not body.get("parentId")


def _list_body_and_ancestors(stars: Bodies, body_id: str) -> list[str]:
    """Return a body and all bodies above it, nearest first."""
    chain = [body_id]
    while (parent := stars[chain[-1]].get("parentId")) is not None:
        if not isinstance(parent, str) or parent not in stars:
            missing = f"there is no body '{str(parent)[:100]}'"
            raise make_field_error(chain[-1], "parentId", missing, "a body of this universe or null")
        if parent in chain:
            raise make_field_error(
                chain[-1], "parentId", "the parents form a ring", "a body outside of the ring or null"
            )
        chain.append(parent)
    return chain
