"""The compatible rule: ellipses centred on the parent, run through at a uniform rate. One body at a time.

The orbit lies in the XZ plane (Y is up), is turned about Z, then Y, then X, and is then shifted by its offset.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, cast

from universe.orbits.numbers import number
from uraniborg.kernel.errors import InvalidInput

Point = tuple[float, float, float]

_DEGREE: Final = math.pi / 180
_ROGUE_AXIS: Final = 100.0
_SECONDS_PER_ROGUE_AXIS: Final = 5.0
_TRAJECTORY_WINDOW: Final = 100.0


def local_position(body: Mapping[str, Any], t: float) -> Point:
    """Where `body` is, relative to its parent, at simulation time `t`; not-a-number where no ellipse is described."""
    angle = t * number(body, "orbitalSpeed", 0.0) * _DEGREE + number(body, "orbitalPhase", 0.0) * _DEGREE
    return _on_ellipse(body, _semi_major_axis(body), angle, _point_of(body, "orbitOffset"))


def orbit_path(body: Mapping[str, Any], segments: int = 64) -> list[Point]:
    """The whole orbit relative to the parent as `segments` + 1 points, the last on the first."""
    require_segments(segments)
    axis, centre = _semi_major_axis(body), _point_of(body, "orbitOffset")
    return [_on_ellipse(body, axis, i / segments * 360 * _DEGREE, centre) for i in range(segments + 1)]


def rogue_position(meta: Mapping[str, Any], t: float) -> Point:
    """Where a rogue planet is: on a straight line or, with a curvature, on an ellipse around its own centre."""
    if not is_curved(meta):
        (x, y, z), (vx, vy, vz) = rogue_start(meta), rogue_velocity(meta)
        return (x + vx * t, y + vy * t, z + vz * t)
    axis, period = rogue_ellipse(meta)
    angle = t * (360 / period) * _DEGREE if period else math.nan
    return _on_ellipse(meta, axis, angle, rogue_centre(meta))


def rogue_trajectory(
    meta: Mapping[str, Any],
    current_time: float,
    sample_count: int = 32,
    *,
    past_window: float | None = None,
    future_window: float | None = None,
) -> tuple[list[Point], list[Point]]:
    """Where a rogue planet was (`sample_count` + 1 points up to now) and will be (`sample_count` points from now).

    Windows are in seconds; what is not given is taken from the planet, and else from its period. Before time 0 the
    planet stands where it was at 0.
    """
    require_segments(sample_count, "sample_count")
    back, ahead = rogue_windows(meta)
    back = back if past_window is None else past_window
    ahead = ahead if future_window is None else future_window
    past = [max(0.0, current_time - back + back * i / sample_count) for i in range(sample_count + 1)]
    future = [current_time + ahead * i / sample_count for i in range(1, sample_count + 1)]
    return [rogue_position(meta, t) for t in past], [rogue_position(meta, t) for t in future]


def is_curved(meta: Mapping[str, Any]) -> bool:
    return number(meta, "pathCurvature", 0.0) != 0


def rogue_start(meta: Mapping[str, Any]) -> Point:
    return _vector(meta, "initialPosition")


def rogue_velocity(meta: Mapping[str, Any]) -> Point:
    return _vector(meta, "velocity")


def rogue_centre(meta: Mapping[str, Any]) -> Point:
    (x, y, z), (dx, dy, dz) = rogue_start(meta), _point_of(meta, "pathOffset")
    return (x + dx, y + dy, z + dz)


def rogue_ellipse(meta: Mapping[str, Any]) -> tuple[float, float]:
    """The semi-major axis of a curved path, and the seconds it takes."""
    axis = number(meta, "semiMajorAxis", _ROGUE_AXIS)
    return axis, number(meta, "pathPeriod", _SECONDS_PER_ROGUE_AXIS * axis)


def rogue_windows(meta: Mapping[str, Any]) -> tuple[float, float]:
    """How many seconds of past and of future a preview of the path shows."""
    period = number(meta, "pathPeriod") if is_curved(meta) else None
    window = _TRAJECTORY_WINDOW if period is None else period / 4
    return number(meta, "trajectoryPastWindow", window), number(meta, "trajectoryFutureWindow", window)


def require_segments(segments: int, argument: str = "segments") -> None:
    if segments < 1:
        raise InvalidInput(
            f"{argument} is {segments}, but a path needs at least 1.",
            hint="Ask for one piece or more.",
            argument=argument,
            allowed=">= 1",
        )


def _semi_major_axis(body: Mapping[str, Any]) -> float:
    axis = number(body, "semiMajorAxis")
    return number(body, "orbitalDistance", 0.0) if axis is None else axis


def _on_ellipse(shape: Mapping[str, Any], axis: float, angle: float, centre: Point) -> Point:
    """The point at `angle` of the ellipse that the eccentricity and turns of `shape` describe."""
    eccentricity = number(shape, "eccentricity", 0.0)
    squeezed = 1 - eccentricity * eccentricity
    if squeezed < 0 or not math.isfinite(angle):
        return (math.nan, math.nan, math.nan)
    x, y, z = axis * math.cos(angle), 0.0, axis * math.sqrt(squeezed) * math.sin(angle)
    cos, sin = _turn(shape, "orbitRotZ")
    x, y = x * cos - y * sin, x * sin + y * cos
    cos, sin = _turn(shape, "orbitRotY")
    x, z = x * cos + z * sin, -x * sin + z * cos
    cos, sin = _turn(shape, "orbitRotX")
    y, z = y * cos - z * sin, y * sin + z * cos
    return (x + centre[0], y + centre[1], z + centre[2])


def _turn(shape: Mapping[str, Any], name: str) -> tuple[float, float]:
    angle = number(shape, name, 0.0) * _DEGREE
    return math.cos(angle), math.sin(angle)


def _point_of(fields: Mapping[str, Any], prefix: str) -> Point:
    return (number(fields, f"{prefix}X", 0.0), number(fields, f"{prefix}Y", 0.0), number(fields, f"{prefix}Z", 0.0))


def _vector(fields: Mapping[str, Any], name: str) -> Point:
    vector = fields.get(name)
    if not isinstance(vector, Mapping):
        raise InvalidInput(
            f"'{name}' is missing or has no x, y and z.",
            hint="Give the three numbers.",
            argument=name,
            allowed="an object with x, y and z",
        )
    x, y, z = (number(cast("Mapping[str, Any]", vector), axis) for axis in "xyz")
    if x is None or y is None or z is None:
        raise InvalidInput(
            f"'{name}' lacks one of x, y and z.", hint="Give all three numbers.", argument=name, allowed="x, y and z"
        )
    return (x, y, z)
