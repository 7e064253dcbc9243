"""Represent the motion within one step of an integration."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from universe.orbits.kepler_equation import Floats

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
