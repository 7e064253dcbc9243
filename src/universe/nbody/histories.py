"""The motion of bodies from the instant at which their states are known to the time at which a run begins."""

from typing import Final

from universe.nbody.integration import integrate
from universe.orbits.anomaly import Floats

MOST_WORK: Final = 500_000
"""Inner orbits times bodies squared (at least 8 of them): about half a minute of one processor."""
_MOST_STEPS: Final = 200_000


class TooLong(Exception):
    """The way to the time is too long to be integrated."""


def advance(
    masses: Floats, positions: Floats, velocities: Floats, days: float, *, shortest: float, central: int | None = None
) -> tuple[Floats, Floats]:
    """Return positions and velocities after `days`, whose quickest orbit takes `shortest` days. Raise TooLong."""
    if days == 0:
        return positions, velocities
    if abs(days) / shortest * max(masses.size, 8) ** 2 > MOST_WORK:
        raise TooLong
    segments = integrate(masses, positions, velocities, days, central=central)
    last = next(segments)
    for steps, segment in enumerate(segments):
        if steps > _MOST_STEPS:
            raise TooLong
        last = segment
    return last.last_positions.T, last.last_velocities.T
