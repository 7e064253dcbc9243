"""Integrate by Taylor series with the optional package heyoka: as exact as the default, and faster for few bodies.

F. Biscani and D. Izzo, "Revisiting high-order Taylor methods for astrodynamics and celestial mechanics", MNRAS 504
(2021). The equations of so many bodies are compiled once, with masses as parameters.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from universe.nbody.gravity import LIGHT_SPEED, Gravity
from universe.nbody.segments import Segment
from universe.orbits.kepler_equation import Floats
from uraniborg.kernel.errors import MissingExtra


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
