"""Integrate by any of the methods: the default one, symplectic ones with a fixed step, and Taylor series of heyoka.

The symplectic methods are leapfrog and Yoshida's compositions. All are compositions of kick, drift, kick: they run
backwards exactly, conserve angular momentum except for rounding, and their energy error oscillates without drift. This
does not limit the error of positions.

Taylor series, by the optional package heyoka, are as exact as the default, and faster for few bodies: F. Biscani and D.
Izzo, "Revisiting high-order Taylor methods for astrodynamics and celestial mechanics", MNRAS 504 (2021). The equations
of so many bodies are compiled once, with masses as parameters.
"""

import math
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, Protocol

import numpy as np

from universe.domain.nbody.integration.gauss_legendre_integrator import NODES, TOLERANCE, GaussLegendreStepper
from universe.domain.nbody.integration.point_masses import LIGHT_SPEED, Gravity
from universe.domain.nbody.integration.segments import HermiteSegment, Segment
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import G
from uraniborg.kernel.errors import MissingExtra


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


@dataclass(frozen=True)
class TaylorSegment(Segment):
    """A step with the Taylor series of all coordinates about its beginning."""

    series: Floats
    """Shape (order + 1, 2, 3, n): the coefficients of positions and velocities for powers of days."""

    def _compute_states_at_fractions(self, fraction: Floats) -> tuple[Floats, Floats]:
        powers = (self.length * fraction)[:, None] ** np.arange(len(self.series))
        found = np.tensordot(powers, self.series, 1)
        return found[:, 0], found[:, 1]


class HeyokaStepper:
    """An integration of several configurations of the same bodies; the steps are those of the first.

    `positions` and `velocities` have the shape (m, 3, n), as in `GaussLegendreStepper`.
    """

    def __init__(self, gravity: Gravity, positions: Floats, velocities: Floats, *, tolerance: float) -> None:
        """Compile the equations or reuse compiled ones. Raise MissingExtra if heyoka is not installed."""
        self.positions, self.velocities = positions.copy(), velocities.copy()
        self._count = positions.shape[2]
        compiled = _compile_integrator(_import_heyoka(), self._count, gravity.relativistic_body, tolerance)
        self._integrators = [deepcopy(compiled) for _ in positions]
        for one in self._integrators:
            one.pars[:] = (gravity.constant * gravity.masses)[: one.pars.size]

    def integrate(self, begin: float, end: float) -> Iterator[Segment]:
        """Move from day `begin` to day `end` (before it: backwards), and yield each step when it is done."""
        first, *others = self._integrators
        for one, x, v in zip(self._integrators, self.positions, self.velocities, strict=True):
            one.time = begin
            one.state[:] = np.concatenate([x.ravel(), v.ravel()])
        day = begin
        while day != end:
            x, v = self.positions[0], self.velocities[0]
            outcome, _ = first.step(max_delta_t=end - day, write_tc=True)
            series = np.array(first.tc).T.reshape(-1, 2, 3, self._count)
            done = end if abs(first.time - end) <= 1e-15 * abs(end) else float(first.time)
            for one, position, velocity in zip(others, self.positions[1:], self.velocities[1:], strict=True):
                one.state[:] = np.concatenate([position.ravel(), velocity.ravel()])
                one.propagate_until(first.time)
            states = np.stack([np.array(one.state) for one in self._integrators])
            if "err" in str(outcome) or not np.isfinite(states).all() or done == day:
                raise ArithmeticError(f"The motion cannot be followed beyond day {day:g}.")
            states = states.reshape(-1, 2, 3, self._count)
            self.positions, self.velocities = states[:, 0].copy(), states[:, 1].copy()
            yield TaylorSegment(day, done, x, v, self.positions[0], self.velocities[0], series)
            day = done


def _import_heyoka() -> Any:
    try:
        return import_module("heyoka")
    except ImportError:
        raise MissingExtra("nbody", "The method 'heyoka'") from None


@lru_cache(maxsize=4)
def _compile_integrator(hy: Any, count: int, relativistic_body: int | None, tolerance: float) -> Any:
    """Return an integrator of so many bodies. Its parameters are G times the masses."""
    names = [f"{axis}{body}" for axis in ("x", "y", "z", "u", "v", "w") for body in range(count)]
    variables: Any = hy.make_vars(*names)
    coordinates = [[variables[axis * count + body] for axis in range(3)] for body in range(count)]
    speeds = [[variables[(3 + axis) * count + body] for axis in range(3)] for body in range(count)]
    accelerations: list[list[list[Any]]] = [[[], [], []] for _ in range(count)]
    for one in range(count):
        for other in range(one + 1, count):
            apart = [b - a for a, b in zip(coordinates[one], coordinates[other], strict=True)]
            strength = hy.sum([part**2 for part in apart]) ** -1.5
            for axis in range(3):
                accelerations[one][axis].append(hy.par[other] * strength * apart[axis])
                accelerations[other][axis].append(-hy.par[one] * strength * apart[axis])
    if relativistic_body is not None:
        _append_relativistic_terms(hy, accelerations, coordinates, speeds, relativistic_body)
    equations = [(variables[axis * count + body], speeds[body][axis]) for axis in range(3) for body in range(count)]
    equations += [
        (speeds[body][axis], hy.sum(accelerations[body][axis]) if accelerations[body][axis] else hy.expression(0.0))
        for axis in range(3)
        for body in range(count)
    ]
    return hy.taylor_adaptive(equations, [0.0] * len(equations), tol=tolerance, compact_mode=True)


def _append_relativistic_terms(
    hy: Any, accelerations: Any, coordinates: Any, speeds: Any, relativistic_body: int
) -> None:
    for body in range(len(accelerations)):
        if body == relativistic_body:
            continue
        offset = [a - b for a, b in zip(coordinates[body], coordinates[relativistic_body], strict=True)]
        speed = [a - b for a, b in zip(speeds[body], speeds[relativistic_body], strict=True)]
        square = hy.sum([part**2 for part in offset])
        mu = hy.par[relativistic_body]
        along = 4.0 * mu * square**-0.5 - hy.sum([part**2 for part in speed])
        radial = hy.sum([a * b for a, b in zip(offset, speed, strict=True)])
        factor = mu * square**-1.5 / LIGHT_SPEED**2
        for axis in range(3):
            more = factor * (along * offset[axis] + 4.0 * radial * speed[axis])
            accelerations[body][axis].append(more)
            accelerations[relativistic_body][axis].append(-hy.par[body] / mu * more)
