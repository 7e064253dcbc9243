"""When and how closely two bodies pass each other during a run, from its samples."""

from typing import Final

import numpy as np

from universe.nbody.gravity import Gravity
from universe.orbits.anomaly import Floats

_PARTS: Final = np.linspace(-1.0, 1.0, 33)
_BLOCK: Final = 2_000


def passages(
    masses: Floats, times: Floats, positions: Floats, velocities: Floats, first: int, second: int
) -> tuple[Floats, Floats]:
    """Return the days and distances (AU) of all local minima of the distance of two bodies.

    Between samples the motion is the polynomial that has their positions, velocities and accelerations. Samples a
    quarter of the shorter period apart give distances to about a thousandth.
    """
    apart = positions[:, second] - positions[:, first]
    squares = (apart * apart).sum(axis=1)
    middle = squares[1:-1]
    lows = np.flatnonzero((middle <= squares[:-2]) & (middle < squares[2:])) + 1
    days: list[Floats] = []
    distances: list[Floats] = []
    for begin in range(0, lows.size, _BLOCK):
        some = lows[begin : begin + _BLOCK]
        speeds = velocities[:, second] - velocities[:, first]
        around = np.stack([some - 1, some, some + 1])
        pulls = _pulls(masses, positions[around.ravel()], first, second).reshape(3, some.size, 3)
        place, speed = apart[around], speeds[around]
        step = times[some + 1] - times[some]
        found = np.concatenate(
            [
                _between(place[0:2], speed[0:2], pulls[0:2], step, 1 + _PARTS[:16]),
                _between(place[1:3], speed[1:3], pulls[1:3], step, _PARTS[16:]),
            ]
        )
        size = np.sqrt((found * found).sum(axis=2))
        least = size.argmin(axis=0)
        days.append(times[some] + _PARTS[least] * step)
        distances.append(size[least, np.arange(some.size)])
    if not days:
        return np.zeros(0), np.zeros(0)
    return np.concatenate(days), np.concatenate(distances)


def _pulls(masses: Floats, positions: Floats, first: int, second: int) -> Floats:
    felt = Gravity(masses).accelerations(np.ascontiguousarray(positions.transpose(0, 2, 1)))
    return felt[:, :, second] - felt[:, :, first]


def _between(place: Floats, speed: Floats, pull: Floats, step: Floats, parts: Floats) -> Floats:
    """Return positions at parts (0 to 1) of the way between two samples; shape (parts, k, 3)."""
    h = step[:, None]
    x, v, a = place[0], h * speed[0], h * h * pull[0]
    left_x, left_v, left_a = place[1] - x - v - a / 2, h * speed[1] - v - a, h * h * pull[1] - a
    c3 = 10 * left_x - 4 * left_v + left_a / 2
    c4 = -15 * left_x + 7 * left_v - left_a
    c5 = 6 * left_x - 3 * left_v + left_a / 2
    t = parts[:, None, None]
    return x + t * (v + t * (a / 2 + t * (c3 + t * (c4 + t * c5))))
