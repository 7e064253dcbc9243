"""Apply the compatible rule to many bodies at once: ellipses, and the paths of rogue planets."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import NoneType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from universe.orbits.kepler_equation import Floats
from universe.orbits.number_fields import read_number
from universe.orbits.uniform_ellipses import (
    has_curved_path,
    read_rogue_centre,
    read_rogue_ellipse,
    read_rogue_preview_windows,
    read_rogue_start,
    read_rogue_velocity,
)
from uraniborg.kernel.errors import InvalidInput

_PLAIN: Final = frozenset({int, float, NoneType})
_DEGREE: Final = math.pi / 180
_TURN: Final = 2 * math.pi
SHAPE: Final = ("eccentricity", "orbitRotX", "orbitRotY", "orbitRotZ")
FIELDS: Final = (
    *SHAPE,
    *("orbitOffsetX", "orbitOffsetY", "orbitOffsetZ"),
    *("orbitalSpeed", "orbitalPhase"),
    *("semiMajorAxis", "orbitalDistance"),
)


def read_number_table(
    bodies: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> tuple[NDArray[np.float64], dict[int, str]]:
    """Return the named numbers of each body as a row, NaN for absent ones, and the problems of rows by index."""
    rows = [[body.get(name) for name in names] for body in bodies]
    values = list(chain.from_iterable(rows))
    # Most tables have only plain numbers; this check is a hundred times faster than one by one.
    if _PLAIN.issuperset(map(type, values)):
        try:
            found = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
        except OverflowError:
            return _read_rows_one_by_one(bodies, names)
        if not np.isinf(found).any() and np.isnan(found).sum() == values.count(None):
            return found, {}
    return _read_rows_one_by_one(bodies, names)


def _read_rows_one_by_one(
    bodies: Sequence[Mapping[str, Any]], names: Sequence[str]
) -> tuple[NDArray[np.float64], dict[int, str]]:
    found = np.full((len(bodies), len(names)), math.nan)
    problems: dict[int, str] = {}
    for index, body in enumerate(bodies):
        try:
            found[index] = [read_number(body, name, math.nan) for name in names]
        except InvalidInput as exc:
            problems[index] = exc.message
    return found, problems


class Ellipses:
    """n ellipses: their semi-major axes, shapes (n rows of SHAPE), centres (n, 3), and degrees per second and at 0."""

    def __init__(self, axes: Floats, shapes: Floats, centres: Floats, speeds: Floats, phases: Floats) -> None:
        first, second = _compute_plane_vectors(shapes[:, 1:] * _DEGREE)
        self.second = second * (axes * np.sqrt(1 - shapes[:, 0] ** 2))
        self.first = first * axes
        self.centres = centres.T.copy()
        self.speeds = speeds
        self.phases = phases * _DEGREE

    def compute_positions(self, t: float) -> Floats:
        """Return the positions at time `t` as an (n, 3) array."""
        angle = t * self.speeds * _DEGREE + self.phases
        return (self.first * np.cos(angle) + self.second * np.sin(angle) + self.centres).T

    def compute_path(self, index: int, segments: int) -> Floats:
        """Return one ellipse as (segments + 1, 3) points."""
        around = np.linspace(0, _TURN, segments + 1)
        flat = np.outer(np.cos(around), self.first[:, index]) + np.outer(np.sin(around), self.second[:, index])
        return flat + self.centres[:, index]


def read_ellipses(bodies: Sequence[Mapping[str, Any]]) -> tuple[Ellipses, dict[int, str]]:
    """Return the ellipses of bodies by the compatible rule, and for bodies without one the reason, by index."""
    found, problems = read_number_table(bodies, FIELDS)
    eccentricity, axes, distances = found[:, 0], found[:, 9], found[:, 10]
    axes = np.where(np.isnan(axes), distances, axes)
    # An orbital distance of exactly 0 means no orbit: axis, tilt and offset are ignored.
    no_orbit = distances == 0
    found[no_orbit] = axes[no_orbit] = 0.0
    too_large = np.flatnonzero(np.abs(eccentricity) > 1).tolist()
    problems |= {index: describe_open_ellipse(eccentricity[index]) for index in too_large}
    given, axes = np.nan_to_num(found, nan=0.0), np.nan_to_num(axes, nan=0.0)
    return Ellipses(axes, given[:, :4], given[:, 4:7], given[:, 7], given[:, 8]), problems


def describe_open_ellipse(eccentricity: float) -> str:
    return f"Its eccentricity is {eccentricity}; an ellipse needs one of at most 1."


def _compute_plane_vectors(turns: Floats) -> tuple[Floats, Floats]:
    """Return the unit vectors of x and z, rotated about Z, then Y, then X; each of shape (3, n)."""
    (cos_x, cos_y, cos_z), (sin_x, sin_y, sin_z) = np.cos(turns).T, np.sin(turns).T
    first = (cos_z * cos_y, sin_z * cos_x + cos_z * sin_y * sin_x, sin_z * sin_x - cos_z * sin_y * cos_x)
    second = (sin_y, -cos_y * sin_x, cos_y * cos_x)
    return np.array(first), np.array(second)


class Lines:
    """n straight paths: positions at time 0, velocities, and the seconds that a path shows."""

    def __init__(self, starts: Floats, velocities: Floats, windows: Floats) -> None:
        self.starts = starts
        self.velocities = velocities
        self._windows = windows

    def compute_positions(self, t: float) -> Floats:
        """Return the positions at time `t` as an (n, 3) array."""
        return self.starts + self.velocities * t

    def compute_path(self, index: int, segments: int) -> Floats:
        """Return the previewed part of one line as (segments + 1, 3) points."""
        times = np.linspace(0.0, float(self._windows[index]), segments + 1)
        return self.starts[index] + np.outer(times, self.velocities[index])


@dataclass(frozen=True, slots=True)
class RoguePlanets:
    """Rogue planets by kind of path, with their indices in the input."""

    straight: Lines
    straight_indices: list[int]
    curved: Ellipses
    curved_indices: list[int]
    problems: dict[int, str]
    """The reason why a planet has no path, by index."""


def read_rogue_planets(rogue_planets: Sequence[Mapping[str, Any]]) -> RoguePlanets:
    """Read the `roguePlanet` objects of bodies."""
    lines: dict[int, list[float]] = {}
    ellipses: dict[int, list[float]] = {}
    problems: dict[int, str] = {}
    for index, rogue_planet in enumerate(rogue_planets):
        try:
            if has_curved_path(rogue_planet):
                ellipses[index] = _read_rogue_ellipse_row(rogue_planet)
            else:
                lines[index] = [
                    *read_rogue_start(rogue_planet),
                    *read_rogue_velocity(rogue_planet),
                    sum(read_rogue_preview_windows(rogue_planet)),
                ]
        except InvalidInput as exc:
            problems[index] = exc.message
    straight = np.array(list(lines.values()), dtype=np.float64).reshape(-1, 7)
    curved = np.array(list(ellipses.values()), dtype=np.float64).reshape(-1, 9)
    return RoguePlanets(
        Lines(straight[:, :3], straight[:, 3:6], straight[:, 6]),
        list(lines),
        Ellipses(curved[:, 0], curved[:, 1:5], curved[:, 5:8], curved[:, 8], np.zeros(len(curved))),
        list(ellipses),
        problems,
    )


def _read_rogue_ellipse_row(rogue_planet: Mapping[str, Any]) -> list[float]:
    axis, period = read_rogue_ellipse(rogue_planet)
    shape = [read_number(rogue_planet, name, 0.0) for name in SHAPE]
    if abs(shape[0]) > 1:
        raise InvalidInput(describe_open_ellipse(shape[0]), hint="Set it from 0 to 1.", argument="eccentricity")
    if period == 0:
        raise InvalidInput("Its pathPeriod is 0.", hint="Set pathPeriod above 0.", argument="pathPeriod")
    return [axis, *shape, *read_rogue_centre(rogue_planet), 360 / period]
