"""The closest approach of each pair of siblings, followed step by step while a run goes on."""

from itertools import combinations
from typing import Final

import numpy as np

from universe.nbody.segments import Segment
from universe.nbody.starts import Start
from universe.orbits.anomaly import Floats

_POINTS: Final = 9
"""Places in a step at which distances are measured before the least is refined."""
_REFINEMENTS: Final = 4


class ClosestApproaches:
    """An observer of a run that stores the least distance of each pair of siblings, and its day.

    `first` and `second` are the indices of the pairs' bodies. Memory does not grow with the run.
    """

    def __init__(self, start: Start) -> None:
        parents = start.parents
        pairs = [(i, j) for i, j in combinations(range(len(parents)), 2) if parents[i] == parents[j] >= 0]
        self.first = np.array([i for i, _ in pairs], dtype=np.intp)
        self.second = np.array([j for _, j in pairs], dtype=np.intp)
        self.distances: Floats = np.full(len(pairs), np.inf)
        """In AU; infinite for a pair that has not been seen together."""
        self.days: Floats = np.full(len(pairs), np.nan)

    def observe(self, segment: Segment) -> None:
        """Take one step of the run into account."""
        if not len(self.first):
            return
        times = np.linspace(segment.begin, segment.end, _POINTS)
        positions, _ = segment.states(times)
        apart = positions[:, self.first] - positions[:, self.second]
        squares = np.nan_to_num(np.einsum("kpc,kpc->kp", apart, apart), nan=np.inf)
        least = squares.argmin(axis=0)
        lowest = squares[least, np.arange(least.size)]
        # Between two points the least can be a little lower than at both; only such steps are worth a closer look.
        for pair in np.flatnonzero(lowest < 1.05 * self.distances**2):
            self._refine(segment, int(pair), float(times[least[pair]]), float(np.sqrt(lowest[pair])))

    def _refine(self, segment: Segment, pair: int, day: float, distance: float) -> None:
        """Find the least distance of one pair near a time, by Newton's rule for the distance along the velocity."""
        low, high = sorted((segment.begin, segment.end))
        moment = day
        for _ in range(_REFINEMENTS):
            positions, velocities = segment.states(moment)
            gap, speed = (one[0, self.first[pair]] - one[0, self.second[pair]] for one in (positions, velocities))
            size = float(np.sqrt(gap @ gap))
            if size < distance:
                day, distance = moment, size
            rate = float(speed @ speed)
            if not rate > 0:
                break
            moment = min(max(moment - float(gap @ speed) / rate, low), high)
        if distance < self.distances[pair]:
            self.distances[pair], self.days[pair] = distance, day
