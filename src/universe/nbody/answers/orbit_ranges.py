"""How far a run ranged: the elements of each body, the period ratio and the closest approach of each pair."""

import math
from itertools import combinations
from typing import Any, Final

import numpy as np

from universe.nbody.answers.motion import Motion
from universe.nbody.encounters import Closest
from universe.orbits.anomaly import Floats

_MOST_PAIRS: Final = 300


def orbits_of(motion: Motion) -> dict[str, dict[str, Any]]:
    """Return the least, mean and largest a (AU), e and i (degrees) of each body with a centre, and its mean period."""
    return {
        motion.ids[body]: {
            "semiMajorAxis": _range(motion.axes[:, body]),
            "eccentricity": _range(motion.eccentricities[:, body]),
            "inclination": _range(motion.inclinations[:, body]),
            "meanPeriod": finite(float(motion.periods[body])),
        }
        for body, parent in enumerate(motion.parents)
        if parent >= 0
    }


def pairs_of(motion: Motion, closest: Closest | None) -> list[dict[str, Any]]:
    """Return the period ratio and the closest approach of each pair of siblings, neighbours first.

    Of more than 300 pairs only the first are in the list: those with the fewest siblings between them.
    """
    pairs = [
        (rank_outer - rank_inner, family[rank_inner], family[rank_outer])
        for family in motion.families()
        for rank_inner, rank_outer in combinations(range(len(family)), 2)
    ]
    return [
        {
            "inner": motion.ids[inner],
            "outer": motion.ids[outer],
            "periodRatio": finite(float(motion.periods[outer] / motion.periods[inner])),
            "closest": None if closest is None else _closest(closest, inner, outer),
        }
        for _, inner, outer in sorted(pairs)[:_MOST_PAIRS]
    ]


def finite(value: float) -> float | None:
    """Return a number that JSON can carry, or None."""
    return value if math.isfinite(value) else None


def _closest(closest: Closest, inner: int, outer: int) -> dict[str, Any] | None:
    distance = finite(float(closest.distance_au[inner, outer]))
    if distance is None:
        return None
    hill, day = (float(values[inner, outer]) for values in (closest.hill_radii, closest.days))
    return {"au": distance, "hillRadii": finite(hill), "day": finite(day)}


def _range(values: Floats) -> dict[str, float] | None:
    """Return the least, mean and largest value, or None if there is none."""
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    return {"min": float(known.min()), "mean": float(known.mean()), "max": float(known.max())}
