"""N-body motion: a chosen set of bodies moved by their own gravity, with the drift of what must be conserved."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from universe.orbits import limits
from universe.orbits.anomaly import Floats
from universe.orbits.gravity import Gravity
from universe.orbits.integrators import Integrator
from universe.orbits.units import G as ASTRONOMICAL_G
from uraniborg.kernel.errors import InvalidInput

__all__ = ["Run", "integrate"]


@dataclass(frozen=True, slots=True)
class Run:
    """Where an integration ended, how it got there, and how well it kept what nature conserves.

    Drifts are relative and measured after every step: `max` is the worst of them, `final` the last.
    """

    positions: Floats
    velocities: Floats
    times: Floats
    """Shape (samples,): when the trajectory was sampled, counted from the start."""
    trajectory: Floats
    """Shape (samples, n, 3)."""
    energy_drift_max: float
    energy_drift_final: float
    angular_momentum_drift_max: float
    angular_momentum_drift_final: float
    method: str
    step: float
    """The step taken: the one asked for, shortened so that a whole number of them fills the duration."""
    steps: int


def integrate(
    masses: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike,
    *,
    duration: float,
    step: float,
    method: str = "yoshida4",
    samples: int = 0,
    gravitational_constant: float = ASTRONOMICAL_G,
) -> Run:
    """Moves n bodies for `duration` (negative runs backwards) in steps no longer than `step`.

    Units are astronomical (AU, days, solar masses) unless the constant of gravitation says otherwise. `method` is one
    of `universe.orbits.integrators`. `samples` moments, evenly spread from the start to the end, are kept as the
    trajectory (a single one is the end; never more than one per step).

    Raises InvalidInput for what is not finite, for a step that is not positive, for more work than the limits allow,
    and for bodies in the same place, at the start or on the way.
    """
    weights, start, speed = limits.checked_bodies(masses, positions, velocities)
    integrator = limits.checked_method(method)
    steps = limits.checked_steps(weights.size, duration, step, integrator)
    sampled = limits.checked_samples(samples, steps, weights.size)
    gravity = Gravity(weights, limits.checked_positive("gravitational_constant", gravitational_constant))
    length = duration / steps if steps else 0.0
    x, v = start.T.copy(), speed.T.copy()
    drift = _Drift(gravity)
    rows = {int(at): row for row, at in enumerate(sampled)}
    trajectory = np.empty((sampled.size, weights.size, 3))
    with np.errstate(all="ignore"):
        for done in _moves(gravity, integrator, x, v, length, steps):
            drift.measure(x, v, done * length)
            if done in rows:
                trajectory[rows[done]] = x.T
    return Run(
        positions=x.T.copy(),
        velocities=v.T.copy(),
        times=sampled.astype(np.float64) * length,
        trajectory=trajectory,
        energy_drift_max=drift.energy_max,
        energy_drift_final=drift.energy,
        angular_momentum_drift_max=drift.momentum_max,
        angular_momentum_drift_final=drift.momentum,
        method=integrator.name,
        step=abs(length),
        steps=steps,
    )


def _moves(gravity: Gravity, integrator: Integrator, x: Floats, v: Floats, length: float, steps: int) -> Iterator[int]:
    """Changes `x` and `v` step by step; yields how many steps are done, 0 first."""
    weights = integrator.weights
    first = weights[0] / 2 * length
    # The kicks between two leaps are taken as one, and the last force of a step is the first of the next.
    kicks = [(one + other) / 2 * length for one, other in zip(weights, (*weights[1:], 0.0), strict=True)]
    leaps = list(zip([weight * length for weight in weights], kicks, strict=True))
    felt = np.empty_like(x)
    gravity.accelerations(x, felt)
    yield 0
    for done in range(1, steps + 1):
        v += first * felt
        for drift, kick in leaps:
            x += drift * v
            gravity.accelerations(x, felt)
            v += kick * felt
        yield done


class _Drift:
    """How far energy and angular momentum have moved from where they were at the first measurement."""

    def __init__(self, gravity: Gravity) -> None:
        self._gravity = gravity
        self._first: tuple[float, tuple[float, float, float]] | None = None
        self._energy_scale = self._momentum_scale = 1.0
        self.energy = self.energy_max = self.momentum = self.momentum_max = 0.0

    def measure(self, x: Floats, v: Floats, at: float) -> None:
        energy, momentum = self._gravity.energy(v), self._gravity.angular_momentum(x, v)
        if not (math.isfinite(energy) and all(map(math.isfinite, momentum))):
            raise _met(at)
        if self._first is None:
            self._first = energy, momentum
            self._energy_scale = self._gravity.energy_scale(v)
            self._momentum_scale = self._gravity.momentum_scale(x, v)
        self.energy = abs(energy - self._first[0]) / self._energy_scale
        self.momentum = math.dist(momentum, self._first[1]) / self._momentum_scale
        self.energy_max = max(self.energy_max, self.energy)
        self.momentum_max = max(self.momentum_max, self.momentum)


def _met(at: float) -> InvalidInput:
    return InvalidInput(
        f"Two bodies met, or came too near for numbers to hold, at {at} after the start.",
        hint="Point masses cannot be followed through a collision: stop before it, or take a smaller step.",
        argument="duration",
        allowed="as long as the bodies stay apart",
        at=at,
    )
