"""Everything that is measured along a run, and the messages of how far it is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from universe.nbody.accuracy import Accuracy, Drifts
from universe.nbody.gravity import Gravity
from universe.nbody.limits import make_time_limit_error
from universe.nbody.segments import Segment
from universe.nbody.starts import Start
from universe.orbits.anomaly import Floats

_INTERVAL: Final = 0.1
"""Seconds between two messages; without a clock, a hundredth of the run."""


@dataclass(frozen=True, slots=True)
class Samples:
    """States at evenly spread times, in the order of the start's ids; not-a-number for a body that has merged away."""

    times: Floats
    """Shape (m,): days since the start."""
    positions: Floats
    """Shape (m, n, 3)."""
    velocities: Floats
    """Shape (m, n, 3)."""


class Record:
    """Steps, samples, drifts and errors of a run."""

    def __init__(self, start: Start, days: float, samples: int) -> None:
        self.accuracy, self.drifts = Accuracy(start), Drifts()
        self.steps, self.shortest_step, self.day = 0, 0.0, 0.0
        self._times = np.linspace(0.0, days, samples) if samples > 1 else np.full(samples, days)
        self._positions, self._velocities = np.empty((2, samples, len(start.ids), 3))
        self._taken = int(samples > 0 and self._times[0] == 0)
        self._positions[: self._taken], self._velocities[: self._taken] = start.positions, start.velocities

    def add(self, segment: Segment, gravity: Gravity) -> None:
        """Measure one more segment."""
        length = abs(segment.length)
        self.shortest_step = min(self.shortest_step, length) if self.steps else length
        self.steps += 1
        self.day = segment.end
        self.drifts.measure(gravity, segment)
        left = self._times[self._taken :]
        due = int(np.searchsorted(np.abs(left), abs(segment.end), side="right"))
        if due:
            rows = slice(self._taken, self._taken + due)
            self._positions[rows], self._velocities[rows] = segment.states(left[:due])
            self._taken += due

    def samples(self) -> Samples:
        """Return the samples taken so far."""
        taken = slice(self._taken)
        return Samples(self._times[taken], self._positions[taken], self._velocities[taken])


class Reporter:
    """Calls of `progress` with the part of a run that is done, and the end of a run that takes too long."""

    def __init__(
        self,
        days: float,
        progress: Callable[[float], object] | None,
        clock: Callable[[], float] | None,
        seconds: float,
    ) -> None:
        self._days, self._progress, self._clock, self._seconds = days, progress, clock, seconds
        self._began = clock() if clock else 0.0
        self._next = 0.0

    def report(self, day: float) -> None:
        """Report a day that the run has reached. Raise InvalidInput if the time is up."""
        done = day / self._days
        passed = self._clock() - self._began if self._clock else _INTERVAL * 100 * done
        if self._clock and passed > self._seconds and day != self._days:
            raise make_time_limit_error(self._seconds, day, self._days)
        if self._progress and (passed >= self._next or day == self._days):
            self._next = passed + _INTERVAL
            self._progress(done)
