"""Find the host stars of planets among the bodies of a run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from universe.nbody.initial_conditions import InitialConditions
from universe.orbits.jacobi_hierarchy import Bodies
from uraniborg.kernel.errors import InvalidInput, NotFound

STAR: Final = "star"
TILT: Final = "kepler.inclination"
SHAPE: Final = "kepler.eccentricity"
PERIAPSIS: Final = "kepler.argumentOfPeriapsis"


def is_star(body: Mapping[str, Any]) -> bool:
    """Return True for a star; a body without a type and without a parent counts as one."""
    return body.get("bodyType") == STAR or (body.get("bodyType") is None and not body.get("parentId"))


def list_unknown_elements(body: Mapping[str, Any]) -> list[str]:
    """Return the orbital elements that no source states, as `physical.unknown` lists them."""
    physical = body.get("physical")
    listed = cast("Mapping[str, Any]", physical).get("unknown") if isinstance(physical, Mapping) else None
    return [str(one) for one in cast("list[object]", listed)] if isinstance(listed, list) else []


def describe_unknown_elements(stars: Bodies, ids: Iterable[str]) -> list[str]:
    """Return sentences about unknown elements that limit a measurement."""
    listed = {body_id: list_unknown_elements(stars[body_id]) for body_id in ids}
    names = {body_id: str(stars[body_id].get("name") or body_id) for body_id in listed}
    tilted = [names[body_id] for body_id, unknown in listed.items() if TILT in unknown]
    shapeless = [names[body_id] for body_id, unknown in listed.items() if {SHAPE, PERIAPSIS} & set(unknown)]
    found: list[str] = []
    if tilted:
        found.append(f"The tilt of {_join_first_names(tilted)} is unknown: transits and sin i are unknown too.")
    if shapeless:
        found.append(
            f"The shape or the periapsis of {_join_first_names(shapeless)} is unknown: variations of transit times and "
            "the form of the velocity curve are those of the assumed orbits."
        )
    return found


def find_host_star_index(stars: Bodies, start: InitialConditions, index: int) -> int | None:
    """Return the nearest star above a body of a run, by index."""
    parent = start.parents[index]
    while parent >= 0 and not is_star(stars[start.ids[parent]]):
        parent = start.parents[parent]
    return parent if parent >= 0 else None


def find_planet_star_pairs(
    stars: Bodies, start: InitialConditions, bodies: Sequence[str] | None = None
) -> list[tuple[int, int]]:
    """Return bodies with their stars, by index: the bodies named, or all whose parent is a star.

    Raise NotFound for an id that does not exist, and InvalidInput for a body without a star and a run without planets.
    """
    if bodies:
        return [(index, _get_host_star_index(stars, start, index)) for index in _get_body_indices(stars, start, bodies)]
    found = [
        (index, parent)
        for index, parent in enumerate(start.parents)
        if parent >= 0 and is_star(stars[start.ids[parent]]) and not is_star(stars[start.ids[index]])
    ]
    if not found:
        raise InvalidInput(
            "This universe has no planet with a true orbit around a star.",
            hint="Start from a real system such as trappist-1, or add a body with a kepler block whose parent is a "
            "star (bodyType 'star').",
            argument="body",
            allowed="a body that orbits a star",
        )
    return found


def find_star_index(stars: Bodies, start: InitialConditions, star: str | None) -> int:
    """Return the star of this id by index, or the heaviest one. Raise NotFound or InvalidInput if there is none."""
    if star is not None:
        index = _get_body_indices(stars, start, [star])[0]
        if not is_star(stars[star]):
            raise InvalidInput(
                f"Body '{star[:100]}' is not a star.",
                hint="Name a body whose bodyType is 'star'.",
                argument="star",
                allowed=[start.ids[one] for one in _list_star_indices(stars, start)],
            )
        return index
    found = _list_star_indices(stars, start)
    if not found:
        raise InvalidInput(
            "This universe has no star.",
            hint="Set bodyType of a body to 'star', or start from a real system such as trappist-1.",
            argument="star",
            allowed="a body with bodyType 'star'",
        )
    return max(found, key=lambda index: start.masses[index])


def _join_first_names(ids: Sequence[str]) -> str:
    shown = [one[:100] for one in ids[:10]]
    return ", ".join(shown) + (f" and {len(ids) - 10} more" if len(ids) > 10 else "")


def _list_star_indices(stars: Bodies, start: InitialConditions) -> list[int]:
    return [index for index, body_id in enumerate(start.ids) if is_star(stars[body_id])]


def _get_body_indices(stars: Bodies, start: InitialConditions, bodies: Sequence[str]) -> list[int]:
    index_of = {body_id: index for index, body_id in enumerate(start.ids)}
    for body_id in bodies:
        if body_id not in stars:
            raise NotFound(
                f"There is no body '{body_id[:100]}'.", hint="`universe show ID` lists the bodies.", id=body_id
            )
        if body_id not in index_of:
            raise InvalidInput(
                f"Body '{body_id[:100]}' has no true orbit.",
                hint="Give it a kepler block in astronomical units.",
                id=body_id,
                argument="kepler",
                allowed="the elements of its orbit around its parent",
            )
    return [index_of[body_id] for body_id in dict.fromkeys(bodies)]


def _get_host_star_index(stars: Bodies, start: InitialConditions, index: int) -> int:
    star = find_host_star_index(stars, start, index)
    if star is None:
        raise InvalidInput(
            f"Body '{start.ids[index][:100]}' does not orbit a star.",
            hint="Name a planet or a moon of a star.",
            id=start.ids[index],
            argument="body",
            allowed="a body that orbits a star",
        )
    return star
