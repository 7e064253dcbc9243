"""Measure chaos by the growing distance of two trajectories that start close together."""

import math
from typing import Final

import numpy as np

from universe.nbody.error_estimates import compute_orbit_distances, fill_root_rows
from universe.nbody.integration import Stepper
from universe.orbits.kepler_equation import Floats

_LEAST, _MOST = 1e-10, 1e-8
"""The distance at the beginning, relative to the sizes and speeds of the orbits: more where rounding is coarse."""
_ABOVE_ROUNDING: Final = 30.0
_FAR: Final = 1e-5
"""A distance that stays above this one is shortened when it is least: at the periapsis of a long ellipse it is large
for a moment, and the two trajectories are no longer shifted copies of each other there."""
_FARTHEST: Final = 0.1
"""Above this distance differences are no longer small, and the rest of the run is not measured."""
_NOISE: Final = 4e-16
"""Rounding of a difference of positions, relative to the positions."""
_STEPS_PER_TURN: Final = 10


class DivergenceTracker:
    """A second configuration beside the first, and the logarithm of its distance, noted about `count` times."""

    def __init__(self, days: float, count: int) -> None:
        self._interval = abs(days) / max(1, count)
        self._days: list[float] = []
        self._logarithms: list[float] = []
        self._apart = _LEAST
        self._last, self._falls = 0.0, False
        """The distance after the last step, and whether it was less than the one before."""
        self._gained = 0.0
        """The logarithm of the factors by which the distance was shortened."""
        self._rounding_noise, self._steps = 0.0, 0
        self._is_lost = False
        """True if the distance is unusable: as small as rounding, or too large for neighbouring trajectories."""
        self._orbits, self._scales = np.ones((1, 1)), (np.ones(1), np.ones(1))

    def start_and_stack_shifted_copy(
        self, positions: Floats, velocities: Floats, relative_matrix: Floats
    ) -> tuple[Floats, Floats]:
        """Return configurations (1, 3, n) with a second one beside them, a little apart."""
        x, v = positions[0], velocities[0]
        self._orbits = fill_root_rows(relative_matrix).T
        sizes = compute_orbit_distances(relative_matrix, x)
        self._scales = np.where(np.isfinite(sizes), sizes, 1.0), _compute_limited_speeds(v @ self._orbits)
        self._rounding_noise = 3 * _NOISE * float((np.sqrt((x * x).sum(axis=0)) / self._scales[0]).max())
        self._steps, self._last, self._falls = 0, 0.0, False
        if not self._logarithms:
            self._apart = min(max(_LEAST, _ABOVE_ROUNDING * self._rounding_noise), _MOST)
        chance = np.random.default_rng(0)
        roots = ~relative_matrix.any(axis=1)
        # A shift of the only root would shift all bodies equally.
        moves = np.where(roots & (roots.sum() == 1), 0.0, 1.0)
        shifts = [scale * moves * chance.standard_normal((3, roots.size)) for scale in self._scales]
        apart, faster = (np.linalg.solve(self._orbits.T, shift.T).T.astype(np.float64) for shift in shifts)
        distance = self._compute_scaled_distance(apart, faster)
        factor = self._apart / distance if distance > 0 else 0.0
        if self._logarithms:  # after a merger the measurement continues with the last distance
            self._gained = self._logarithms[-1] - math.log(self._apart)
        return np.stack([x, x + factor * apart]), np.stack([v, v + factor * faster])

    def record_distance_and_rescale(self, stepper: Stepper, day: float) -> None:
        """Record the distance of the two configurations, and rescale it when it is large."""
        apart, faster = stepper.positions[1] - stepper.positions[0], stepper.velocities[1] - stepper.velocities[0]
        distance = self._compute_scaled_distance(apart, faster)
        self._steps += 1
        rounding = self._rounding_noise * (self._steps / _STEPS_PER_TURN) ** 1.5
        self._is_lost |= not rounding / 0.3 < distance < _FARTHEST
        if self._is_lost:
            return
        if abs(day) >= len(self._days) * self._interval:
            self._days.append(day)
            self._logarithms.append(math.log(distance) + self._gained)
        if self._falls and distance > self._last > _FAR:
            self._gained += math.log(distance / self._apart)
            stepper.positions[1] = stepper.positions[0] + self._apart / distance * apart
            stepper.velocities[1] = stepper.velocities[0] + self._apart / distance * faster
            self._steps, distance = 0, self._apart
        self._falls, self._last = distance < self._last, distance

    @property
    def growth_over_time(self) -> tuple[Floats, Floats]:
        """Return days, and the natural logarithm of the growth of the distance since the start."""
        return np.array(self._days), np.array(self._logarithms) - math.log(self._apart)

    def _compute_scaled_distance(self, apart: Floats, faster: Floats) -> float:
        apart, faster = apart @ self._orbits / self._scales[0], faster @ self._orbits / self._scales[1]
        return math.sqrt(float((apart * apart).sum() + (faster * faster).sum()))


def _compute_limited_speeds(velocities: Floats) -> Floats:
    """Return the speed of each body, with a lower limit relative to the fastest."""
    speed = np.sqrt((velocities * velocities).sum(axis=0))
    largest = float(speed.max())
    return np.maximum(speed, 1e-3 * largest) if largest > 0 else np.ones_like(speed)
