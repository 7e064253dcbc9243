"""The motion within one step of an integration, at any time of it."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from universe.orbits.anomaly import Floats


@dataclass(frozen=True)
class Segment(ABC):
    """One step. Times are days since the start of the run; the end is before the beginning in a run backwards."""

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
        return self.end - self.begin

    def states(self, times: ArrayLike) -> tuple[Floats, Floats]:
        """Return the positions and velocities at times of this step, each of shape (k, n, 3)."""
        fraction = (np.atleast_1d(np.asarray(times, dtype=np.float64)) - self.begin) / (self.length or 1.0)
        positions, velocities = self._motion(fraction)
        return positions.transpose(0, 2, 1), velocities.transpose(0, 2, 1)

    @abstractmethod
    def _motion(self, fraction: Floats) -> tuple[Floats, Floats]:
        """Return positions and velocities of shape (k, 3, n) at these fractions (0 to 1) of the step."""


@dataclass(frozen=True)
class HermiteSegment(Segment):
    """A step between two states whose accelerations are known: the polynomial of degree 5 that meets all of them."""

    first_accelerations: Floats
    last_accelerations: Floats

    def _motion(self, fraction: Floats) -> tuple[Floats, Floats]:
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
