"""Estimate chaos by MEGNO and the Lyapunov time, from two runs that start close together.

P. M. Cincotta and C. Simó, "Simple tools to study global dynamics in non-axisymmetric galactic potentials", A&AS 147,
205 (2000): the mean exponential growth factor of nearby orbits tends to 2 for regular motion and grows in proportion
to the time, as half of it over the Lyapunov time, for chaotic motion.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from universe.nbody.replies import ChaosFacts
from universe.nbody.text_formats import format_short_duration
from universe.orbits.kepler_equation import Floats

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
