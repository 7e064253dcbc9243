"""Collect all answers of a run as plain values for a reply."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from universe.nbody.analysis.angular_momentum_deficit import compute_angular_momentum_deficit
from universe.nbody.analysis.chaos import estimate_chaos
from universe.nbody.analysis.orbit_history import OrbitHistory, Samples, compute_orbit_history
from universe.nbody.analysis.orbit_summary import find_ejections, summarise_orbits, summarise_pairs
from universe.nbody.analysis.resonances import find_resonances
from universe.nbody.analysis.verdict_text import Findings, compose_verdict
from universe.nbody.replies import RunAnalysis
from universe.nbody.runs import Run
from universe.orbits.kepler_equation import Floats

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
