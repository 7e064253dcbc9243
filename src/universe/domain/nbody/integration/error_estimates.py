"""Estimate the error of a run by its twin, and measure chaos by the growing distance of two close trajectories.

The error of a body is twice the difference of the two runs, relative to the centre that the body orbits, and at least
the rounding that any method collects: 1e-14 of the distance, and 3e-15 of it times revolutions^1.5. A body that orbits
nothing is compared as it is, and its angle is the one seen from its nearest neighbour.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.integration.methods import Stepper
from universe.domain.nbody.integration.point_masses import Gravity
from universe.domain.nbody.integration.segments import Segment
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import G

TRUSTED_DEGREES: Final = 0.1
_ROUNDING: Final = 1e-14
"""The relative rounding error of any run."""
_COLLECTED_ROUNDING: Final = 3e-15
"""The relative rounding error times revolutions^1.5. Both were fitted to integrations in 80 bits."""


def fill_root_rows(relative_matrix: Floats) -> Floats:
    """Return the matrix from positions to those relative to the centre orbited; a root's is relative to the origin."""
    matrix = relative_matrix.copy()
    roots = np.flatnonzero(~relative_matrix.any(axis=1))
    matrix[roots, roots] = 1.0
    return matrix


def compute_orbit_distances(relative_matrix: Floats, positions: Floats) -> Floats:
    """Return distances to the centres orbited, a root's to its nearest neighbour, for positions (3, n)."""
    offset = np.nan_to_num(positions) @ relative_matrix.T
    found = np.sqrt((offset * offset).sum(axis=0))
    roots = np.flatnonzero(~relative_matrix.any(axis=1))
    found[roots] = _compute_nearest_neighbour_distances(positions, roots)
    return found


def _compute_nearest_neighbour_distances(positions: Floats, bodies: NDArray[np.intp]) -> Floats:
    apart = positions[:, None, :] - positions[:, bodies, None]
    square = (apart * apart).sum(axis=0)
    square[np.arange(bodies.size), bodies] = np.inf
    return np.sqrt(np.nanmin(square, axis=1))


def compute_periods(start: InitialConditions) -> Floats:
    """Return the period of each orbit in days at the start; infinite for open orbits and roots."""
    offset, speed = start.relative_matrix @ start.positions, start.relative_matrix @ start.velocities
    distance = np.sqrt((offset * offset).sum(axis=1))
    mu = G * start.orbited_mass
    with np.errstate(divide="ignore", invalid="ignore"):
        axis = 1 / (2 / distance - (speed * speed).sum(axis=1) / mu)
        found = 2 * math.pi * axis * np.sqrt(axis / mu)
    return np.where((mu > 0) & (axis > 0), found, np.inf)


class ErrorTracker:
    """The errors of all bodies: the last and the largest."""

    def __init__(self, start: InitialConditions) -> None:
        count = len(start.ids)
        every = compute_periods(start)
        # A root has the shortest of all periods.
        self._periods = np.where(start.orbited_mass > 0, every, every.min())
        self._relative_matrix: Floats = np.zeros(0)
        self._orbits, self._roots = np.zeros(0), np.zeros(0, dtype=np.intp)
        self.au, self.degrees = np.zeros(count), np.zeros(count)
        self.worst_au, self.worst_degrees = np.zeros(count), np.zeros(count)

    def record_errors(self, day: float, relative_matrix: Floats, positions: Floats, twin_positions: Floats) -> None:
        """Compare positions (3, n) of both runs at a day. Bodies that have merged (not-a-number) keep their error."""
        is_left = np.isfinite(positions[0])
        if (is_left != np.isfinite(twin_positions[0])).any():
            return  # one of the runs has merged two bodies, the other not yet
        if relative_matrix is not self._relative_matrix:
            self._relative_matrix, self._orbits = relative_matrix, fill_root_rows(relative_matrix).T
            self._roots = np.flatnonzero(~relative_matrix.any(axis=1))
        offset, apart = (
            np.where(is_left, values, 0.0) @ self._orbits for values in (positions, twin_positions - positions)
        )
        size = np.sqrt((offset * offset).sum(axis=0))
        floor = size * (_ROUNDING + _COLLECTED_ROUNDING * (abs(day) / self._periods) ** 1.5)
        au = 2 * np.sqrt((apart * apart).sum(axis=0)) + floor
        distance = size.copy()
        distance[self._roots] = _compute_nearest_neighbour_distances(positions, self._roots)
        degrees = np.minimum(180.0, np.degrees(au / distance))
        self.au, self.degrees = np.where(is_left, au, self.au), np.where(is_left, degrees, self.degrees)
        self.worst_au = np.maximum(self.worst_au, self.au)
        self.worst_degrees = np.maximum(self.worst_degrees, self.degrees)

    @property
    def is_trusted(self) -> bool:
        """Return True if the error of every body was always below a tenth of a degree."""
        return bool((self.worst_degrees < TRUSTED_DEGREES).all())


@dataclass(frozen=True, slots=True)
class Drift:
    """The largest and the last relative change of a conserved quantity."""

    max: float
    final: float


class DriftTracker:
    """The changes of energy and angular momentum; a merger changes both and starts a new comparison."""

    def __init__(self) -> None:
        self._merged: Gravity | None = None
        self._gravity = Gravity(np.zeros(0))
        self._first, self._scales = np.zeros(4), np.ones(2)
        self._before, self._last, self._largest = np.zeros(2), np.zeros(2), np.zeros(2)

    def record_segment(self, gravity: Gravity, segment: Segment) -> None:
        """Compare the end of a segment with the beginning of the first one with the same gravity."""
        left = np.isfinite(segment.first_positions[0])
        if gravity is not self._merged:
            self._merged, self._before = gravity, self._last
            self._gravity = Gravity(gravity.masses[left], constant=gravity.constant)
            x, v = segment.first_positions[:, left], segment.first_velocities[:, left]
            self._first = self._compute_conserved_quantities(x, v)
            self._scales = self._compute_conserved_scales(x, v)
        change = (
            self._compute_conserved_quantities(segment.last_positions[:, left], segment.last_velocities[:, left])
            - self._first
        )
        self._last = self._before + np.array([abs(change[0]), np.linalg.norm(change[1:])]) / self._scales
        self._largest = np.maximum(self._largest, self._last)

    def _compute_conserved_quantities(self, x: Floats, v: Floats) -> Floats:
        return np.append(
            self._gravity.compute_energy(x[None], v[None]), self._gravity.compute_angular_momentum(x[None], v[None])
        )

    def _compute_conserved_scales(self, x: Floats, v: Floats) -> Floats:
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
