"""Represent the motion within one step of an integration, and find when pairs of bodies are closest in it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from universe.domain.orbits.kepler_equation import Floats

_ENDS: Final = np.array([0.0, 1.0])
_QUARTERS: Final = np.linspace(0.0, 1.0, 5)


@dataclass(frozen=True)
class Segment(ABC):
    """One step. Times are days since the start of the run; the end is before the beginning in a run backwards."""

    grid: ClassVar[Floats] = _QUARTERS
    """Fractions of a step between which a distance has at most one minimum."""

    begin: float
    end: float
    first_positions: Floats
    """Shape (3, n), at the beginning."""
    first_velocities: Floats
    last_positions: Floats
    """Shape (3, n), at the end."""
    last_velocities: Floats

    @cached_property
    def length(self) -> float:
        """Return the days from the beginning to the end, below 0 in a run backwards."""
        return self.end - self.begin

    def compute_states(self, times: ArrayLike) -> tuple[Floats, Floats]:
        """Return the positions and velocities at times of this step, each of shape (k, n, 3)."""
        positions, velocities = self.compute_transposed_states(np.atleast_1d(np.asarray(times, dtype=np.float64)))
        return positions.transpose(0, 2, 1), velocities.transpose(0, 2, 1)

    def compute_transposed_states(self, times: Floats) -> tuple[Floats, Floats]:
        """Return the positions and velocities at times of this step, each of shape (k, 3, n)."""
        return self._compute_states_at_fractions((times - self.begin) / (self.length or 1.0))

    def compute_grid_states(self) -> tuple[Floats, Floats, Floats]:
        """Return the times of the grid, and the positions and velocities there, of shape (k, 3, n)."""
        return self.begin + self.length * self.grid, *self._compute_states_at_fractions(self.grid)

    @abstractmethod
    def _compute_states_at_fractions(self, fraction: Floats) -> tuple[Floats, Floats]:
        """Return positions and velocities of shape (k, 3, n) at these fractions (0 to 1) of the step."""


@dataclass(frozen=True)
class HermiteSegment(Segment):
    """A step between two states whose accelerations are known: the polynomial of degree 5 that meets all of them."""

    grid: ClassVar[Floats] = _ENDS

    first_accelerations: Floats
    last_accelerations: Floats

    def _compute_states_at_fractions(self, fraction: Floats) -> tuple[Floats, Floats]:
        t = fraction[:, None, None]
        h = self.length
        x, v, a = self.first_positions, h * self.first_velocities, h * h * self.first_accelerations
        left_x = self.last_positions - x - v - a / 2
        left_v = h * self.last_velocities - v - a
        left_a = h * h * self.last_accelerations - a
        c3, c4, c5 = (
            10 * left_x - 4 * left_v + left_a / 2,
            -15 * left_x + 7 * left_v - left_a,
            6 * left_x - 3 * left_v + left_a / 2,
        )
        positions = x + t * (v + t * (a / 2 + t * (c3 + t * (c4 + t * c5))))
        velocities = (v + t * (a + t * (3 * c3 + t * (4 * c4 + t * 5 * c5)))) / h
        return positions, velocities


@dataclass(frozen=True)
class PartialSegment(Segment):
    """A step that ends early or has fewer bodies; merged bodies are not-a-number."""

    whole: Segment
    bodies: tuple[int, ...]
    """The index that each body of `whole` has in this segment."""
    count: int

    @classmethod
    def from_whole(
        cls, whole: Segment, bodies: tuple[int, ...], count: int, end: float | None = None
    ) -> "PartialSegment":
        """Return `whole` until `end` with its bodies at these indices among `count`."""
        times = np.array([whole.begin, whole.end if end is None else end])
        if end is None:
            x = np.stack([whole.first_positions, whole.last_positions])
            v = np.stack([whole.first_velocities, whole.last_velocities])
        else:
            x, v = whole.compute_transposed_states(times)
        (x0, x1), (v0, v1) = _scatter_to_all_bodies(x, bodies, count), _scatter_to_all_bodies(v, bodies, count)
        return cls(float(times[0]), float(times[1]), x0, v0, x1, v1, whole, bodies, count)

    def compute_transposed_states(self, times: Floats) -> tuple[Floats, Floats]:
        x, v = self.whole.compute_transposed_states(times)
        return _scatter_to_all_bodies(x, self.bodies, self.count), _scatter_to_all_bodies(v, self.bodies, self.count)

    def _compute_states_at_fractions(self, fraction: Floats) -> tuple[Floats, Floats]:
        return self.compute_transposed_states(self.begin + self.length * fraction)


def _scatter_to_all_bodies(values: Floats, bodies: tuple[int, ...], count: int) -> Floats:
    spread = np.full((*values.shape[:-1], count), np.nan)
    spread[..., list(bodies)] = values
    return spread


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
