"""Integration by any of the methods: bodies and a duration in, the motion out, step by step."""

from collections.abc import Iterator
from typing import Final, Protocol

from universe.nbody.gauss_legendre_integrator import NODES, TOLERANCE, GaussLegendreStepper
from universe.nbody.gravity import Gravity
from universe.nbody.segments import Segment
from universe.nbody.symplectic_integrators import COMPOSITIONS, SymplecticStepper
from universe.orbits.kepler_equation import Floats
from universe.orbits.units import G

GAUSS: Final = "gauss"
HEYOKA: Final = "heyoka"
METHODS: Final = (GAUSS, HEYOKA, *COMPOSITIONS)


class Stepper(Protocol):
    """Configurations of bodies, of shape (m, 3, n), that move with common steps."""

    positions: Floats
    velocities: Floats

    def integrate(self, begin: float, end: float) -> Iterator[Segment]:
        """Move from one day to another and yield each step of the first configuration. Raise ArithmeticError."""
        ...


def make_stepper(
    gravity: Gravity, positions: Floats, velocities: Floats, *, method: str, step: float | None, coarse: bool = False
) -> Stepper:
    """Return the stepper of a method; `coarse` selects a lower order and a larger tolerance.

    `step` is for the methods with a fixed step. Raise MissingExtra for a method that is not installed.
    """
    if method == GAUSS:
        nodes, tolerance = (NODES - 2, 10 * TOLERANCE) if coarse else (NODES, TOLERANCE)
        return GaussLegendreStepper(gravity, positions, velocities, nodes=nodes, tolerance=tolerance)
    if method == HEYOKA:
        from universe.nbody.heyoka_integrator import HeyokaStepper

        return HeyokaStepper(gravity, positions, velocities, tolerance=1e-15 if coarse else 1e-16)
    assert step is not None
    return SymplecticStepper(gravity, positions, velocities, composition=COMPOSITIONS[method], step=step)


def integrate(
    masses: Floats,
    positions: Floats,
    velocities: Floats,
    duration: float,
    *,
    method: str = GAUSS,
    step: float | None = None,
    relativistic_body: int | None = None,
    gravitational_constant: float = G,
) -> Iterator[Segment]:
    """Yield the motion of n bodies for `duration` days (below 0: backwards), one step at a time.

    Positions and velocities have the shape (n, 3). `step` is for the methods with a fixed step: no step is longer.
    `relativistic_body` is the index of a body whose relativistic field is included. Stop iterating to stop the run.
    """
    gravity = Gravity(masses, constant=gravitational_constant, relativistic_body=relativistic_body)
    stepper = make_stepper(gravity, positions.T[None], velocities.T[None], method=method, step=step)
    return stepper.integrate(0.0, duration)
