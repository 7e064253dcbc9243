"""How far the orbits and distances of a run ranged: elements of each body, period ratios and approaches of each pair."""

import math
from itertools import combinations
from typing import Any, Final, Protocol

import numpy as np

from universe.nbody.answers.motion import Motion
from universe.orbits.anomaly import Floats

_HEAVY: Final = 0.1
"""Part of its parent's mass beyond which a body does not have a Hill radius worth the name."""
_MOST_PAIRS: Final = 300


class Approaches(Protocol):
    """The closest approaches of pairs: indices of bodies, distances in AU and days."""

    @property
    def first(self) -> Any: ...
    @property
    def second(self) -> Any: ...
    @property
    def distances(self) -> Floats: ...
    @property
    def days(self) -> Floats: ...


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


def pairs_of(motion: Motion, approaches: Approaches | None) -> list[dict[str, Any]]:
    """Return the period ratio and the closest approach of each pair of siblings, neighbours first.

    Of more than 300 pairs only the first are in the list: those with the fewest siblings between them.
    """
    closest: dict[frozenset[int], tuple[float, float]] = {}
    if approaches is not None:
        rows = zip(approaches.first, approaches.second, approaches.distances, approaches.days, strict=True)
        closest = {frozenset((int(i), int(j))): (float(distance), float(day)) for i, j, distance, day in rows}
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
            "closest": _closest(motion, inner, outer, closest.get(frozenset((inner, outer)))),
        }
        for _, inner, outer in sorted(pairs)[:_MOST_PAIRS]
    ]


def hill_radius(motion: Motion, inner: int, outer: int) -> float:
    """Return the mutual Hill radius of two siblings at the start in AU; not-a-number where it has no meaning."""
    central = float(motion.central_masses[inner])
    mass = float(motion.masses[inner] + motion.masses[outer])
    if not 0 < mass < _HEAVY * central:
        return math.nan
    return math.cbrt(mass / (3 * central)) * float(motion.axes[0, inner] + motion.axes[0, outer]) / 2


def finite(value: float) -> float | None:
    """Return a number that JSON can carry, or None."""
    return value if math.isfinite(value) else None


def _closest(motion: Motion, inner: int, outer: int, found: tuple[float, float] | None) -> dict[str, Any] | None:
    if found is None or not math.isfinite(found[0]):
        return None
    distance, day = found
    return {"au": distance, "hillRadii": finite(distance / hill_radius(motion, inner, outer)), "day": day}


def _range(values: Floats) -> dict[str, float] | None:
    """Return the least, mean and largest value, or None if there is none."""
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    return {"min": float(known.min()), "mean": float(known.mean()), "max": float(known.max())}
