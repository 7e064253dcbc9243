"""Orbits as lines: faint all around, brighter where the body has just been."""

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from universe.plotting.marks import Polyline
from universe.plotting.scale import Floats

_ORBIT_OPACITY: Final = 0.26
_TRAIL_OPACITY: Final = 0.8
_TRAIL_PART: Final = 0.42
_TRAIL_STEPS: Final = 14


def draw_orbit_line(path: Floats, colour: str, width: float) -> Polyline:
    return Polyline(_list_points(path), colour, width, _ORBIT_OPACITY)


def draw_trail(path: Floats, body: Floats, colour: str, width: float, *, backwards: bool) -> Iterator[Polyline]:
    """Yield the last part of an orbit in fading pieces. `backwards`: the body moves against the path's direction."""
    behind = _trace_back_from_body(path[::-1] if backwards else path, body)
    per_step = max(1, math.ceil(len(path) * _TRAIL_PART / _TRAIL_STEPS))
    for step in range(_TRAIL_STEPS):
        piece = behind[step * per_step : (step + 1) * per_step + 1]
        if len(piece) < 2:
            return
        fading = (1 - step / _TRAIL_STEPS) ** 1.6
        yield Polyline(_list_points(piece), colour, width, _ORBIT_OPACITY + (_TRAIL_OPACITY - _ORBIT_OPACITY) * fading)


def _trace_back_from_body(path: Floats, body: Floats) -> Floats:
    """Return the points of a closed path, from the body backwards, the body first."""
    ring = path[:-1]
    offset = ring - body
    nearest = int(np.argmin(np.hypot(offset[:, 0], offset[:, 1])))
    back = np.roll(ring[::-1], nearest + 1, axis=0)
    # The nearest point may lie ahead, and a trail that begins ahead of its body looks like a hook.
    if len(back) > 1 and (back[0] - body) @ (back[1] - body) < 0:
        back = back[1:]
    return np.vstack([body, back])


def _list_points(path: Floats) -> tuple[tuple[float, float], ...]:
    return tuple((x, y) for x, y in path.tolist())
