"""What an N-body run accepts: finite bodies apart from each other, a positive step, and a bounded amount of work."""

import math
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from universe.orbits.anomaly import Floats
from universe.orbits.integrators import INTEGRATORS, Integrator
from uraniborg.kernel.errors import InvalidInput

MAX_BODIES: Final = 2_000
MAX_STEPS: Final = 2_000_000
MAX_WORK: Final = 5_000_000_000
"""Steps times forces per step times bodies squared: some minutes of one processor."""
MAX_SAMPLED: Final = 5_000_000
"""Samples times bodies."""


def checked_bodies(masses: ArrayLike, positions: ArrayLike, velocities: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """The bodies as float arrays of shapes (n,), (n, 3) and (n, 3)."""
    weights = _numbers("masses", masses)
    if weights.ndim != 1 or not 1 <= weights.size <= MAX_BODIES:
        raise _refusal("masses", f"has shape {weights.shape}", f"one mass for each of 1 to {MAX_BODIES} bodies")
    if (weights < 0).any() or not weights.any():
        raise _refusal("masses", "holds a negative mass, or none above 0", "masses of at least 0, one of them above")
    x, v = _numbers("positions", positions), _numbers("velocities", velocities)
    for name, array in (("positions", x), ("velocities", v)):
        if array.shape != (weights.size, 3):
            raise _refusal(name, f"has shape {array.shape}", f"shape ({weights.size}, 3), a row for each mass")
    _, places = np.unique(x, axis=0, return_inverse=True)
    counts = np.bincount(places.reshape(-1))
    if (counts > 1).any():
        together = np.flatnonzero(places.reshape(-1) == int(counts.argmax()))[:2].tolist()
        raise _refusal("positions", f"puts bodies {together[0]} and {together[1]} in the same place", "places apart")
    return weights, x, v


def checked_method(method: str) -> Integrator:
    if method not in INTEGRATORS:
        raise _refusal("method", f"is '{method}'", list(INTEGRATORS))
    return INTEGRATORS[method]


def checked_steps(bodies: int, duration: float, step: float, integrator: Integrator) -> int:
    """How many steps fill the duration."""
    if not math.isfinite(duration):
        raise _refusal("duration", f"is {duration}", "a finite number; below 0 runs backwards")
    exact = abs(duration) / checked_positive("step", step)
    most = min(MAX_STEPS, MAX_WORK // (integrator.forces_per_step * bodies * bodies))
    if not exact <= most:
        raise _refusal(
            "step",
            f"of {step} needs {exact:.6g} steps of '{integrator.name}' for {bodies} bodies",
            f"at most {most} steps: a step of at least {abs(duration) / most:.6g}, or a shorter duration",
        )
    # A quotient that rounding left just above a whole number is that number.
    return math.ceil(exact * (1 - 1e-12))


def checked_samples(samples: int, steps: int, bodies: int) -> NDArray[np.intp]:
    """After which numbers of steps the trajectory is sampled."""
    if not 0 <= samples * bodies <= MAX_SAMPLED:
        raise _refusal("samples", f"is {samples}", f"0 to {MAX_SAMPLED // bodies} for {bodies} bodies")
    if samples < 2:
        return np.full(samples, steps, dtype=np.intp)
    return np.unique(np.rint(np.linspace(0, steps, samples)).astype(np.intp))


def checked_positive(argument: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise _refusal(argument, f"is {value}", "a finite number above 0")
    return value


def _numbers(argument: str, values: ArrayLike) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise _refusal(argument, "is not an array of numbers", "numbers in rows of equal length") from None
    if not np.isfinite(array).all():
        raise _refusal(argument, "holds what is not a finite number", "finite numbers")
    return array


def _refusal(argument: str, problem: str, allowed: Any) -> InvalidInput:
    return InvalidInput(
        f"These bodies cannot be integrated: {argument} {problem}.",
        hint=f"Allowed: {allowed if isinstance(allowed, str) else ', '.join(allowed)}.",
        argument=argument,
        allowed=allowed,
    )
