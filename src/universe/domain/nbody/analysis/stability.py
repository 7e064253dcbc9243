"""Judge stability: chaos by MEGNO and the Lyapunov time, and the angular momentum deficit.

Chaos is estimated from two runs that start close together: P. M. Cincotta and C. Simó, "Simple tools to study global
dynamics in non-axisymmetric galactic potentials", A&AS 147, 205 (2000): the mean exponential growth factor of nearby
orbits tends to 2 for regular motion and grows in proportion to the time, as half of it over the Lyapunov time, for
chaotic motion.

The angular momentum deficit is compared with the value below which secular motion cannot make orbits cross: J. Laskar
and A. C. Petit, "AMD-stability and the classification of planetary systems", A&A 605, A72 (2017). The deficit is
constant only without mean-motion resonances, so it does not apply to a resonant chain.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from universe.domain.names_and_numbers import format_short_duration
from universe.domain.nbody.measurement_replies import ChaosFacts, Deficit, DeficitPair
from universe.domain.nbody.osculating_orbits import OrbitHistory
from universe.domain.orbits.kepler_equation import Floats

CHAOTIC: Final = 4.0
"""MEGNO above which motion counts as chaotic, if it grows."""
_REGULAR: Final = 3.0
"""MEGNO below which no chaos has appeared: that of regular motion swings about 2."""
_LEAST_SAMPLES: Final = 20
_COVERED: Final = 0.9
"""The part of a run that must be measured for an estimate of the whole run."""


@dataclass(frozen=True, slots=True)
class Chaos:
    """MEGNO at the end of a run, and the Lyapunov time in days if motion is chaotic."""

    megno: float | None
    lyapunov_days: float | None
    meaning: str

    def to_plain(self) -> ChaosFacts:
        """Return the fields of a reply."""
        return {"megno": self.megno, "lyapunovDays": self.lyapunov_days, "meaning": self.meaning}


def estimate_chaos(times: Floats, growth: Floats, *, run_days: float = 0.0) -> Chaos:
    """Return the estimate from the natural logarithm of the growth of the distance of two runs.

    Times are days since the start. The distance is one in phase space, and small at all times. They may end before
    the run of `run_days` does, where rounding or an encounter ended the measurement.
    """
    days = np.abs(times)
    if days.size and days[0] > 0:
        days, growth = np.concatenate([[0.0], days]), np.concatenate([[0.0], growth])
    if days.size < _LEAST_SAMPLES or not np.isfinite(growth).all():
        if days.size and float(days[-1]) < _COVERED * abs(run_days):
            return Chaos(None, None, "Chaos cannot be measured: rounding or an encounter separates neighbouring runs.")
        return Chaos(None, None, "The run is too short for an estimate of chaos.")
    megno = _compute_megno(days, growth)
    half, span = days.size // 2, float(days[-1])
    final, halfway = float(megno[-1]), float(megno[half])
    if final <= _REGULAR:
        return Chaos(final, None, _describe_regular(final, span, is_whole=span >= _COVERED * abs(run_days)))
    if final <= CHAOTIC or final <= halfway:
        unclear = f"Whether motion is chaotic is unclear: MEGNO is {final:.2g}, above the 2 of regular motion"
        return Chaos(final, None, f"{unclear}, but too low or not growing. Only a longer run can show it.")
    # The line through the later half is free of the first, algebraic growth.
    slope = float(np.polyfit(days[half:], growth[half:], 1)[0])
    lyapunov = 1 / slope if slope > 0 else span / (2 * final)
    return Chaos(final, lyapunov, _describe_chaotic(final, lyapunov, span))


def _compute_megno(days: Floats, growth: Floats) -> Floats:
    """Return the time-averaged MEGNO at each time after the first."""
    # Y(T) = 2/T times the integral of t d(ln distance); its running mean converges.
    middles, steps = (days[1:] + days[:-1]) / 2, np.diff(days)
    present = 2 / days[1:] * np.cumsum(middles * np.diff(growth))
    return np.cumsum(present * steps) / days[1:]


def _describe_regular(megno: float, span: float, *, is_whole: bool) -> str:
    when = "" if is_whole else f" in the first {format_short_duration(span)}, and later it could not be measured"
    return (
        f"No chaos appeared{when} (MEGNO {megno:.2g}; regular motion tends to 2). A Lyapunov time above about "
        f"{format_short_duration(span / CHAOTIC / 2)} would not show in this {'run' if is_whole else 'time'}."
    )


def _describe_chaotic(megno: float, lyapunov: float, span: float) -> str:
    return (
        f"Motion is chaotic (MEGNO {megno:.2g} and growing): small differences grow by a factor of e in about "
        f"{format_short_duration(lyapunov)}, estimated from {format_short_duration(span)}. Chaotic is not unstable."
    )


_HEAVY: Final = 0.1
_BISECTIONS: Final = 60


def compute_angular_momentum_deficit(motion: OrbitHistory, *, has_resonances: bool) -> Deficit | None:
    """Return the deficit over its critical value at the start, for the largest family, or None if it does not apply.

    `ratio` is the largest of the neighbouring pairs. The meaning says how resonances limit it.
    """
    families = motion.list_sibling_families()
    massive = [body for body in max(families, key=len) if motion.masses[body] > 0] if families else []
    if len(massive) < 2 or not all(_is_deficit_defined(motion, body) for body in massive):
        return None
    axes = motion.axes[0, massive]
    if (np.diff(axes) <= 0).any():
        return None
    momenta = motion.masses[massive] * np.sqrt(motion.central_masses[massive] * axes)
    flatness = np.sqrt(1 - motion.eccentricities[0, massive] ** 2) * np.cos(np.radians(motion.tilts[0, massive]))
    deficit = float((1 - flatness) @ momenta)
    pairs: list[DeficitPair] = [
        {
            "inner": motion.ids[massive[k]],
            "outer": motion.ids[massive[k + 1]],
            "ratio": deficit
            / float(momenta[k + 1])
            / compute_critical_deficit(
                float(axes[k] / axes[k + 1]), float(motion.masses[massive[k]] / motion.masses[massive[k + 1]])
            ),
        }
        for k in range(len(massive) - 1)
    ]
    worst = max(pair["ratio"] for pair in pairs)
    return {"ratio": worst, "pairs": pairs, "meaning": _describe_deficit(worst, has_resonances=has_resonances)}


def compute_critical_deficit(axis_ratio: float, mass_ratio: float) -> float:
    """Return the least relative deficit with which two orbits (inner over outer: axes, masses) can touch.

    Relative to the circular angular momentum of the outer body (Laskar & Petit 2017).
    """
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        inner = (low + high) / 2
        outer = _solve_outer_eccentricity(inner, axis_ratio, mass_ratio)
        if axis_ratio * (1 + inner) + outer < 1:
            low = inner
        else:
            high = inner
    outer = _solve_outer_eccentricity(low, axis_ratio, mass_ratio)
    return mass_ratio * math.sqrt(axis_ratio) * (1 - math.sqrt(1 - low * low)) + 1 - math.sqrt(1 - outer * outer)


def _solve_outer_eccentricity(inner: float, axis_ratio: float, mass_ratio: float) -> float:
    """Return the eccentricity of the outer orbit with which the deficit of touching orbits is least."""
    return mass_ratio * inner / math.sqrt(axis_ratio * (1 - inner * inner) + (mass_ratio * inner) ** 2)


def _is_deficit_defined(motion: OrbitHistory, body: int) -> bool:
    return bool(
        motion.masses[body] < _HEAVY * motion.central_masses[body]
        and motion.axes[0, body] > 0
        and motion.eccentricities[0, body] < 1
        and motion.tilts[0, body] < 90
    )


def _describe_deficit(worst: float, *, has_resonances: bool) -> str:
    below = (
        f"The angular momentum deficit is {worst:.2g} of its critical value"
        if worst < 1
        else f"The angular momentum deficit is {worst:.2g} times its critical value"
    )
    if has_resonances:
        resonant = "and bodies are in or near mean-motion resonances, to which the criterion does not apply"
        return f"{below}, {resonant}. It excludes no collision here."
    if worst < 1:
        return f"{below}: slow (secular) exchange alone cannot make orbits cross. Resonances could."
    return f"{below}: slow (secular) exchange can make orbits cross. It does not have to."
