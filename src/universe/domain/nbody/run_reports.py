"""Run a universe and build the reply for every interface, with the physics that is left out."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from universe.domain.names_and_numbers import format_two_digits
from universe.domain.nbody.analysis import OrbitHistory, analyse_run, compute_run_orbit_history
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.integration.error_estimates import Drift
from universe.domain.nbody.integration.point_masses import LIGHT_SPEED
from universe.domain.nbody.limits import MAX_SECONDS
from universe.domain.nbody.measurement_replies import BodyError, BodyState, DriftFacts, Frame, RunErrors, RunReply
from universe.domain.nbody.runs import Run, run_nbody
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import G, find_epoch_julian_date, finite_or_none

FRAME: Final[Frame] = {
    "origin": "barycentre of the bodies",
    "axes": "right-handed; x and y in the reference plane of the system, z towards its pole",
    "units": {"mass": "solar masses", "position": "AU", "velocity": "AU/day", "time": "days"},
}
_UNCERTAIN: Final = "The data state no uncertainty of the start; it is as accurate as the values of the bodies."
START_NOT_INCLUDED: Final = "The uncertainty of the masses and orbits it starts from is not included."
_NOTICEABLE = 1e-4
"""The smallest rotation of an orbit by relativity during a run that is mentioned, in degrees."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run, its reply and the orbits during it."""

    reply: RunReply
    run: Run
    motion: OrbitHistory

    @property
    def names(self) -> dict[str, str]:
        """Return the names of the bodies by id."""
        return dict(zip(self.run.start.ids, self.run.start.names, strict=True))


def run_and_report(
    universe_state: Mapping[str, Any],
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
) -> RunReport:
    """Move the bodies `ids` of a plain state, or all with a true orbit, and return the run with its answers.

    Raise NotFound for a body that does not exist, and InvalidInput for a start that cannot be integrated.
    """
    done = run_nbody(
        make_initial_conditions(universe_state, ids),
        days,
        method=method,
        step=step,
        relativity=relativity,
        on_collision=on_collision,
        progress=progress,
        clock=clock,
        seconds=seconds,
    )
    motion = compute_run_orbit_history(done)
    reply: RunReply = {
        "id": universe_id,
        "version": version,
        "time": universe_state["time"],
        "epochJulianDate": find_epoch_julian_date(universe_state["stars"][key] for key in done.start.ids),
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
        "start": _make_states_reply(done.start.ids, done.start.masses, done.start.positions, done.start.velocities),
        "end": _make_states_reply(done.start.ids, done.masses, done.positions, done.velocities),
        "error": _make_errors_reply(done),
        "errors": _describe_errors(done, motion),
        "trustworthy": done.trustworthy,
        "energyDrift": _make_drift_reply(done.energy_drift),
        "angularMomentumDrift": _make_drift_reply(done.angular_momentum_drift),
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
        **analyse_run(done, motion),
    }
    return RunReport(reply, done, motion)


def format_run_headline(reply: RunReply) -> str:
    """Return the outcome of a run on one short line."""
    degrees = find_worst_degrees(reply)
    if not reply["trustworthy"]:
        good = "with an unknown error" if degrees is None else f"good to {format_two_digits(degrees)} degrees only"
        return f"not trustworthy after {reply['days']:g} days: integration {good}"
    collided, left = len(reply["collisions"]), len(reply["ejections"])
    fate = f"{collided:,} collided, {left:,} left" if collided or left else "nothing collided or left"
    good = "error of the integration unknown" if degrees is None else f"integration good to {degrees:.1g} degrees"
    return f"{reply['days']:g} days: {fate}; {good}"


def find_worst_degrees(reply: RunReply) -> float | None:
    """Return the largest known error of a body along its orbit; None if no error is known."""
    return max((one["degrees"] for one in reply["error"].values() if one["degrees"] is not None), default=None)


def _make_states_reply(
    ids: Iterable[str], masses: Floats, positions: Floats, velocities: Floats
) -> dict[str, BodyState | None]:
    """Return the states by id; None for a body that has merged into another."""
    rows = zip(ids, masses.tolist(), positions.tolist(), velocities.tolist(), strict=True)
    return {
        key: {"mass": mass, "position": position, "velocity": velocity} if math.isfinite(position[0]) else None
        for key, mass, position, velocity in rows
    }


def _make_errors_reply(done: Run) -> dict[str, BodyError]:
    rows = zip(done.start.ids, done.error_au.tolist(), done.error_degrees.tolist(), strict=True)
    return {key: {"au": finite_or_none(au), "degrees": finite_or_none(degrees)} for key, au, degrees in rows}


def _describe_errors(done: Run, motion: OrbitHistory) -> RunErrors:
    """Return the sentences about each of the three kinds of error."""
    return {
        "arithmetic": [_describe_arithmetic_error(done)],
        "start": list(done.start.notes) or [_UNCERTAIN],
        "physics": describe_missing_physics(motion, relativity=done.relativity),
    }


def _describe_arithmetic_error(done: Run) -> str:
    if not done.steps:
        return "Nothing was integrated."
    degrees = done.worst_error_degrees
    if not np.isfinite(degrees).any():
        return "The error is unknown."
    worst = int(np.nanargmax(degrees))
    return (
        f"The integration itself is accurate to {degrees[worst]:.1g} degrees of each orbit; worst is "
        f"{done.start.names[worst]} ({done.worst_error_au[worst]:.1g} AU). A second run with other steps "
        f"differs by no more. {START_NOT_INCLUDED}"
    )


def _make_drift_reply(drift: Drift | None) -> DriftFacts | None:
    return None if drift is None else {"max": drift.max, "final": drift.final}


def describe_missing_physics(motion: OrbitHistory, *, relativity: bool) -> list[str]:
    """Return sentences about the forces that a run leaves out."""
    sentences = ["Bodies are points with constant masses that attract each other by Newton's law."]
    turned = estimate_largest_periapsis_shift(motion)
    if relativity:
        sentences.append("General relativity counts in the field of the heaviest body, to first order.")
    elif turned is not None and turned[1] >= _NOTICEABLE:
        name, degrees = turned
        sentences.append(
            f"General relativity is left out: it would turn the periapsis of {name} by {degrees:.2g} degrees during "
            "this run (the option relativity adds it)."
        )
    else:
        sentences.append("General relativity is left out (the option relativity adds it).")
    sentences.append(
        "Tides, the flattening of bodies, gas, radiation and all bodies that are not in the run are left out."
    )
    return sentences


def estimate_largest_periapsis_shift(motion: OrbitHistory) -> tuple[str, float] | None:
    """Return the body whose periapsis relativity turns most during a run, and by how many degrees.

    To first order 6 pi G M / (c^2 a (1 - e^2)) for each revolution.
    """
    found: list[tuple[float, str]] = []
    for body, parent in enumerate(motion.parents):
        axis, eccentricity = float(motion.axes[0, body]), float(motion.eccentricities[0, body])
        if parent < 0 or not (axis > 0 and eccentricity < 1) or not motion.central_masses[body] > 0:
            continue
        mu = G * float(motion.central_masses[body])
        revolutions = motion.span / (math.tau * math.sqrt(axis**3 / mu))
        found.append((1080 * mu / (LIGHT_SPEED**2 * axis * (1 - eccentricity**2)) * revolutions, motion.names[body]))
    if not found:
        return None
    degrees, name = max(found)
    return name, degrees
