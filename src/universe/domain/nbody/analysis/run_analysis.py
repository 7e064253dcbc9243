"""Collect all answers of a run as plain values: ranges of orbits, approaches, ejections, resonances, stability."""

import math
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from universe.domain.nbody.analysis.resonances import find_resonances
from universe.domain.nbody.analysis.stability import compute_angular_momentum_deficit, estimate_chaos
from universe.domain.nbody.analysis.verdict_text import Findings, compose_verdict
from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.integration.collisions_and_encounters import ClosestApproaches
from universe.domain.nbody.measurement_replies import (
    ClosestApproach,
    Ejection,
    OrbitPair,
    OrbitRanges,
    Range,
    RunAnalysis,
)
from universe.domain.nbody.osculating_orbits import (
    OrbitHistory,
    Samples,
    compute_orbit_history,
    iterate_pairs_neighbours_first,
)
from universe.domain.nbody.runs import Run
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import finite_or_none

_MOST_STATES: Final = 1_000_000
"""Samples times bodies: the elements of so many states take some hundred megabytes."""


def analyse_run(run: Run, motion: OrbitHistory | None = None) -> RunAnalysis:
    """Return verdict, orbits, pairs, resonances, ejections, chaos and amd of a run, as JSON values.

    `motion` is the result of `compute_run_orbit_history`, if the caller has it.
    """
    motion = compute_run_orbit_history(run) if motion is None else motion
    resonances = find_resonances(motion, run.worst_error_degrees)
    pairs = summarise_pairs(motion, run.closest)
    ejections = find_ejections(run.start, motion, _move_merged_bodies_to_survivors(run, _choose_samples(run)))
    chaos = estimate_chaos(run.divergence.times, run.divergence.log_distance, run_days=run.days)
    findings = Findings(
        motion,
        run.worst_error_degrees,
        run.trustworthy,
        resonances,
        pairs,
        ejections,
        run.encounter_count,
        len(run.collisions),
        chaos,
        run.start.notes,
        run.method,
        abs(run.days),
    )
    return {
        "verdict": compose_verdict(findings),
        "orbits": summarise_orbits(motion),
        "pairs": pairs,
        "resonances": [one.to_plain(motion) for one in resonances],
        "ejections": ejections,
        "chaos": chaos.to_plain(),
        "amd": compute_angular_momentum_deficit(motion, has_resonances=bool(resonances)),
    }


def compute_run_orbit_history(run: Run) -> OrbitHistory:
    """Return the osculating orbits of a run. A body that has merged into another has none from then on."""
    samples = _choose_samples(run)
    return compute_orbit_history(run.start, _move_merged_bodies_to_survivors(run, samples)).mask_bodies(
        np.isnan(samples.positions[:, :, 0])
    )


@dataclass(frozen=True, slots=True)
class _States:
    times: Floats
    positions: Floats
    velocities: Floats


def _choose_samples(run: Run) -> Samples:
    """Return the samples of a run, fewer if they are many, or its start alone if it has none."""
    samples = run.samples
    if not samples.times.size:
        return _States(np.zeros(1), run.start.positions[None], run.start.velocities[None])
    every = math.ceil(samples.times.size * len(run.start.ids) / _MOST_STATES)
    return _States(samples.times[::every], samples.positions[::every], samples.velocities[::every])


def _move_merged_bodies_to_survivors(run: Run, samples: Samples) -> Samples:
    """Return the samples with each merged body at the position of the body it merged into.

    The orbits further out then are about the same mass as before.
    """
    if not np.isnan(samples.positions).any():
        return samples
    positions, velocities = samples.positions.copy(), samples.velocities.copy()
    ids = run.start.ids
    for collision in reversed(run.collisions):
        if collision.survivor is None:
            continue
        survivor = ids.index(collision.survivor)
        gone = next(ids.index(body) for body in collision.bodies if body != collision.survivor)
        for states in (positions, velocities):
            is_gone = np.isnan(states[:, gone, 0])
            states[is_gone, gone] = states[is_gone, survivor]
    return _States(samples.times, positions, velocities)


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
