"""Symplectic integrators by name: which there are, and what error each leaves, in plain words.

All are compositions of kick, drift, kick, so they run backwards exactly, keep the angular momentum to rounding, and let
the energy swing about its value instead of wandering off.
"""

import math
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Integrator:
    """`weights` are the parts of a step that its successive leaps take; they read the same from either end."""

    name: str
    order: int
    weights: tuple[float, ...]
    error: str

    @property
    def forces_per_step(self) -> int:
        return len(self.weights)


def _yoshida4() -> tuple[float, ...]:
    outer = 1 / (2 - math.cbrt(2))
    return (outer, 1 - 2 * outer, outer)


def _yoshida6() -> tuple[float, ...]:
    # Solution A of H. Yoshida, "Construction of higher order symplectic integrators", Physics Letters A 150 (1990).
    first, second, third = 0.784513610477560, 0.235573213359357, -1.17767998417887
    return (first, second, third, 1 - 2 * (first + second + third), third, second, first)


INTEGRATORS: Final = {
    one.name: one
    for one in (
        Integrator(
            "leapfrog",
            2,
            (1.0,),
            "Halving the step quarters the energy error. One force per step: for many bodies, or a quick look.",
        ),
        Integrator(
            "yoshida4",
            4,
            _yoshida4(),
            "Halving the step cuts the energy error to a sixteenth, at three forces per step. The choice for planets.",
        ),
        Integrator(
            "yoshida6",
            6,
            _yoshida6(),
            "Halving the step cuts the energy error to a sixty-fourth, at seven forces per step. The choice"
            " where many digits of the energy must hold.",
        ),
    )
}
