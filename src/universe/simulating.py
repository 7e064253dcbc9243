"""N-body runs of the bodies of a universe, which change nothing in it."""

from collections.abc import Sequence
from typing import Any


def simulate(
    plain: dict[str, Any], bodies: Sequence[str] | None, *, days: float, step: float, method: str
) -> dict[str, Any]:
    """Integrate these bodies, or all that have a true orbit, and tell where they end and what was conserved."""
    from universe.orbits.nbody import initial_conditions, integrate

    stars = plain["stars"]
    ids = list(bodies) if bodies else [key for key, body in stars.items() if body.get("kepler") or not body["parentId"]]
    masses, positions, velocities = initial_conditions(stars, ids, plain["time"])
    run = integrate(masses, positions, velocities, duration=days, step=step, method=method)
    return {
        "bodies": ids,
        "days": days,
        "step": step,
        "method": method,
        "positions": run.positions.tolist(),
        "velocities": run.velocities.tolist(),
        "energyDrift": {"max": run.energy_drift_max, "final": run.energy_drift_final},
        "angularMomentumDrift": {"max": run.angular_momentum_drift_max, "final": run.angular_momentum_drift_final},
    }
