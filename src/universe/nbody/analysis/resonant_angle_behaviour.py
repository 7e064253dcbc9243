"""Classification of resonant angles: libration about a value, or circulation through all values."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from universe.nbody.replies import AngleBehaviour
from universe.orbits.kepler_equation import Floats

LIBRATES: Final = "librates"
CIRCULATES: Final = "circulates"
UNCLEAR: Final = "unclear"

LEAST_ORBITS: Final = 50
"""Orbits of the outermost body below which a slow drift and a libration look the same."""
_WIDEST: Final = 270.0
"""Degrees between the ends of a swing beyond which a libration is not claimed."""
_WIDE: Final = 180.0
"""Degrees between the ends of a swing beyond which one return is not enough."""
_SMOOTHED: Final = 1 / 40
"""Part of the run over which an angle is averaged, so that only slow changes of direction count."""
_RETURN: Final = 0.05
"""The part of its range that an angle must return for its direction to count as reversed."""
_POINTS: Final = 400
_STILL: Final = 1e-6
_BLURRED: Final = 10.0
"""Degrees of error of an angle beyond which its behaviour is not known."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How an angle moved during a run, in degrees. A circulating angle has no centre."""

    behaviour: str
    centre: float | None
    half_range: float | None
    """The largest distance from the centre."""
    reason: str | None = None
    """Why the behaviour is unclear."""

    def to_plain(self) -> AngleBehaviour:
        """Return the fields of a reply."""
        found: AngleBehaviour = {
            "behaviour": self.behaviour,
            "centre": None if self.centre is None else round(self.centre, 3),
            "halfRange": None if self.half_range is None else round(self.half_range, 3),
        }
        return found if self.reason is None else {**found, "reason": self.reason}


def classify_angle(angle: Floats, *, orbits: float, error: float = 0.0) -> Behaviour:
    """Return how an angle (degrees, with whole turns, evenly sampled) moved.

    `orbits` is how many times the outermost body went around, `error` the degrees to which the angle is known.
    """
    if angle.size < 3 or not np.isfinite(angle).all():
        return Behaviour(UNCLEAR, None, None, "The samples do not determine the angle.")
    if not error <= _BLURRED:
        return Behaviour(UNCLEAR, None, None, f"The arithmetic error of the angle is {error:.3g} degrees.")
    reach = float(np.ptp(angle))
    if reach >= 360:
        return Behaviour(CIRCULATES, None, None)
    mean = float(angle.mean())
    swing = float(np.abs(angle - mean).max())
    if orbits < LEAST_ORBITS:
        reason = f"The run covers {orbits:.3g} orbits of the outermost body, fewer than {LEAST_ORBITS}."
    elif reach < _STILL:
        reason = "The angle did not move: the bodies do not attract each other, or too little."
    elif reach > _WIDEST:
        reason = f"The angle went through {reach:.0f} degrees: neither a full turn nor clearly a swing."
    elif _count_reversals(angle, orbits) < (3 if reach > _WIDE else 1):
        reason = f"The angle drifted by {reach:.3g} degrees and did not come back, or not often enough."
    else:
        reason = None
    return Behaviour(UNCLEAR if reason else LIBRATES, mean % 360, swing, reason)


def _count_reversals(angle: Floats, orbits: float) -> int:
    """Return how often the slow part of an angle reversed its direction."""
    window = max(1, round(angle.size * max(_SMOOTHED, 2 / orbits)))
    sums = np.concatenate([[0.0], np.cumsum(angle - angle[0])])
    slow = (sums[window:] - sums[:-window]) / window
    least = _RETURN * float(np.ptp(slow))
    lowest = highest = float(slow[0])
    rising: bool | None = None
    returns = 0
    for value in slow[:: max(1, slow.size // _POINTS)].tolist():
        if rising is not False and value < highest - least:
            returns += rising is not None
            rising, lowest = False, value
        elif rising is not True and value > lowest + least:
            returns += rising is not None
            rising, highest = True, value
        lowest, highest = min(lowest, value), max(highest, value)
    return returns


def compute_circular_difference(first: float, second: float) -> float:
    """Return the degrees from one angle to another, from -180 to 180."""
    return math.remainder(second - first, 360)
