"""An N-body run of a universe and the reply about it, for every surface."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from universe.domain.units import find_epoch
from universe.nbody.answers import Motion, answers_of, motion_during
from universe.nbody.answers.wording import plain_number
from universe.nbody.limits import MAX_SECONDS
from universe.nbody.missing_physics import missing_physics
from universe.nbody.runs import Run, run
from universe.nbody.starts import start_of
from universe.orbits.anomaly import Floats
from universe.orbits.numbers import finite_or_none

FRAME: Final = {
    "origin": "barycentre of the bodies",
    "axes": "right-handed; x and y in the reference plane of the system, z towards its pole",
    "units": {"mass": "solar masses", "position": "AU", "velocity": "AU/day", "time": "days"},
}
_UNCERTAIN: Final = "The data state no uncertainty of the start; it is as good as the numbers of the bodies."


@dataclass(frozen=True, slots=True)
class Report:
    """A run, its reply and the orbits during it."""

    reply: dict[str, Any]
    run: Run
    motion: Motion

    @property
    def names(self) -> dict[str, str]:
        """Return the names of the bodies by id."""
        return dict(zip(self.run.start.ids, self.run.start.names, strict=True))


def report_run(
    plain: Mapping[str, Any],
    days: float,
    *,
    universe_id: str,
    version: int,
    ids: Sequence[str] | None = None,
    method: str = "gauss",
    step: float | None = None,
    relativity: bool = False,
    on_collision: str = "stop",
    progress: Callable[[float], object] | None = None,
    clock: Callable[[], float] | None = None,
    seconds: float = MAX_SECONDS,
) -> Report:
    """Move the bodies `ids` of a plain state, or all with a true orbit, and return the run with its answers.

    Raise NotFound for a body that does not exist, and InvalidInput for what cannot be integrated.
    """
    done = run(
        start_of(plain, ids),
        days,
        method=method,
        step=step,
        relativity=relativity,
        on_collision=on_collision,
        progress=progress,
        clock=clock,
        seconds=seconds,
    )
    motion = motion_during(done)
    reply = {
        "id": universe_id,
        "version": version,
        "time": plain["time"],
        "epochJulianDate": find_epoch(plain["stars"][key] for key in done.start.ids),
        "days": done.days,
        "daysAsked": float(days),
        "stoppedBy": done.stopped_by,
        "method": done.method,
        "step": done.step,
        "shortestStep": done.shortest_step,
        "steps": done.steps,
        "relativity": done.relativity,
        "frame": FRAME,
        "bodies": list(done.start.ids),
        "start": _states(done.start.ids, done.start.masses, done.start.positions, done.start.velocities),
        "end": _states(done.start.ids, done.masses, done.positions, done.velocities),
        "error": _errors(done),
        "errors": _sentences(done, motion),
        "trustworthy": done.trustworthy,
        "energyDrift": _drift(done.energy_drift),
        "angularMomentumDrift": _drift(done.angular_momentum_drift),
        "encounters": [
            {
                "bodies": list(one.bodies),
                "day": one.day,
                "au": one.distance_au,
                "hillRadii": finite_or_none(one.hill_radii),
                "radii": finite_or_none(one.radii),
            }
            for one in done.encounters
        ],
        "encounterCount": done.encounter_count,
        "collisions": [
            {
                "bodies": list(one.bodies),
                "day": one.day,
                "au": one.distance_au,
                "speed": one.speed,
                "survivor": one.survivor,
            }
            for one in done.collisions
        ],
        **answers_of(done, motion),
    }
    return Report(reply, done, motion)


def headline(reply: Mapping[str, Any]) -> str:
    """Return the outcome of a run on one short line."""
    degrees = max((one["degrees"] or 0.0 for one in reply["error"].values()), default=0.0)
    if not reply["trustworthy"]:
        return f"not trustworthy after {reply['days']:g} days: positions known to {plain_number(degrees)} degrees only"
    collided, left = len(reply["collisions"]), len(reply["ejections"])
    fate = f"{collided:,} collided, {left:,} left" if collided or left else "nothing collided or left"
    return f"{reply['days']:g} days: {fate}; arithmetic good to {degrees:.1g} degrees"


def _states(
    ids: Iterable[str], masses: Floats, positions: Floats, velocities: Floats
) -> dict[str, dict[str, Any] | None]:
    """Return the states by id; None for a body that has merged into another."""
    rows = zip(ids, masses.tolist(), positions.tolist(), velocities.tolist(), strict=True)
    return {
        key: {"mass": mass, "position": position, "velocity": velocity} if math.isfinite(position[0]) else None
        for key, mass, position, velocity in rows
    }


def _errors(done: Run) -> dict[str, dict[str, float | None]]:
    rows = zip(done.start.ids, done.error_au.tolist(), done.error_degrees.tolist(), strict=True)
    return {key: {"au": finite_or_none(au), "degrees": finite_or_none(degrees)} for key, au, degrees in rows}


def _sentences(done: Run, motion: Motion) -> dict[str, list[str]]:
    """Return the sentences about each of the three kinds of error."""
    return {
        "arithmetic": [_arithmetic(done)],
        "start": list(done.start.notes) or [_UNCERTAIN],
        "physics": missing_physics(motion, relativity=done.relativity),
    }


def _arithmetic(done: Run) -> str:
    if not done.steps:
        return "Nothing was integrated."
    degrees = done.worst_error_degrees
    if not np.isfinite(degrees).any():
        return "The error is unknown."
    worst = int(np.nanargmax(degrees))
    return (
        f"Every position is known to {degrees[worst]:.1g} degrees of its orbit or better; worst is "
        f"{done.start.names[worst]} ({done.worst_error_au[worst]:.1g} AU). A second run with other steps "
        "differs by no more."
    )


def _drift(drift: Any) -> dict[str, float] | None:
    return None if drift is None else {"max": drift.max, "final": drift.final}
