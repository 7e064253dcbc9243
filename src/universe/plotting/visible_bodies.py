"""Decide which bodies a picture shows, and where on the page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from universe.plotting.radial_scale import Floats, RadialScale, choose_radial_scale

Bodies = Mapping[str, Mapping[str, Any]]

_FARTHEST: Final = 1e150
"""Larger coordinates overflow when squared."""
_EDGE: Final = 1.03
_SMALLEST_DOT, _LARGEST_DOT = 2.8, 13.0
_GROWTH: Final = 0.22
_CROWD: Final = 120
SHINING: Final = ("star", "blackHole")


@dataclass(frozen=True, slots=True)
class VisibleBodies:
    """The bodies with positions, in the order of the universe, as dots and paths on the page."""

    ids: list[str]
    scale: RadialScale
    page: Floats
    """(n, 2) pixels from the left and the top."""
    dots: Floats
    """The radius of each dot in pixels."""
    hidden: NDArray[np.bool_]
    """True for moons that are too close to their planet to be drawn."""
    paths: dict[str, Floats]
    """Orbits as (m, 2) pixels."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The part of the page that the universe is drawn in."""

    x: float
    y: float
    radius: float
    unit: float
    """The size on this page of a pixel on a page of 1200 pixels."""


def find_visible_bodies(
    stars: Bodies, positions: Mapping[str, Sequence[float]], paths: Mapping[str, Floats], frame: Frame, scale: Any
) -> VisibleBodies | None:
    """Return the visible bodies, x to the right and z upwards; None if no body has a position.

    Raise InvalidInput for an unknown scale.
    """
    ids = [body_id for body_id in stars if body_id in positions and _has_drawable_position(positions[body_id])]
    if not ids:
        choose_radial_scale(np.zeros(0), 0.0, frame.radius, scale)
        return None
    flat = np.array([positions[body_id] for body_id in ids], dtype=np.float64)[:, [0, 2]]
    centre = _find_centre(stars, ids, flat)
    flat -= centre
    distances = np.hypot(flat[:, 0], flat[:, 1])
    lines = {body_id: path[:, [0, 2]] - centre for body_id, path in paths.items() if _is_drawable(path)}
    reach = [float(np.hypot(line[:, 0], line[:, 1]).max()) for line in lines.values()]
    radial_scale = choose_radial_scale(distances, max(float(distances.max()), *reach, 0.0) * _EDGE, frame.radius, scale)
    middle = np.array([frame.x, frame.y])
    page = radial_scale.compute_page_offsets(flat) + middle
    dots = _compute_dot_sizes([stars[body_id] for body_id in ids], frame.unit)
    hidden = _find_hidden_moons(stars, ids, page, dots)
    return VisibleBodies(
        ids,
        radial_scale,
        page,
        dots,
        hidden,
        {body_id: radial_scale.compute_page_offsets(line) + middle for body_id, line in lines.items()},
    )


def is_luminous(body: Mapping[str, Any]) -> bool:
    kind = body.get("bodyType")
    return kind in SHINING if kind is not None else body.get("parentId") is None


def _has_drawable_position(position: Iterable[float]) -> bool:
    return all(abs(part) < _FARTHEST for part in position)


def _is_drawable(path: Floats) -> bool:
    return len(path) > 1 and bool((np.abs(path) < _FARTHEST).all())


def _find_centre(stars: Bodies, ids: list[str], flat: Floats) -> Floats:
    """Return the mean position of the bodies without a parent."""
    present = set(ids)
    roots = [index for index, body_id in enumerate(ids) if stars[body_id].get("parentId") not in present]
    return flat[roots or slice(None)].mean(axis=0)


def _compute_dot_sizes(bodies: list[Mapping[str, Any]], unit: float) -> Floats:
    """Return sizes that grow slowly with the radius, so that planets are visible beside their star.

    Smaller for many bodies.
    """
    radii = np.array([_read_radius(body) for body in bodies])
    largest = float(radii.max())
    sizes = _LARGEST_DOT * (radii / largest) ** _GROWTH if largest > 0 else np.full(len(bodies), _LARGEST_DOT / 2)
    crowd = min(1.0, (_CROWD / len(bodies)) ** 0.4)
    return np.maximum(sizes, _SMALLEST_DOT) * unit * crowd


def _read_radius(body: Mapping[str, Any]) -> float:
    radius = body.get("radius")
    if isinstance(radius, bool) or not isinstance(radius, (int, float)):
        return 0.0
    return float(radius) if 0 < radius < _FARTHEST else 0.0


def _find_hidden_moons(stars: Bodies, ids: list[str], page: Floats, dots: Floats) -> NDArray[np.bool_]:
    index_of = {body_id: index for index, body_id in enumerate(ids)}
    parents = [stars[body_id].get("parentId") for body_id in ids]
    above = np.array(
        [index_of.get(parent, own) if isinstance(parent, str) else own for own, parent in enumerate(parents)]
    )
    offset = page - page[above]
    apart = np.hypot(offset[:, 0], offset[:, 1])
    return (above != np.arange(len(ids))) & (apart < dots[above] + 0.6 * dots + 1)
