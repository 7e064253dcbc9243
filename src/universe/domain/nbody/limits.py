"""Limits of N-body runs: checks of the start, the options and the amount of work."""

import math
from typing import Any, Final

import numpy as np

from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.integration.collisions_and_encounters import POLICIES
from universe.domain.nbody.integration.error_estimates import compute_periods
from universe.domain.nbody.integration.methods import COMPOSITIONS, METHODS, count_steps
from universe.domain.nbody.integration.point_masses import compute_pairwise_distances
from universe.domain.units_and_dates import G
from uraniborg.kernel.errors import InvalidInput

MAX_BODIES: Final = 1_000
MAX_WORK: Final = 6_000_000
"""Inner orbits times bodies squared (fewer than 8 bodies cost as much as 8): about an hour of one processor."""
MAX_SECONDS: Final = 300.0
MAX_STEPS: Final = 2_000_000
MAX_FORCES: Final = 5_000_000_000
"""Of the methods with a fixed step: steps times forces per step times bodies squared."""
MAX_SAMPLED: Final = 5_000_000
"""Samples times bodies."""
STEPS_PER_PERIOD: Final = 20
"""The fewest steps in the shortest period that can follow that orbit."""
_USUAL_STEPS: Final = 60
_SAMPLES_PER_PERIOD: Final = 8
_FEWEST_SAMPLES: Final = 1_000
_MOST_SAMPLES: Final = 20_000


def check_initial_conditions(start: InitialConditions) -> None:
    """Raise InvalidInput, with the body, for a start that cannot be integrated."""
    count = len(start.ids)
    if not 2 <= count <= MAX_BODIES:
        raise _make_limit_error("bodies", f"the number of chosen bodies is {count}", f"2 to {MAX_BODIES} bodies")
    for index, body_id in enumerate(start.ids):
        mass = float(start.masses[index])
        if not (math.isfinite(mass) and mass >= 0):
            raise _make_limit_error(
                "mass", f"the mass of '{body_id}' is {mass:g}", "0 or more solar masses", id=body_id
            )
        if not (np.isfinite(start.positions[index]).all() and np.isfinite(start.velocities[index]).all()):
            raise _make_limit_error("start", f"the state of '{body_id}' is not finite", "finite numbers", id=body_id)
    if not start.masses.any():
        raise _make_limit_error("mass", "no body has a mass above 0", "at least one mass above 0")
    apart = compute_pairwise_distances(start.positions.T[None])[0]
    if not apart.min() > 0:
        one, other = (start.ids[int(index)] for index in np.argwhere(apart == apart.min())[0])
        raise _make_limit_error(
            "start", f"'{one}' and '{other}' are in the same position", "different positions", id=one
        )


def check_run_options(days: float, method: str, on_collision: str, *, relativity: bool) -> None:
    """Raise InvalidInput for a duration that is not finite, or a method or policy that does not exist."""
    if not math.isfinite(days):
        raise _make_limit_error("days", f"days is {days}", "a finite number; below 0 runs backwards")
    if method not in METHODS:
        raise _make_limit_error("method", f"the method '{str(method)[:80]}' does not exist", list(METHODS))
    if on_collision not in POLICIES:
        raise _make_limit_error("on_collision", f"on_collision is '{str(on_collision)[:80]}'", list(POLICIES))
    if relativity and method in COMPOSITIONS:
        allowed = [name for name in METHODS if name not in COMPOSITIONS]
        raise _make_limit_error("method", f"'{method}' cannot follow forces that depend on velocities", allowed)


def find_shortest_period(start: InitialConditions) -> tuple[str, float]:
    """Return the body with the shortest period and that period; of the nearest pair if no body is bound."""
    every = compute_periods(start)
    index = int(every.argmin())
    if math.isfinite(every[index]):
        return start.ids[index], float(every[index])
    with np.errstate(divide="ignore"):
        times = compute_pairwise_distances(start.positions.T[None])[0] ** 3 / (
            G * (start.masses[:, None] + start.masses)
        )
    index = int(times.min(axis=1).argmin())
    return start.ids[index], 2 * math.pi * math.sqrt(float(times[index].min()))


def check_work_and_choose_step(start: InitialConditions, days: float, method: str, step: float | None) -> float | None:
    """Return the step, or None for methods that choose it. Raise InvalidInput if it is too long or too short."""
    body_id, period = find_shortest_period(start)
    count = len(start.ids)
    if method not in COMPOSITIONS:
        if step is not None:
            raise _make_limit_error(
                "step", f"'{method}' chooses its steps itself", f"a step with {', '.join(COMPOSITIONS)}"
            )
        _check_work(body_id, period, days, count)
        return None
    if step is None:
        step = period / _USUAL_STEPS if math.isfinite(period) else max(abs(days), 1.0)
    if not (math.isfinite(step) and step > 0):
        raise _make_limit_error("step", f"the step is {step} days", "a finite number above 0")
    if step > period / STEPS_PER_PERIOD:
        raise _make_limit_error(
            "step",
            f"a step of {step:g} days cannot follow '{body_id}', whose orbit takes {period:.6g} days",
            f"at most {period / STEPS_PER_PERIOD:.3g} days; leave it out for one that fits, or choose other bodies",
        )
    most = min(MAX_STEPS, MAX_FORCES // (len(COMPOSITIONS[method].weights) * count * count))
    if not abs(days) / step <= most:
        raise _make_limit_error(
            "step",
            f"{abs(days):g} days are {abs(days) / step:.6g} steps of '{method}' for {count} bodies",
            f"at most {most} steps: a step of at least {abs(days) / most:.6g} days, or a shorter time",
        )
    steps = count_steps(days, step)
    return abs(days) / steps if steps else step


def choose_sample_count(samples: int | None, start: InitialConditions, days: float) -> int:
    """Return the number of samples: enough to follow the shortest orbit, if none is given."""
    count = len(start.ids)
    if samples is None:
        wanted = _SAMPLES_PER_PERIOD * abs(days) / find_shortest_period(start)[1]
        return int(min(max(wanted, _FEWEST_SAMPLES), _MOST_SAMPLES, MAX_SAMPLED // count)) + 1
    if not 0 <= samples * count <= MAX_SAMPLED:
        raise _make_limit_error("samples", f"samples is {samples}", f"0 to {MAX_SAMPLED // count} for {count} bodies")
    return samples


def make_time_limit_error(seconds: float, day: float, days: float) -> InvalidInput:
    """Return the error for a run that exceeded its time limit."""
    return InvalidInput(
        f"The run reached day {day:.6g} of {days:.6g} within {seconds:g} seconds, the limit.",
        hint="Choose fewer bodies, a shorter time or a longer limit.",
        argument="days",
        allowed=f"about {abs(day):.3g} days in this time",
        at=day,
    )


def _check_work(body_id: str, period: float, days: float, count: int) -> None:
    orbits, most = abs(days) / period, MAX_WORK / max(count, 8) ** 2
    if not orbits <= most:
        raise _make_limit_error(
            "days",
            f"{abs(days):,.10g} days are {orbits:,.0f} orbits of '{body_id}', too many for {count} bodies",
            f"at most {most:,.0f} of these orbits, {most * period:,.6g} days: choose a shorter time, or fewer bodies "
            f"without '{body_id}'",
        )


def _make_limit_error(argument: str, problem: str, allowed: Any, **ids: Any) -> InvalidInput:
    return InvalidInput(
        f"These bodies cannot be integrated: {problem}.",
        hint=f"Allowed: {allowed if isinstance(allowed, str) else ', '.join(allowed)}.",
        argument=argument,
        allowed=allowed,
        **ids,
    )
