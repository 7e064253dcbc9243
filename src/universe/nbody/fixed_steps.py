"""Symplectic methods with a fixed step: leapfrog and Yoshida's compositions, to learn from and to compare with.

All are compositions of kick, drift, kick: they run backwards exactly, keep the angular momentum to rounding, and let
the energy swing about its value instead of wandering off. None of that bounds the error of a position.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from universe.nbody.gravity import Gravity
from universe.nbody.segments import HermiteSegment, Segment
from universe.orbits.anomaly import Floats


@dataclass(frozen=True, slots=True)
class Composition:
    """`weights` are the parts of a step that its successive leaps take; they read the same from either end."""

    name: str
    order: int
    weights: tuple[float, ...]


def _yoshida4() -> tuple[float, ...]:
    outer = 1 / (2 - math.cbrt(2))
    return (outer, 1 - 2 * outer, outer)


def _yoshida6() -> tuple[float, ...]:
    # Solution A of H. Yoshida, "Construction of higher order symplectic integrators", Physics Letters A 150 (1990).
    first, second, third = 0.784513610477560, 0.235573213359357, -1.17767998417887
    return (first, second, third, 1 - 2 * (first + second + third), third, second, first)


COMPOSITIONS: Final = {
    one.name: one
    for one in (
        Composition("leapfrog", 2, (1.0,)),
        Composition("yoshida4", 4, _yoshida4()),
        Composition("yoshida6", 6, _yoshida6()),
    )
}


def move(
    gravity: Gravity, composition: Composition, positions: Floats, velocities: Floats, *, duration: float, steps: int
) -> Iterator[Segment]:
    """Yield each of `steps` equal steps that fill `duration` days. Positions and velocities have the shape (3, n)."""
    length = duration / steps if steps else 0.0
    weights = composition.weights
    # The kicks between two leaps are taken as one, and the last force of a step is the first of the next.
    kicks = [(one + other) / 2 * length for one, other in zip(weights, (*weights[1:], 0.0), strict=True)]
    leaps = list(zip([weight * length for weight in weights], kicks, strict=True))
    x, v = positions, velocities
    felt = gravity.accelerations(x[None])[0]
    for done in range(steps):
        first = x, v, felt
        v = v + weights[0] / 2 * length * felt
        for drift, kick in leaps:
            x = x + drift * v
            felt = gravity.accelerations(x[None])[0]
            v = v + kick * felt
        yield HermiteSegment(done * length, (done + 1) * length, first[0], first[1], x, v, first[2], felt)
