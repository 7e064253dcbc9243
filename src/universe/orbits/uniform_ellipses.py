"""Apply the compatible rule to one body: an ellipse centred on the parent, traversed at a uniform rate.

The orbit lies in the XZ plane (Y is up), is turned about Z, then Y, then X, and is then shifted by its offset.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, cast

from universe.orbits.number_fields import read_number
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
