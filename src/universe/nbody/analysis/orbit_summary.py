"""Summaries of orbits during a run: ranges of elements, pairs with their closest approaches, and ejected bodies."""

from itertools import islice
from typing import Final

import numpy as np

from universe.nbody.analysis.orbit_history import OrbitHistory, Samples, iterate_pairs_neighbours_first
from universe.nbody.encounters import ClosestApproaches
from universe.nbody.initial_conditions import InitialConditions
from universe.nbody.replies import ClosestApproach, Ejection, OrbitPair, OrbitRanges, Range
from universe.orbits.kepler_equation import Floats
from universe.orbits.number_fields import finite_or_none

_HEAVY: Final = 0.1
"""The mass of two bodies, relative to their parent, above which their Hill radius has no meaning."""
_MOST_PAIRS: Final = 300


def summarise_orbits(motion: OrbitHistory) -> dict[str, OrbitRanges]:
    """Return the range of a (AU), e and i (degrees) of each body that orbits another, and its mean period."""
    return {
        motion.ids[body]: {
            "semiMajorAxis": _compute_min_mean_max(motion.axes[:, body]),
            "eccentricity": _compute_min_mean_max(motion.eccentricities[:, body]),
            "inclination": _compute_min_mean_max(motion.inclinations[:, body]),
            "meanPeriod": finite_or_none(float(motion.periods[body])),
        }
        for body, parent in enumerate(motion.parents)
        if parent >= 0
    }


def summarise_pairs(motion: OrbitHistory, closest: ClosestApproaches) -> list[OrbitPair]:
    """Return the period ratio and the closest approach of each pair of siblings, neighbours first.

    Of more than 300 pairs of a family only the first are in the list: those with the fewest siblings between them.
    """
    return [
        {
            "inner": motion.ids[inner],
            "outer": motion.ids[outer],
            "periodRatio": finite_or_none(float(motion.periods[outer] / motion.periods[inner])),
            "closest": _find_closest_approach(motion, closest, inner, outer),
        }
        for family in motion.list_sibling_families()
        for inner, outer, _ in islice(iterate_pairs_neighbours_first(family), _MOST_PAIRS)
    ]


def _find_closest_approach(
    motion: OrbitHistory, closest: ClosestApproaches, inner: int, outer: int
) -> ClosestApproach | None:
    distance = finite_or_none(float(closest.distance_au[inner, outer]))
    if distance is None:
        return None
    hill, day = (float(values[inner, outer]) for values in (closest.hill_radii, closest.days))
    is_light = motion.masses[inner] + motion.masses[outer] < _HEAVY * motion.central_masses[inner]
    return {"au": distance, "hillRadii": finite_or_none(hill) if is_light else None, "day": finite_or_none(day)}


def _compute_min_mean_max(values: Floats) -> Range | None:
    """Return the least, mean and largest value, or None if there is none."""
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    return {"min": float(known.min()), "mean": float(known.mean()), "max": float(known.max())}


def find_ejections(start: InitialConditions, motion: OrbitHistory, samples: Samples) -> list[Ejection]:
    """Return the bodies that were ejected, each with the day of the first sample after which it stayed unbound.

    A body that was unbound at the start is not in the list, nor one that comes closer at the end.
    """
    found: list[Ejection] = []
    is_bound = (motion.axes > 0) & np.isfinite(motion.axes)
    is_unbound = motion.axes[-1] < 0
    offsets = start.relative_matrix @ samples.positions[[0, -1]]
    speeds = start.relative_matrix @ samples.velocities[-1]
    for body, parent in enumerate(start.parents):
        at_end, distance = offsets[1, body], float(np.linalg.norm(offsets[1, body]))
        is_leaving = float(at_end @ speeds[body]) > 0 and distance > float(np.linalg.norm(offsets[0, body]))
        if parent < 0 or not is_bound[0, body] or not is_unbound[body] or not is_leaving:
            continue
        last_bound = int(np.flatnonzero(is_bound[:, body])[-1])
        found.append(
            {
                "id": motion.ids[body],
                "day": float(motion.times[last_bound + 1]),
                "distance": finite_or_none(distance),
                "speed": finite_or_none(float(np.linalg.norm(speeds[body]))),
            }
        )
    return found
