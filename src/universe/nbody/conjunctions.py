"""When and how closely two bodies pass each other during a run, from its samples."""

from typing import Final

import numpy as np

from universe.nbody.gravity import Gravity
from universe.nbody.segments import HermiteSegment
from universe.orbits.anomaly import Floats

_PARTS: Final = np.linspace(0.0, 1.0, 17)
_FAR: Final = 1e9
"""AU away, where a body that is gone pulls at nothing."""


def passages(
    masses: Floats, times: Floats, positions: Floats, velocities: Floats, first: int, second: int
) -> tuple[Floats, Floats]:
    """Return the days and distances (AU) of all local minima of the distance of two bodies at evenly spread times.

    Between samples the motion is the polynomial that has their positions, velocities and accelerations. Samples a
    quarter of the shorter period apart give distances to about a thousandth.
    """
    apart, speeds = (values[:, second] - values[:, first] for values in (positions, velocities))
    squares = (apart * apart).sum(axis=1)
    lows = np.flatnonzero((squares[1:-1] <= squares[:-2]) & (squares[1:-1] < squares[2:])) + 1
    if not lows.size:
        return np.zeros(0), np.zeros(0)
    felt = Gravity(masses).accelerations(np.nan_to_num(positions.transpose(0, 2, 1), nan=_FAR))
    pulls = felt[:, :, second] - felt[:, :, first]
    step = float(times[1] - times[0])
    days: list[Floats] = []
    sizes: list[Floats] = []
    for begin, end in ((lows - 1, lows), (lows, lows + 1)):
        # All passages are the bodies of one step: they have its length in common.
        motion = HermiteSegment(
            0.0, step, apart[begin].T, speeds[begin].T, apart[end].T, speeds[end].T, pulls[begin].T, pulls[end].T
        ).motion(step * _PARTS)[0]
        size = np.sqrt((motion * motion).sum(axis=1))
        least = size.argmin(axis=0)
        days.append(times[begin] + step * _PARTS[least])
        sizes.append(size.min(axis=0))
    is_second = sizes[1] < sizes[0]
    return np.where(is_second, days[1], days[0]), np.where(is_second, sizes[1], sizes[0])
