"""Symplectic methods with a fixed step: leapfrog and Yoshida's compositions.

All are compositions of kick, drift, kick: they run backwards exactly, conserve angular momentum except for
rounding, and their energy error oscillates without drift. This does not limit the error of positions.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from universe.nbody.gravity import Gravity
from universe.nbody.segments import HermiteSegment, Segment
from universe.orbits.kepler_equation import Floats


@dataclass(frozen=True, slots=True)
class Composition:
    """`weights` are the parts of a step that its successive leaps take; they read the same from either end."""

    name: str
    order: int
    weights: tuple[float, ...]


def _compute_yoshida4_weights() -> tuple[float, ...]:
    outer = 1 / (2 - math.cbrt(2))
    return (outer, 1 - 2 * outer, outer)


def _compute_yoshida6_weights() -> tuple[float, ...]:
    # Solution A of H. Yoshida, "Construction of higher order symplectic integrators", Physics Letters A 150 (1990).
    first, second, third = 0.784513610477560, 0.235573213359357, -1.17767998417887
    return (first, second, third, 1 - 2 * (first + second + third), third, second, first)


COMPOSITIONS: Final = {
    one.name: one
    for one in (
        Composition("leapfrog", 2, (1.0,)),
        Composition("yoshida4", 4, _compute_yoshida4_weights()),
        Composition("yoshida6", 6, _compute_yoshida6_weights()),
    )
}


class SymplecticStepper:
    """An integration of several configurations of the same bodies side by side, with equal steps.

    `positions` and `velocities` have the shape (m, 3, n). Segments are those of the first configuration; the present
    state of all is in `positions` and `velocities`.
    """

    def __init__(
        self, gravity: Gravity, positions: Floats, velocities: Floats, *, composition: Composition, step: float
    ) -> None:
        """Prepare steps of at most `step` days."""
        self.positions, self.velocities = positions.copy(), velocities.copy()
        self._gravity = gravity
        self._weights = composition.weights
        self._longest = step

    def integrate(self, begin: float, end: float) -> Iterator[Segment]:
        """Move from day `begin` to day `end` (before it: backwards), and yield each step when it is done."""
        steps = count_steps(end - begin, self._longest)
        length = (end - begin) / steps if steps else 0.0
        weights = self._weights
        # The kicks between two leaps are taken as one, and the last force of a step is the first of the next.
        kicks = [(one + other) / 2 * length for one, other in zip(weights, (*weights[1:], 0.0), strict=True)]
        leaps = list(zip([weight * length for weight in weights], kicks, strict=True))
        accelerations = self._gravity.compute_accelerations(self.positions)
        for done in range(1, steps + 1):
            first = self.positions[0], self.velocities[0], accelerations[0]
            x, v = self.positions, self.velocities + weights[0] / 2 * length * accelerations
            for drift, kick in leaps:
                x = x + drift * v
                accelerations = self._gravity.compute_accelerations(x)
                v = v + kick * accelerations
            if not np.isfinite(v).all():
                raise ArithmeticError(f"A velocity is not finite at day {begin + done * length:g}.")
            self.positions, self.velocities = x, v
            before, after = begin + (done - 1) * length, begin + done * length if done < steps else end
            yield HermiteSegment(before, after, first[0], first[1], x[0], v[0], first[2], accelerations[0])


def count_steps(days: float, step: float) -> int:
    """Return the number of steps of at most this length in this many days."""
    # A quotient just above a whole number because of rounding counts as that number.
    return math.ceil(abs(days) / step * (1 - 1e-12))
