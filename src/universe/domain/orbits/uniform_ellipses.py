"""Apply the compatible rule to one body or many: ellipses centred on the parent, and the paths of rogue planets.

The ellipse is traversed at a uniform rate. The orbit lies in the XZ plane (Y is up), is turned about Z, then Y, then X,
and is then shifted by its offset.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import NoneType
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import read_number
from uraniborg.kernel.errors import InvalidInput

Point = tuple[float, float, float]

_DEGREE: Final = math.pi / 180
_ROGUE_AXIS: Final = 100.0
_SECONDS_PER_ROGUE_AXIS: Final = 5.0
_TRAJECTORY_WINDOW: Final = 100.0


def compute_local_position(body: Mapping[str, Any], t: float) -> Point:
    """Return the position of `body` relative to its parent at simulation time `t`; NaN if it has no ellipse."""
    angle = t * read_number(body, "orbitalSpeed", 0.0) * _DEGREE + read_number(body, "orbitalPhase", 0.0) * _DEGREE
    return _compute_ellipse_point(body, _read_semi_major_axis(body), angle, _read_point(body, "orbitOffset"))


def compute_orbit_path(body: Mapping[str, Any], segments: int = 64) -> list[Point]:
    """Return the orbit relative to the parent as `segments` + 1 points, the last equal to the first."""
    check_at_least_one_segment(segments)
    axis, centre = _read_semi_major_axis(body), _read_point(body, "orbitOffset")
    return [_compute_ellipse_point(body, axis, i / segments * 360 * _DEGREE, centre) for i in range(segments + 1)]


def compute_rogue_position(rogue_planet: Mapping[str, Any], t: float) -> Point:
    """Return the position of a rogue planet: on a straight line or, with a curvature, on an ellipse."""
    if not has_curved_path(rogue_planet):
        (x, y, z), (vx, vy, vz) = read_rogue_start(rogue_planet), read_rogue_velocity(rogue_planet)
        return (x + vx * t, y + vy * t, z + vz * t)
    axis, period = read_rogue_ellipse(rogue_planet)
    angle = t * (360 / period) * _DEGREE if period else math.nan
    return _compute_ellipse_point(rogue_planet, axis, angle, read_rogue_centre(rogue_planet))


def compute_rogue_trajectory(
    rogue_planet: Mapping[str, Any],
    current_time: float,
    sample_count: int = 32,
    *,
    past_window: float | None = None,
    future_window: float | None = None,
) -> tuple[list[Point], list[Point]]:
    """Return past points of a rogue planet (`sample_count` + 1 up to now) and future points (`sample_count`).

    Windows are in seconds; the defaults are those of the planet, or follow from its period. Before time 0 the
    planet has its position at time 0.
    """
    check_at_least_one_segment(sample_count, "sample_count")
    back, ahead = read_rogue_preview_windows(rogue_planet)
    back = back if past_window is None else past_window
    ahead = ahead if future_window is None else future_window
    past = [max(0.0, current_time - back + back * i / sample_count) for i in range(sample_count + 1)]
    future = [current_time + ahead * i / sample_count for i in range(1, sample_count + 1)]
    return [compute_rogue_position(rogue_planet, t) for t in past], [
        compute_rogue_position(rogue_planet, t) for t in future
    ]


def has_curved_path(rogue_planet: Mapping[str, Any]) -> bool:
    return read_number(rogue_planet, "pathCurvature", 0.0) != 0


def read_rogue_start(rogue_planet: Mapping[str, Any]) -> Point:
    return _read_vector(rogue_planet, "initialPosition")


def read_rogue_velocity(rogue_planet: Mapping[str, Any]) -> Point:
    return _read_vector(rogue_planet, "velocity")


def read_rogue_centre(rogue_planet: Mapping[str, Any]) -> Point:
    (x, y, z), (dx, dy, dz) = read_rogue_start(rogue_planet), _read_point(rogue_planet, "pathOffset")
    return (x + dx, y + dy, z + dz)


def read_rogue_ellipse(rogue_planet: Mapping[str, Any]) -> tuple[float, float]:
    """Return the semi-major axis of a curved path, and its period in seconds."""
    axis = read_number(rogue_planet, "semiMajorAxis", _ROGUE_AXIS)
    return axis, read_number(rogue_planet, "pathPeriod", _SECONDS_PER_ROGUE_AXIS * axis)


def read_rogue_preview_windows(rogue_planet: Mapping[str, Any]) -> tuple[float, float]:
    """Return the past and future seconds that a preview of the path shows."""
    period = read_number(rogue_planet, "pathPeriod") if has_curved_path(rogue_planet) else None
    window = _TRAJECTORY_WINDOW if period is None else period / 4
    return read_number(rogue_planet, "trajectoryPastWindow", window), read_number(
        rogue_planet, "trajectoryFutureWindow", window
    )


def check_at_least_one_segment(segments: int, argument: str = "segments") -> None:
    if segments < 1:
        raise InvalidInput(
            f"{argument} is {segments}, but a path needs at least 1.",
            hint="Use 1 or more.",
            argument=argument,
            allowed=">= 1",
        )


def _read_semi_major_axis(body: Mapping[str, Any]) -> float:
    axis = read_number(body, "semiMajorAxis")
    return read_number(body, "orbitalDistance", 0.0) if axis is None else axis


def _compute_ellipse_point(shape: Mapping[str, Any], axis: float, angle: float, centre: Point) -> Point:
    """Return the point at `angle` of the ellipse with the eccentricity and rotations of `shape`."""
    eccentricity = read_number(shape, "eccentricity", 0.0)
    squeezed = 1 - eccentricity * eccentricity
    if squeezed < 0 or not math.isfinite(angle):
        return (math.nan, math.nan, math.nan)
    x, y, z = axis * math.cos(angle), 0.0, axis * math.sqrt(squeezed) * math.sin(angle)
    cos, sin = _compute_cosine_and_sine(shape, "orbitRotZ")
    x, y = x * cos - y * sin, x * sin + y * cos
    cos, sin = _compute_cosine_and_sine(shape, "orbitRotY")
    x, z = x * cos + z * sin, -x * sin + z * cos
    cos, sin = _compute_cosine_and_sine(shape, "orbitRotX")
    y, z = y * cos - z * sin, y * sin + z * cos
    return (x + centre[0], y + centre[1], z + centre[2])


def _compute_cosine_and_sine(shape: Mapping[str, Any], name: str) -> tuple[float, float]:
    angle = read_number(shape, name, 0.0) * _DEGREE
    return math.cos(angle), math.sin(angle)


def _read_point(fields: Mapping[str, Any], prefix: str) -> Point:
    return (
        read_number(fields, f"{prefix}X", 0.0),
        read_number(fields, f"{prefix}Y", 0.0),
        read_number(fields, f"{prefix}Z", 0.0),
    )


def _read_vector(fields: Mapping[str, Any], name: str) -> Point:
    vector = fields.get(name)
    if not isinstance(vector, Mapping):
        raise InvalidInput(
            f"'{name}' is missing or has no x, y and z.",
            hint="Give the three numbers.",
            argument=name,
            allowed="an object with x, y and z",
        )
    x, y, z = (read_number(cast("Mapping[str, Any]", vector), axis) for axis in "xyz")
    if x is None or y is None or z is None:
        raise InvalidInput(
            f"'{name}' must have x, y and z.", hint="Give all three numbers.", argument=name, allowed="x, y and z"
        )
    return (x, y, z)


_PLAIN: Final = frozenset({int, float, NoneType})
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


class StraightPaths:
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

    straight: StraightPaths
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
        StraightPaths(straight[:, :3], straight[:, 3:6], straight[:, 6]),
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
