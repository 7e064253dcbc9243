"""Whether nearby motions part exponentially: MEGNO and the Lyapunov time, from two runs that begin close together.

P. M. Cincotta and C. Simó, "Simple tools to study global dynamics in non-axisymmetric galactic potentials", A&AS 147,
205 (2000): the mean exponential growth factor of nearby orbits tends to 2 for regular motion and grows in proportion
to the time for chaotic motion.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from universe.orbits.anomaly import Floats

CHAOTIC: Final = 4.0
"""MEGNO above which motion counts as chaotic, if it grows."""
_SATURATED: Final = 1e-2
"""Distance, relative to the size of the system, at which two runs are not near each other any more."""
_LEAST_SAMPLES: Final = 20


@dataclass(frozen=True, slots=True)
class Chaos:
    """MEGNO at the end of a run, the Lyapunov time in days if motion is chaotic, and the days they come from."""

    megno: float | None
    lyapunov_days: float | None
    days: float
    meaning: str

    @property
    def is_chaotic(self) -> bool:
        return self.lyapunov_days is not None

    def plain(self) -> dict[str, Any]:
        """Return the fields of a reply."""
        return {"megno": self.megno, "lyapunovDays": self.lyapunov_days, "meaning": self.meaning}


def chaos_of(times: Floats, distances: Floats, size: float = 1.0) -> Chaos:
    """Return the estimate from the distance of two runs in phase space at rising times, the first of which is 0.

    The runs begin about 1e-8 apart; `size` is the distance of unrelated states. Only the time until the runs are no
    longer neighbours counts.
    """
    times = np.abs(times)
    near = np.isfinite(distances) & (distances > 0)
    ends = np.flatnonzero(~near | (distances > _SATURATED * size))
    count = int(ends[0]) if ends.size else len(times)
    if count < _LEAST_SAMPLES:
        return Chaos(None, None, 0.0, "The run is too short, or its motion too wild, to estimate chaos.")
    days, growth = times[:count], np.log(distances[:count])
    megno = _megno(days, growth)
    final, halfway = float(megno[-1]), float(megno[count // 2])
    span = float(days[-1])
    if final <= CHAOTIC or final <= halfway:
        return Chaos(final, None, span, _regular(final, span))
    # The line through the later half is free of the first, algebraic growth.
    half = count // 2
    slope = float(np.polyfit(days[half:], growth[half:], 1)[0])
    lyapunov = 1 / slope if slope > 0 else span / (2 * final)
    return Chaos(final, lyapunov, span, _chaotic(final, lyapunov, span))


def _megno(days: Floats, growth: Floats) -> Floats:
    """Return the time-averaged MEGNO at each time after the first."""
    # Y(T) = 2/T times the integral of t d(ln distance); its running mean converges.
    middles, steps = (days[1:] + days[:-1]) / 2, np.diff(days)
    present = 2 / days[1:] * np.cumsum(middles * np.diff(growth))
    return np.cumsum(present * steps) / (days[1:] - days[0])


def _regular(megno: float, span: float) -> str:
    if megno > CHAOTIC:
        return f"MEGNO is {megno:.2g} but does not grow: a longer run is needed to tell."
    return (
        f"MEGNO is {megno:.2g} (about 2 or below: regular). No chaos with a Lyapunov time below about "
        f"{days_in_words(span / CHAOTIC / 2)} appeared; slower chaos is not excluded."
    )


def _chaotic(megno: float, lyapunov: float, span: float) -> str:
    return (
        f"MEGNO is {megno:.2g} and grows: motion is chaotic. Small errors grow by a factor of e in about "
        f"{days_in_words(lyapunov)} (from {days_in_words(span)}). Chaotic is not unstable: the orbits need not change much."
    )


def days_in_words(days: float) -> str:
    """Return a duration as days or years, with three digits."""
    if not math.isfinite(days):
        return "an unknown time"
    if abs(days) < 1000:
        return f"{days:.3g} days"
    years = days / 365.25
    return f"{years:.3g} years" if abs(years) < 1e6 else f"{years:.2e} years"
