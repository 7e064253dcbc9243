"""Find within a step when pairs of bodies are closest, and when their distance falls below a value."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from universe.nbody.segments import Segment
from universe.orbits.kepler_equation import Floats

Indices = NDArray[np.intp]

_ROUNDS: Final = 5
_PARTS: Final = np.linspace(0.0, 1.0, 17)
_SLACK: Final = 0.02
"""The error of an estimated minimum square, in squares of the distance between two grid points."""


class Minima(NamedTuple):
    """Intervals of the grid, and pairs whose distance is least within them."""

    intervals: Indices
    pairs: Indices
    squares: Floats
    """An estimate of the least square of the distance."""
    slack: Floats
    """The square is not below the estimate by more than this."""


class Pairs:
    """All pairs of n bodies, in the order of `first` and `second`."""

    def __init__(self, count: int) -> None:
        self.first, self.second = np.triu_indices(count, 1)
        self.count = self.first.size

    def get_pair_index(self, one: int, other: int) -> int:
        return int(np.flatnonzero((self.first == min(one, other)) & (self.second == max(one, other)))[0])


@dataclass(frozen=True)
class PairMotion:
    """The relative motion of all pairs within one segment. Arrays have a row for each time of the segment's grid."""

    segment: Segment
    pairs: Pairs

    @cached_property
    def _grid_states(self) -> tuple[Floats, Floats, Floats]:
        return self.segment.compute_grid_states()

    @property
    def times(self) -> Floats:
        return self._grid_states[0]

    @property
    def positions(self) -> Floats:
        """Return the positions of the bodies on the grid, of shape (k, 3, n)."""
        return self._grid_states[1]

    @cached_property
    def _relative_states(self) -> tuple[Floats, Floats]:
        _, x, v = self._grid_states
        one, other = self.pairs.first, self.pairs.second
        return x[:, :, other] - x[:, :, one], v[:, :, other] - v[:, :, one]

    @cached_property
    def squared_distances(self) -> Floats:
        """Return the squares of the distances, of shape (k, pairs); not-a-number if a body is gone."""
        offset, _ = self._relative_states
        return np.einsum("kcp,kcp->kp", offset, offset)

    @cached_property
    def recession_rates(self) -> Floats:
        """Return half the change of the squares with the time of the run: below 0 while a pair approaches."""
        offset, speed = self._relative_states
        return np.einsum("kcp,kcp->kp", offset, speed) * self._time_sign

    @property
    def _time_sign(self) -> float:
        return 1.0 if self.segment.length >= 0 else -1.0

    @cached_property
    def minima(self) -> Minima:
        """Return where distances have a minimum within the segment."""
        receding = self.recession_rates
        intervals, pairs = np.nonzero((receding[:-1] < 0) & (receding[1:] >= 0))
        if not pairs.size:
            return Minima(intervals, pairs, np.zeros(0), np.zeros(0))
        days = np.abs(np.diff(self.times))[intervals]
        q0, q1 = self.squared_distances[intervals, pairs], self.squared_distances[intervals + 1, pairs]
        s0, s1 = receding[intervals, pairs], receding[intervals + 1, pairs]
        # Where the change, taken as linear, is 0: there the cubic through values and changes is nearly least.
        u = s0 / (s0 - s1)
        w = 1 - u
        least = w * w * (1 + 2 * u) * q0 + u * u * (1 + 2 * w) * q1 + 2 * days * u * w * (w * s0 - u * s1)
        speed = self._relative_states[1][intervals, :, pairs]
        return Minima(intervals, pairs, least, _SLACK * (speed * speed).sum(axis=1) * days**2)

    def can_reach(self, distance: Floats) -> bool:
        """Return True if any pair can come within its distance."""
        moved = np.diff(self._relative_states[0], axis=0)
        travelled = np.sqrt(np.einsum("kcp,kcp->kp", moved, moved).max(axis=0))
        return bool((self.squared_distances.min(axis=0) < (distance + travelled) ** 2).any())

    def find_minimum(self, interval: int, pair: int) -> tuple[float, float]:
        """Return the time and distance of a minimum within an interval of the grid."""
        first, last = self.times[interval], self.times[interval + 1]
        time = _find_crossing(lambda times: self._compute_distances_and_rates(pair, times)[1], first, last)
        return time, self.compute_distance(pair, time)

    def find_entry_time(self, pair: int, first: float, last: float, distance: float) -> float:
        """Return the time between `first` and `last` at which the distance falls below a value."""
        return _find_crossing(lambda times: distance - self._compute_distances_and_rates(pair, times)[0], first, last)

    def compute_distance(self, pair: int, time: float) -> float:
        return float(self._compute_distances_and_rates(pair, np.array([time]))[0][0])

    def compute_speed(self, pair: int, time: float) -> float:
        """Return the relative speed of a pair in AU a day."""
        _, v = self.segment.compute_transposed_states(np.array([time]))
        return float(np.linalg.norm(v[0, :, self.pairs.second[pair]] - v[0, :, self.pairs.first[pair]]))

    def _compute_distances_and_rates(self, pair: int, times: Floats) -> tuple[Floats, Floats]:
        x, v = self.segment.compute_transposed_states(times)
        one, other = self.pairs.first[pair], self.pairs.second[pair]
        offset, speed = x[:, :, other] - x[:, :, one], v[:, :, other] - v[:, :, one]
        distance = np.sqrt((offset * offset).sum(axis=1))
        return distance, (offset * speed).sum(axis=1) * self._time_sign


def _find_crossing(values: Callable[[Floats], Floats], first: float, last: float) -> float:
    """Return the argument between `first` and `last` at which the values cross 0."""
    below = above = 0.0
    for _ in range(_ROUNDS):
        times = first + (last - first) * _PARTS
        found = values(times)
        is_over = found >= 0
        is_over[-1] = True
        at = max(1, int(is_over.argmax()))
        first, last = float(times[at - 1]), float(times[at])
        below, above = float(found[at - 1]), float(found[at])
    part = -below / (above - below) if above > below else 1.0
    return first + (last - first) * min(1.0, max(0.0, part))
