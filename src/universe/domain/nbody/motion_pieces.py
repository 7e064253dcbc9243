"""Provide the motion for measurements: by gravity with a twin for the error, or along fixed Kepler orbits."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from universe.domain.nbody import limits
from universe.domain.nbody.body_selection import build_chosen_hierarchy, read_astronomical_orbit
from universe.domain.nbody.initial_conditions import REFERENCE_AXES, InitialConditions
from universe.domain.nbody.integration.methods import GAUSS, make_stepper
from universe.domain.nbody.integration.point_masses import Gravity, compute_body_states, subtract_barycentre
from universe.domain.nbody.integration.trajectory_integration import shift_start_by_rounding
from universe.domain.orbits.jacobi_hierarchy import Bodies, JacobiHierarchy
from universe.domain.orbits.kepler import Elements
from universe.domain.orbits.kepler_blocks import AXIS, KeplerOrbit, make_elements
from universe.domain.orbits.kepler_equation import Floats, solve_kepler
from universe.domain.units_and_dates import compute_semi_major_axis
from uraniborg.kernel.errors import InvalidInput

Notify = Callable[[float], None]
"""A function that is called with the fraction of the work done."""

_PIECES_PER_PERIOD: Final = 4
_MOST_PIECES: Final = 1_000_000
_SLENDER: Final = 0.99


class MotionPiece(Protocol):
    """Positions and velocities between two times, in days since the start."""

    @property
    def begin(self) -> float: ...
    @property
    def end(self) -> float: ...
    def compute_states(self, times: ArrayLike) -> tuple[Floats, Floats]:
        """Return positions and velocities, each of shape (k, n, 3), in the reference frame."""
        ...


def check_positive_days(days: float) -> float:
    """Return the days of a measurement. Raise InvalidInput unless they are a finite number above 0."""
    if not (math.isfinite(days) and days > 0):
        raise InvalidInput(
            f"days must be a finite number above 0, got {days:g}.",
            hint="Give --days 365, for example. To look back, restore or make the universe at an earlier time.",
            argument="days",
            allowed="> 0",
        )
    return days


def integrate_main_motion(start: InitialConditions, days: float) -> Iterator[MotionPiece]:
    """Return the motion by gravity, step by step. Raise InvalidInput for too much work."""
    return _integrate_motion(start, days, (start.positions.T, start.velocities.T), is_twin=False)


def integrate_twin_motion(start: InitialConditions, days: float) -> Iterator[MotionPiece]:
    """Return the motion from a start shifted by rounding errors, with another order and tolerance."""
    return _integrate_motion(start, days, shift_start_by_rounding(start), is_twin=True)


def _integrate_motion(
    start: InitialConditions, days: float, states: tuple[Floats, Floats], *, is_twin: bool
) -> Iterator[MotionPiece]:
    limits.check_initial_conditions(start)
    limits.check_work_and_choose_step(start, days, GAUSS, None)
    x, v = (one[None] for one in states)
    stepper = make_stepper(Gravity(start.masses), x, v, method=GAUSS, step=None, coarse=is_twin)
    try:
        yield from stepper.integrate(0.0, days)
    except ArithmeticError:
        raise InvalidInput(
            "Two bodies come too close to be followed.",
            hint="`universe nbody ID` names them and the time. Choose a shorter time, or --kepler.",
            argument="days",
            allowed="a time before they meet",
        ) from None


def follow_kepler_orbits(
    universe_state: Mapping[str, Any], start: InitialConditions, days: float
) -> Iterator[MotionPiece]:
    """Return the motion of the same bodies along fixed Kepler orbits about the centres of the Jacobi rule.

    Raise InvalidInput for too many orbits.
    """
    stars, time = cast("Bodies", universe_state["stars"]), float(universe_state["time"])
    family = build_chosen_hierarchy(stars, start.ids)
    moving = [index for index, parent in enumerate(family.parents) if parent >= 0]
    orbits = [_read_orbit_with_derived_axis(stars, family, index) for index in moving]
    unit = np.eye(len(family.ids))
    weights = subtract_barycentre(start.masses, compute_body_states(family, unit)[: len(start.ids)])[:, moving]
    motion = make_elements(orbits)
    # The closer an orbit is to a parabola, the faster is its periapsis.
    lengths = (orbit.period * max(1 - orbit.eccentricity, 1e-3) ** 1.5 for orbit in orbits if orbit.eccentricity < 1)
    length = min(lengths, default=days) / _PIECES_PER_PERIOD
    is_elliptic = all(orbit.eccentricity < _SLENDER for orbit in orbits)
    if days / length > _MOST_PIECES:
        raise InvalidInput(
            f"{days:,.6g} days are too many for the quickest of these orbits.",
            hint=f"Choose at most {_MOST_PIECES * length:,.6g} days.",
            argument="days",
            allowed=f"at most {_MOST_PIECES * length:,.6g} days",
        )
    pieces = max(1, math.ceil(days / length))
    for piece in range(pieces):
        yield _KeplerPiece(days * piece / pieces, days * (piece + 1) / pieces, time, weights, motion, is_elliptic)


def _read_orbit_with_derived_axis(stars: Bodies, family: JacobiHierarchy, index: int) -> KeplerOrbit:
    """Return an orbit with the stated period, and a size that obeys Kepler's third law where it is derived."""
    mass = family.orbited_masses[index]
    orbit = read_astronomical_orbit(stars, family.ids[index], mass)
    if orbit.derived != AXIS or orbit.eccentricity >= 1:
        return orbit
    axis = compute_semi_major_axis(orbit.osculating_period or orbit.period, mass)
    return replace(orbit, semi_major_axis=axis, periapsis_distance=axis * (1 - orbit.eccentricity))


def yield_and_report_progress(
    motions: Iterable[MotionPiece], days: float, notify: Notify | None, first_and_share: tuple[float, float]
) -> Iterator[MotionPiece]:
    """Yield the motions unchanged, and report the fraction of the whole work."""
    first, share = first_and_share
    for motion in motions:
        yield motion
        if notify is not None:
            notify(first + share * motion.end / days)


@dataclass(frozen=True, slots=True)
class _KeplerPiece:
    begin: float
    end: float
    time: float
    weights: Floats
    """From the states of orbits to the states of bodies, shape (bodies, orbits)."""
    motion: Elements
    is_elliptic: bool
    """True if no orbit is open or nearly parabolic."""

    def compute_states(self, times: ArrayLike) -> tuple[Floats, Floats]:
        at = self.time + np.atleast_1d(np.asarray(times, dtype=np.float64))
        positions, speeds = (
            _compute_ellipse_states(self.motion, at) if self.is_elliptic else _compute_orbit_states(self.motion, at)
        )
        return self.weights @ positions[:, :, REFERENCE_AXES], self.weights @ speeds[:, :, REFERENCE_AXES]


def _compute_orbit_states(motion: Elements, at: Floats) -> tuple[Floats, Floats]:
    return np.stack([motion.compute_positions(float(t)) for t in at]), np.stack(
        [motion.compute_velocities(float(t)) for t in at]
    )


def _compute_ellipse_states(motion: Elements, at: Floats) -> tuple[Floats, Floats]:
    """Return the states of ellipses at many times at once."""
    turns = motion.turns_per_time * (at[:, None] - motion.epoch) + motion.turns_at_epoch
    anomaly = solve_kepler(2 * math.pi * (turns - np.rint(turns)), motion.eccentricity)
    sin, cos = np.sin(anomaly)[:, :, None], np.cos(anomaly)[:, :, None]
    e = motion.eccentricity[:, None]
    rate = 2 * math.pi * motion.turns_per_time[:, None] / (1 - e * cos)
    along, side = motion.to_periapsis.T, motion.to_side.T
    return along * (cos - e) + side * sin, rate * (side * cos - along * sin)
