"""N-body runs: the motion of bodies from a start, its samples, events and errors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from universe.domain.nbody import limits
from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.integration.collisions_and_encounters import STOP, ClosestApproaches, Collision, Encounter
from universe.domain.nbody.integration.error_estimates import DivergenceTracker, Drift, DriftTracker, ErrorTracker
from universe.domain.nbody.integration.methods import COMPOSITIONS, GAUSS, Stepper, make_stepper
from universe.domain.nbody.integration.point_masses import Gravity
from universe.domain.nbody.integration.segments import Segment
from universe.domain.nbody.integration.trajectory_integration import Trajectory, TwinTrajectory
from universe.domain.nbody.limits import make_time_limit_error
from universe.domain.orbits.kepler_equation import Floats

_INTERVAL: Final = 0.1
"""Seconds between two reports; without a clock, a hundredth of the run."""
_DIVERGENCES: Final = 2_000


@dataclass(frozen=True, slots=True)
class RunSamples:
    """States at evenly spread times, in the order of the start's ids; not-a-number for a body that has merged away."""

    times: Floats
    """Shape (m,): days since the start."""
    positions: Floats
    """Shape (m, n, 3)."""
    velocities: Floats
    """Shape (m, n, 3)."""


class RunRecord:
    """Steps, samples, drifts and errors of a run."""

    def __init__(self, start: InitialConditions, days: float, samples: int) -> None:
        self.accuracy, self.drifts = ErrorTracker(start), DriftTracker()
        self.steps, self.shortest_step, self.day = 0, 0.0, 0.0
        self._times = np.linspace(0.0, days, samples) if samples > 1 else np.full(samples, days)
        self._positions, self._velocities = np.empty((2, samples, len(start.ids), 3))
        self._energy_changes = np.zeros(samples)
        self._taken = int(samples > 0 and self._times[0] == 0)
        self._positions[: self._taken], self._velocities[: self._taken] = start.positions, start.velocities

    def add_segment(self, segment: Segment, gravity: Gravity) -> None:
        length = abs(segment.length)
        self.shortest_step = min(self.shortest_step, length) if self.steps else length
        self.steps += 1
        self.day = segment.end
        self.drifts.record_segment(gravity, segment)
        left = self._times[self._taken :]
        due = int(np.searchsorted(np.abs(left), abs(segment.end), side="right"))
        if due:
            rows = slice(self._taken, self._taken + due)
            self._positions[rows], self._velocities[rows] = segment.compute_states(left[:due])
            self._energy_changes[rows] = self.drifts.energy.final
            self._taken += due

    def get_energy_changes(self) -> Floats:
        """Return the relative change of energy at the end of the step of each sample."""
        return self._energy_changes[: self._taken]

    def get_samples(self) -> RunSamples:
        """Return the samples taken so far."""
        taken = slice(self._taken)
        return RunSamples(self._times[taken], self._positions[taken], self._velocities[taken])


class ProgressReporter:
    """Reports of the progress of a run; a run that exceeds its time limit is ended."""

    def __init__(
        self,
        days: float,
        progress: Callable[[float], object] | None,
        clock: Callable[[], float] | None,
        seconds: float,
    ) -> None:
        self._days, self._progress, self._clock, self._seconds = days, progress, clock, seconds
        self._began = clock() if clock else 0.0
        self._next = 0.0

    def report_and_check_time_limit(self, day: float) -> None:
        """Report the day that the run has reached. Raise InvalidInput at the time limit."""
        done = day / self._days
        passed = self._clock() - self._began if self._clock else _INTERVAL * 100 * done
        if self._clock and passed > self._seconds and day != self._days:
            raise make_time_limit_error(self._seconds, day, self._days)
        if self._progress and (passed >= self._next or day == self._days):
            self._next = passed + _INTERVAL
            self._progress(done)


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of the distance of two trajectories that start 1e-8 of their orbits apart."""

    times: Floats
    """Shape (k,): days since the start."""
    log_distance: Floats
    """Shape (k,): the natural logarithm of the distance over the one at the beginning."""


@dataclass(frozen=True, slots=True)
class Run:
    """The result of an integration: its end, its events and its errors.

    Arrays have the order of the start's ids. A body that has merged into another has the mass 0 and not-a-number as
    its position.
    """

    start: InitialConditions
    days: float
    """The days covered; fewer than requested if a collision stopped the run."""
    masses: Floats
    positions: Floats
    """Shape (n, 3), at the end."""
    velocities: Floats
    radii: Floats
    method: str
    step: float
    """The mean length of the steps taken, in days."""
    shortest_step: float
    steps: int
    relativity: bool
    error_au: Floats
    """Shape (n,), at the end: the error of arithmetic of each position relative to the centre the body orbits."""
    error_degrees: Floats
    worst_error_au: Floats
    """Shape (n,): the largest error during the run, at the ends of its steps."""
    worst_error_degrees: Floats
    trustworthy: bool
    """Every body was known to 0.1 degree of its orbit during the whole run, and the twin met the same collisions."""
    samples: RunSamples
    energy_drift: Drift | None
    """None with relativity, where Newton's energy is not conserved."""
    angular_momentum_drift: Drift | None
    energy_changes: Floats | None
    """Shape (m,): the relative change of energy since the start at the samples, or None with relativity."""
    encounters: tuple[Encounter, ...]
    """The first 1000."""
    encounter_count: int
    closest: ClosestApproaches
    collisions: tuple[Collision, ...]
    divergence: Growth
    stopped_by: str | None
    """"collision", or None if the run covers the requested days."""


def run_nbody(
    start: InitialConditions,
    days: float,
    *,
    method: str = GAUSS,
    step: float | None = None,
    relativity: bool = False,
    on_collision: str = STOP,
    samples: int | None = None,
    observe: Callable[[Segment], object] | None = None,
    progress: Callable[[float], object] | None = None,
    clock: Callable[[], float] | None = None,
    seconds: float = limits.MAX_SECONDS,
) -> Run:
    """Integrate the motion of a start for `days` (below 0: backwards).

    `step` is for the methods with a fixed step. `relativity` adds the first post-Newtonian correction in the field of
    the heaviest body. `observe` is called with each segment of the motion, `progress` with the part done, about ten
    times a second. `clock` returns seconds; with it, a run of more than `seconds` ends with an error.

    The run is made twice: methods with a fixed step again with half of it; the others with a lower order and tolerance
    from a start moved by a rounding. The result is that of the first; the second gives the error.

    Raise InvalidInput for a start, a choice or an amount of work that is not accepted, and for bodies that come too
    close to each other to be followed.
    """
    limits.check_run_options(days, method, on_collision, relativity=relativity)
    limits.check_initial_conditions(start)
    step = limits.check_work_and_choose_step(start, days, method, step)
    count = limits.choose_sample_count(samples, start, days)
    relativistic_body = int(start.masses.argmax()) if relativity else None

    def make(gravity: Gravity, x: Floats, v: Floats) -> Stepper:
        return make_stepper(gravity, x, v, method=method, step=step)

    def make_twin(gravity: Gravity, x: Floats, v: Floats) -> Stepper:
        return make_stepper(gravity, x, v, method=method, step=step and step / 2, coarse=True)

    ours = Trajectory(start, make, on_collision=on_collision, relativistic_body=relativistic_body)
    divergence = DivergenceTracker(days, _DIVERGENCES)
    twin = TwinTrajectory(
        start,
        make_twin,
        days,
        on_collision=on_collision,
        relativistic_body=relativistic_body,
        divergence=divergence,
        is_shifted=method not in COMPOSITIONS,
    )
    record = RunRecord(start, days, count)
    reporter = ProgressReporter(days, progress, clock, seconds)
    with np.errstate(all="ignore"):
        for segment in ours.integrate(days):
            record.add_segment(segment, ours.gravity)
            if observe:
                observe(segment)
            record.accuracy.record_errors(
                segment.end,
                ours.relative_matrix,
                segment.last_positions,
                twin.advance_and_compute_positions(segment.end),
            )
            reporter.report_and_check_time_limit(segment.end)
    return Run(
        start=start,
        days=record.day,
        masses=ours.masses,
        positions=ours.positions.T.copy(),
        velocities=ours.velocities.T.copy(),
        radii=ours.radii,
        method=method,
        step=abs(record.day) / record.steps if record.steps else 0.0,
        shortest_step=record.shortest_step,
        steps=record.steps,
        relativity=relativity,
        error_au=record.accuracy.au,
        error_degrees=record.accuracy.degrees,
        worst_error_au=record.accuracy.worst_au,
        worst_error_degrees=record.accuracy.worst_degrees,
        trustworthy=record.accuracy.is_trusted and twin.has_same_collisions(ours.collisions, record.day),
        samples=record.get_samples(),
        energy_drift=None if relativity else record.drifts.energy,
        angular_momentum_drift=None if relativity else record.drifts.angular_momentum,
        energy_changes=None if relativity else record.get_energy_changes(),
        encounters=tuple(ours.encounters.listed),
        encounter_count=ours.encounters.count,
        closest=ours.encounters.get_closest_approaches(len(start.ids)),
        collisions=tuple(ours.collisions),
        divergence=Growth(*divergence.growth_over_time),
        stopped_by="collision" if ours.stopped_by else None,
    )
