"""N-body runs of the bodies of a universe, which change nothing in it."""

from collections.abc import Sequence
from typing import Any, Final

from uraniborg.kernel.errors import InvalidInput

STEPS_PER_PERIOD: Final = 20
"""A step longer than this part of the shortest period would not follow that orbit at all."""
_USUAL: Final = 60
TRUSTED_DRIFT: Final = 1e-3
"""Beyond this drift of the energy a run says nothing."""


def simulate(
    plain: dict[str, Any], bodies: Sequence[str] | None, *, days: float, step: float | None, method: str
) -> dict[str, Any]:
    """Integrate these bodies, or all that have a true orbit, and tell where they end and what was conserved.

    Raises InvalidInput for a step that is too long for the quickest of them; one that fits is chosen if none is given.
    """
    from universe.nbody.starts import start_of
    from universe.orbits.nbody import integrate

    start = start_of(plain, bodies or None)
    ids = list(start.ids)
    step = _fitting_step(plain["stars"], ids, step)
    run = integrate(start.masses, start.positions, start.velocities, duration=days, step=step, method=method)
    return {
        "bodies": ids,
        "days": days,
        "step": step,
        "method": method,
        "positions": run.positions.tolist(),
        "velocities": run.velocities.tolist(),
        "energyDrift": {"max": run.energy_drift_max, "final": run.energy_drift_final},
        "angularMomentumDrift": {"max": run.angular_momentum_drift_max, "final": run.angular_momentum_drift_final},
        "trustworthy": run.energy_drift_max < TRUSTED_DRIFT,
    }


def _fitting_step(stars: dict[str, Any], ids: Sequence[str], step: float | None) -> float:
    from universe.orbits.blocks import kepler_orbit

    periods: dict[str, float] = {}
    for key in ids:
        if stars.get(key, {}).get("kepler"):
            periods[key] = kepler_orbit(stars, key).period
    if not periods:
        return 1.0 if step is None else step
    quickest = min(periods, key=lambda key: periods[key])
    longest = periods[quickest] / STEPS_PER_PERIOD
    if step is None:
        return periods[quickest] / _USUAL
    if step > longest:
        raise InvalidInput(
            f"A step of {step:g} days cannot follow '{quickest[:100]}', whose period is {periods[quickest]:g} days.",
            hint="Take a shorter step, leave it out to have one chosen, or choose other bodies with --body.",
            argument="step",
            allowed=f"at most {longest:.3g} days",
        )
    return step
