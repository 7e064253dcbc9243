"""Gauss-Legendre collocation of high order with a step that follows the motion: the default method.

Within a step the accelerations are a polynomial that takes the right values at the Gauss-Legendre nodes (12 nodes make
a method of order 24). Newton's law is solved by fixed-point iteration for all nodes at once, beginning with the last
step's polynomial continued. The length of the next step follows from the polynomial's last coefficient. Compare
J. C. Butcher, "Implicit Runge-Kutta processes" (1964), E. Everhart (1985) and M. Antoñana et al. (2020, IRKGL16).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.polynomial import legendre

from universe.domain.nbody.integration.point_masses import Gravity, compute_pairwise_distances
from universe.domain.nbody.integration.segments import Segment
from universe.domain.orbits.kepler_equation import Floats

NODES: Final = 12
TOLERANCE: Final = 1e-11
"""The last coefficient of the accelerations' polynomial, relative to the largest."""
_MOST_ITERATIONS: Final = 24
_CONVERGED: Final = 1e-15
_STAGNATED: Final = 1e-12
"""Changes of the accelerations by one more iteration, relative to the largest acceleration of a body."""
_REFUSED: Final = 50.0
"""A step whose last coefficient is so many times the tolerance is repeated with a shorter one."""
_NOISE: Final = 4e-16
"""Rounding of a difference of positions, relative to the positions."""


class _Tables:
    """Matrices for a number of nodes, from values at the nodes to integrals at any fraction.

    Legendre polynomials of fractions of a step are written in powers. Their terms cancel each other at high degrees,
    where the coefficients are so small that this does not count; the matrices that every step uses have more digits.
    """

    def __init__(self, nodes: int) -> None:
        points, weights = legendre.leggauss(nodes)
        self._degrees = degrees = np.arange(nodes)
        self.nodes = nodes
        self.fractions: Floats = (points + 1) / 2
        """Where the nodes are in a step, from 0 to 1."""
        self.to_coefficients: Floats = (legendre.legvander(points, nodes - 1) * weights[:, None]).T
        self.to_coefficients *= (2 * degrees + 1)[:, None] / 2
        ahead = [[math.comb(k, j) * math.comb(k + j, j) for k in range(nodes)] for j in range(nodes)]
        self._ahead = np.array(ahead, dtype=np.float64)
        """From powers of a fraction to the polynomials that far after the end of a step."""
        powers = np.array(ahead, dtype=np.longdouble) * (1 - 2 * ((degrees[:, None] + degrees) % 2))
        once = powers / (1 + degrees)[:, None]
        twice = once / (2 + degrees)[:, None]
        self._once, self._twice = once.astype(np.float64), twice.astype(np.float64)
        fine = self.fractions.astype(np.longdouble)[:, None] ** (1 + degrees)
        self.to_velocities = (fine @ once).astype(np.float64) @ self.to_coefficients
        self.to_positions = (self.fractions[:, None] * fine @ twice).astype(np.float64) @ self.to_coefficients
        self.to_last_velocity: Floats = weights / 2
        self.to_last_position: Floats = self.to_last_velocity * (1 - self.fractions)
        self.grid_integral_matrices = self.make_integral_matrices(Segment.grid)

    def make_continuation_matrix(self, ratio: float) -> Floats:
        """Return the matrix from coefficients to values at the nodes of a next step, `ratio` times as long."""
        return (ratio * self.fractions)[:, None] ** self._degrees @ self._ahead

    def make_integral_matrices(self, fraction: Floats) -> tuple[Floats, Floats]:
        """Return the matrices from coefficients to integrals from 0 to these fractions, and to integrals of these."""
        powers = fraction[:, None] ** (1 + self._degrees)
        return powers @ self._once, fraction[:, None] * powers @ self._twice


_get_tables = cache(_Tables)


@dataclass(frozen=True)
class GaussSegment(Segment):
    """A step of this method; its dense output is as accurate as its end."""

    coefficients: Floats
    """Of the accelerations' Legendre polynomials, shape (nodes, 3, n)."""

    def _compute_states_at_fractions(self, fraction: Floats) -> tuple[Floats, Floats]:
        tables, h = _get_tables(len(self.coefficients)), self.length
        once, twice = (
            tables.grid_integral_matrices if fraction is self.grid else tables.make_integral_matrices(fraction)
        )
        flat = self.coefficients.reshape(len(self.coefficients), -1)
        shape = (fraction.size, *self.first_positions.shape)
        velocities = self.first_velocities + (h * once @ flat).reshape(shape)
        moved = h * fraction[:, None, None] * self.first_velocities + (h * h * twice @ flat).reshape(shape)
        return self.first_positions + moved, velocities


class GaussLegendreStepper:
    """An integration of several configurations of the same bodies side by side, with common steps.

    `positions` and `velocities` have the shape (m, 3, n). Segments are those of the first configuration; the present
    state of all is in `positions` and `velocities`.
    """

    def __init__(
        self,
        gravity: Gravity,
        positions: Floats,
        velocities: Floats,
        *,
        nodes: int = NODES,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.positions, self.velocities = positions.copy(), velocities.copy()
        self._gravity = gravity
        self._tables = _get_tables(nodes)
        self._tolerance = tolerance
        self._lost_positions, self._lost_velocities = np.zeros_like(positions), np.zeros_like(velocities)
        """The rounding errors of the sums so far."""

    def integrate(self, begin: float, end: float) -> Iterator[Segment]:
        """Move from day `begin` to day `end` (before it: backwards), and yield each step when it is done.

        Raise ArithmeticError if no step is short enough.
        """
        tables = self._tables
        time, step = begin, self._choose_first_step(end - begin)
        accelerations = self._repeat_current_accelerations()
        coefficients: Floats | None = None
        length = step
        while time != end:
            is_last = abs(time + step - begin) >= abs(end - begin) * (1 - 1e-14)
            if is_last:
                step = end - time
            if coefficients is not None:
                accelerations = tables.make_continuation_matrix(step / length) @ coefficients
            noise = self._estimate_rounding_noise()
            accelerations, has_converged = self._solve_accelerations(step, accelerations, noise)
            found = tables.to_coefficients @ accelerations
            excess = self._compute_error_excess(found, noise)
            if not has_converged or not excess < _REFUSED:
                step *= (
                    0.5 if not math.isfinite(excess) or not has_converged else 0.8 * self._choose_step_factor(excess)
                )
                accelerations = self._repeat_current_accelerations() if coefficients is None else accelerations
                _check_step_length(step, time)
                continue
            done = end if is_last else time + step
            yield self._advance_and_make_segment(time, done, step, accelerations, found)
            time, length, coefficients = done, step, found
            step *= min(2.0, 0.9 * self._choose_step_factor(excess))

    def _solve_accelerations(self, step: float, accelerations: Floats, noise: Floats) -> tuple[Floats, bool]:
        """Iterate the accelerations at the nodes. Return them, and True if they converged."""
        tables, gravity = self._tables, self._gravity
        m, _, n = self.positions.shape
        flat, split = (tables.nodes * m, 3, n), (tables.nodes, m, 3, n)
        position, velocity = self.positions.ravel(), self.velocities.ravel()
        straight = position + (step * tables.fractions)[:, None] * velocity
        to_positions, to_speeds = step * step * tables.to_positions, step * tables.to_velocities
        speeds = None
        before = math.inf
        size = np.abs(accelerations.reshape(split)).max(axis=(0, 2))
        size[size == 0] = 1
        for _ in range(_MOST_ITERATIONS):
            positions = straight + to_positions @ accelerations
            if gravity.depends_on_velocity:
                speeds = (velocity + to_speeds @ accelerations).reshape(flat)
            found = gravity.compute_accelerations(positions.reshape(flat), speeds).reshape(tables.nodes, -1)
            change = float((np.abs(found - accelerations).reshape(split).max(axis=(0, 2)) / size).max())
            accelerations = found
            if change < _CONVERGED or (change < _STAGNATED and change > before / 2):
                return accelerations, True
            if not math.isfinite(change):
                return accelerations, False
            before = change
        return accelerations, before < noise.max() * 10

    def _advance_and_make_segment(
        self, begin: float, end: float, step: float, accelerations: Floats, found: Floats
    ) -> Segment:
        tables = self._tables
        x, v = self.positions, self.velocities
        moved = step * v + (step * step * tables.to_last_position @ accelerations).reshape(x.shape)
        gained = (step * tables.to_last_velocity @ accelerations).reshape(x.shape)
        self.positions, self._lost_positions = _add_compensated(x, moved, self._lost_positions)
        self.velocities, self._lost_velocities = _add_compensated(v, gained, self._lost_velocities)
        coefficients = found.reshape(tables.nodes, *x.shape)[:, 0]
        return GaussSegment(begin, end, x[0], v[0], self.positions[0], self.velocities[0], coefficients)

    def _compute_error_excess(self, coefficients: Floats, noise: Floats) -> float:
        """Return the last coefficients over the tolerated ones, of the worst body."""
        coefficients = coefficients.reshape(self._tables.nodes, *self.positions.shape)
        size = np.sqrt((coefficients * coefficients).sum(axis=2))
        largest = size.max(axis=0)
        tolerated = (self._tolerance + 10 * noise) * np.where(largest > 0, largest, 1)
        return float((np.maximum(size[-1], 0.1 * size[-2]) / tolerated).max())

    def _choose_step_factor(self, excess: float) -> float:
        return max(excess, 1e-30) ** (-1 / (self._tables.nodes - 1))

    def _estimate_rounding_noise(self) -> Floats:
        """Return the relative rounding error of the attraction of each body's nearest neighbour, of shape (m, n).

        Far from the origin and close to each other (a moon of an outer planet), the difference of two positions has few
        digits. A smaller tolerance would shorten the step without end.
        """
        x = self.positions
        return _NOISE * np.sqrt((x * x).sum(axis=1)) / compute_pairwise_distances(x).min(axis=2)

    def _repeat_current_accelerations(self) -> Floats:
        accelerations = self._gravity.compute_accelerations(self.positions, self.velocities).reshape(1, -1)
        return np.repeat(accelerations, self._tables.nodes, axis=0)

    def _choose_first_step(self, duration: float) -> float:
        """Return a hundredth of the shortest free-fall time between nearest neighbours."""
        accelerations = self._gravity.compute_accelerations(self.positions, self.velocities)
        strength = np.sqrt((accelerations * accelerations).sum(axis=1))
        with np.errstate(divide="ignore"):
            fall = np.sqrt(compute_pairwise_distances(self.positions).min(axis=2) / strength).min()
        return math.copysign(min(abs(duration), 0.01 * float(fall)), duration)


def _check_step_length(step: float, time: float) -> None:
    if not abs(step) > 1e-13 * max(1.0, abs(time)):
        raise ArithmeticError(f"The step has shrunk to {step:g} days at day {time:g}.")


def _add_compensated(total: Floats, more: Floats, lost: Floats) -> tuple[Floats, Floats]:
    """Return the sum and its rounding error (compensated summation)."""
    corrected = more - lost
    found = total + corrected
    return found, (found - total) - corrected
