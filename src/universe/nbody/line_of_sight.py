"""Know the observer's line of sight to a system, and directions on the sky."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from universe.nbody.replies import Observation
from universe.orbits.jacobi_hierarchy import Bodies
from universe.orbits.kepler_equation import Floats
from uraniborg.kernel.errors import InvalidInput

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
