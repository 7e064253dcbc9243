"""How far energy and angular momentum have moved from where they were, which says nothing of single positions."""

from dataclasses import dataclass

import numpy as np

from universe.nbody.gravity import Gravity
from universe.nbody.segments import Segment
from universe.orbits.anomaly import Floats


@dataclass(frozen=True, slots=True)
class Drift:
    """The largest and the last relative change of a conserved quantity."""

    max: float
    final: float


class Drifts:
    """The changes of energy and angular momentum; a merger, which changes both, begins a new comparison."""

    def __init__(self) -> None:
        self._merged: Gravity | None = None
        self._gravity = Gravity(np.zeros(0))
        self._first, self._scales = np.zeros(4), np.ones(2)
        self._before, self._last, self._largest = np.zeros(2), np.zeros(2), np.zeros(2)

    def measure(self, gravity: Gravity, segment: Segment) -> None:
        """Compare the end of a segment with the beginning of the first one with the same gravity."""
        left = np.isfinite(segment.first_positions[0])
        if gravity is not self._merged:
            self._merged, self._before = gravity, self._last
            self._gravity = Gravity(gravity.masses[left], constant=gravity.constant)
            x, v = segment.first_positions[:, left], segment.first_velocities[:, left]
            self._first = self._conserved(x, v)
            self._scales = self._sizes(x, v)
        change = self._conserved(segment.last_positions[:, left], segment.last_velocities[:, left]) - self._first
        self._last = self._before + np.array([abs(change[0]), np.linalg.norm(change[1:])]) / self._scales
        self._largest = np.maximum(self._largest, self._last)

    def _conserved(self, x: Floats, v: Floats) -> Floats:
        return np.append(self._gravity.energy(x[None], v[None]), self._gravity.angular_momentum(x[None], v[None]))

    def _sizes(self, x: Floats, v: Floats) -> Floats:
        """Return the sizes of energy and angular momentum; where they are almost 0, the sizes of their parts."""
        kinetic = 0.5 * (v * v).sum(axis=0) @ self._gravity.masses
        parts = (np.linalg.norm(x, axis=0) * np.linalg.norm(v, axis=0)) @ self._gravity.masses
        sizes = np.array([abs(self._first[0]), np.linalg.norm(self._first[1:])])
        sizes = np.maximum(sizes, 1e-3 * np.array([kinetic, parts]))
        return np.where(sizes > 0, sizes, 1.0)

    @property
    def energy(self) -> Drift:
        return Drift(float(self._largest[0]), float(self._last[0]))

    @property
    def angular_momentum(self) -> Drift:
        return Drift(float(self._largest[1]), float(self._last[1]))
