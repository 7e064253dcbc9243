"""Find the host stars of planets among the bodies of a run, and the observer's line of sight to them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.measurement_replies import Observation
from universe.domain.orbits.jacobi_hierarchy import Bodies
from universe.domain.orbits.kepler_equation import Floats
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


FIELD: Final = "physical.towardsObserver"


@dataclass(frozen=True, slots=True)
class LineOfSight:
    """An observer far away. All vectors are unit vectors in the reference frame."""

    towards: Floats
    """From the system to the observer, shape (3,)."""
    across: Floats
    """Two directions in the plane of the sky, shape (2, 3); with `towards` they form a right-handed frame."""


def find_line_of_sight(stars: Bodies, body_id: str, observer: tuple[float, float] | None = None) -> LineOfSight:
    """Return the line of sight from longitude and latitude in degrees, or else from `physical.towardsObserver`.

    A body without that field uses that of its ancestors, then of any body.

    Raise InvalidInput if neither gives a direction.
    """
    if observer is not None:
        return _make_line_of_sight(_compute_direction_from_angles(*observer))
    for body in _iterate_self_and_ancestors_then_all_bodies(stars, body_id):
        physical = body.get("physical")
        stated = cast("Mapping[str, Any]", physical).get("towardsObserver") if isinstance(physical, Mapping) else None
        if stated is not None:
            return _make_line_of_sight(_read_unit_vector(stated))
    raise InvalidInput(
        "This universe does not state where its observer is.",
        hint="Give --observer LON,LAT: the direction from the system to the observer, in degrees of the reference "
        f"frame. A universe keeps one as {FIELD}, such as [0, 1, 0].",
        argument="observer",
        allowed="longitude,latitude in degrees",
    )


def compute_sky_inclinations(sight: LineOfSight, positions: Floats, velocities: Floats) -> Floats:
    """Return the angles in degrees between the plane of the sky and orbits through these relative states."""
    momentum = np.cross(positions, velocities)
    with np.errstate(invalid="ignore"):
        cosine = momentum @ sight.towards / np.linalg.norm(momentum, axis=-1)
    return np.degrees(np.arccos(np.clip(cosine, -1, 1)))


def describe_observation(
    universe_state: Mapping[str, Any],
    days: float,
    sight: LineOfSight,
    epoch: float | None,
    *,
    use_kepler_orbits: bool,
) -> Observation:
    """Return the fields that all replies about observations share. `epoch` is the Julian date of time 0, if known."""
    return {
        "time": universe_state["time"],
        "epochJulianDate": epoch,
        "days": days,
        "method": "kepler" if use_kepler_orbits else "gauss",
        "timeScale": "days since time 0" if epoch is None else "BJD (TDB)",
        "towardsObserver": sight.towards.tolist(),
    }


def _iterate_self_and_ancestors_then_all_bodies(stars: Bodies, body_id: str) -> Iterator[Mapping[str, Any]]:
    seen: set[object] = set()
    parent: object = body_id
    while isinstance(parent, str) and parent in stars and parent not in seen:
        seen.add(parent)
        yield stars[parent]
        parent = stars[parent].get("parentId")
    yield from stars.values()


def _compute_direction_from_angles(longitude: float, latitude: float) -> Floats:
    if not (math.isfinite(longitude) and math.isfinite(latitude) and abs(latitude) <= 90):
        raise InvalidInput(
            f"The observer is at longitude {longitude:g} and latitude {latitude:g}, which is not a direction.",
            hint="Give --observer LON,LAT in degrees, such as 90,0.",
            argument="observer",
            allowed="any longitude, and a latitude from -90 to 90",
        )
    lon, lat = math.radians(longitude), math.radians(latitude)
    return np.array([math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)])


def _read_unit_vector(stated: object) -> Floats:
    try:
        found = np.asarray(stated, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    size = float(np.linalg.norm(found)) if found.shape == (3,) else 0.0
    if not 0 < size < math.inf:
        raise InvalidInput(
            f"{FIELD} is not a direction.",
            hint=f"Set {FIELD} to three numbers, such as [0, 1, 0], or give --observer LON,LAT.",
            argument=FIELD,
            allowed="three finite numbers that are not all 0",
        )
    return found / size


def _make_line_of_sight(towards: Floats) -> LineOfSight:
    pole = np.array([0.0, 0.0, 1.0]) if abs(towards[2]) < 0.9 else np.array([0.0, 1.0, 0.0])
    first = np.cross(pole, towards)
    first /= np.linalg.norm(first)
    return LineOfSight(towards, np.stack([first, np.cross(towards, first)]))
