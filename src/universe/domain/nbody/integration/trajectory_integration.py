"""Integrate a start through all collisions, and its twin, whose difference shows the error."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.integration.collisions_and_encounters import (
    IGNORE,
    MERGE,
    MOST_LISTED,
    STOP,
    Collision,
    Contact,
    ContactDetector,
    EncounterRecorder,
    compute_merger,
)
from universe.domain.nbody.integration.error_estimates import DivergenceTracker
from universe.domain.nbody.integration.methods import Stepper
from universe.domain.nbody.integration.point_masses import Gravity, compute_pairwise_distances
from universe.domain.nbody.integration.segments import PairMotion, Pairs, PartialSegment, Segment
from universe.domain.orbits.kepler_equation import Floats
from uraniborg.kernel.errors import InvalidInput

Maker = Callable[[Gravity, Floats, Floats], Stepper]
_MOVED: Final = 3e-16
"""The part of positions and velocities by which the twin's start is moved: about the rounding of one number. A larger
shift, 1e-15, made the twin of a regular run up to 24 times more wrong than the run itself."""


class Trajectory:
    """The motion of a start. Masses, radii, orbits and collisions are those at the current time.

    `positions` and `velocities` have the shape (3, n); those of a body that has merged into another are not-a-number.
    """

    def __init__(
        self,
        start: InitialConditions,
        make: Maker,
        *,
        on_collision: str,
        relativistic_body: int | None = None,
        divergence: DivergenceTracker | None = None,
        records_encounters: bool = True,
    ) -> None:
        self.masses, self.radii = start.masses, start.radii
        self.relative_matrix: Floats = start.relative_matrix
        self.positions, self.velocities = start.positions.T, start.velocities.T
        self.collisions: list[Collision] = []
        self.stopped_by: Collision | None = None
        self._ids, self._make, self._on_collision, self._relativistic_body = (
            start.ids,
            make,
            on_collision,
            relativistic_body,
        )
        self._divergence = divergence
        self._pairs = Pairs(len(start.ids))
        self._contacts = ContactDetector(start.radii, self._pairs)
        self.encounters = EncounterRecorder(start.ids, start.parents, self._pairs)
        self._records_encounters = records_encounters
        self.gravity = Gravity(self.masses, relativistic_body=relativistic_body)
        """The masses of all bodies; 0 for merged bodies."""
        self._day = 0.0

    @property
    def alive_mask(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return a mask of the bodies that have not merged into another."""
        return np.isfinite(self.positions[0])

    def integrate(self, days: float) -> Iterator[Segment]:
        """Move for `days` and yield each step; the state is that at the end of the step.

        Raise InvalidInput, with the bodies and the time, if two bodies come too close.
        """
        is_first = True
        motion = None
        while self._day != days and self.stopped_by is None:
            for segment, motion in self._integrate_until_merger(days):
                if self._records_encounters:
                    self.encounters.record_segment(
                        motion, self.masses, self._contacts.contact_distances, is_first=is_first
                    )
                is_first = False
                yield segment
        if self._records_encounters and motion:
            self.encounters.record_edge_distances(motion, self.masses, self._contacts.contact_distances, -1)

    def _integrate_until_merger(self, days: float) -> Iterator[tuple[Segment, PairMotion]]:
        alive = np.flatnonzero(self.alive_mask)
        bodies, count = tuple(alive.tolist()), self.masses.size
        relativistic_body = None if self._relativistic_body is None else bodies.index(self._relativistic_body)
        x, v = self.positions[None][:, :, alive], self.velocities[None][:, :, alive]
        if self._divergence:
            x, v = self._divergence.start_and_stack_shifted_copy(x, v, self.relative_matrix[np.ix_(alive, alive)])
        stepper = self._make(Gravity(self.masses[alive], relativistic_body=relativistic_body), x, v)
        for whole in self._integrate_or_raise_too_close(stepper, days, bodies):
            segment = whole if len(bodies) == count else PartialSegment.from_whole(whole, bodies, count)
            motion = PairMotion(segment, self._pairs)
            contacts = self._contacts.find_new_contacts(motion)
            if contacts and self._on_collision != IGNORE:
                segment = PartialSegment.from_whole(whole, bodies, count, contacts[0].day)
                motion = PairMotion(segment, self._pairs)
                contacts = contacts[:1]
            self._day, self.positions, self.velocities = segment.end, segment.last_positions, segment.last_velocities
            if contacts and self._on_collision == STOP:
                self.stopped_by = self._record_collision(contacts[0], motion, None)
                yield segment, motion
                return
            for contact in contacts if self._on_collision == IGNORE else ():
                self._record_collision(contact, motion, None)
            if self._divergence:
                self._divergence.record_distance_and_rescale(stepper, segment.end)
            yield segment, motion
            if contacts and self._on_collision == MERGE:
                self._merge_bodies(contacts[0], motion)
                return

    def _integrate_or_raise_too_close(
        self, stepper: Stepper, days: float, bodies: tuple[int, ...]
    ) -> Iterator[Segment]:
        try:
            yield from stepper.integrate(self._day, days)
        except ArithmeticError:
            raise self._make_too_close_error(stepper.positions[:1], bodies) from None

    def _make_too_close_error(self, positions: Floats, bodies: tuple[int, ...]) -> InvalidInput:
        masses = self.masses[list(bodies)]
        with np.errstate(divide="ignore"):
            time = compute_pairwise_distances(positions)[0] ** 3 / (masses[:, None] + masses)
        pair = np.unravel_index(int(time.argmin()), time.shape)
        one, other = sorted(self._ids[bodies[int(index)]] for index in pair)
        distance = float(compute_pairwise_distances(positions)[0][pair])
        return InvalidInput(
            f"'{one}' and '{other}' come too close to be followed at day {self._day:.10g}: {distance:.3g} AU.",
            hint="Point masses cannot be followed through each other: choose a shorter time, or give both bodies "
            "a radius (physical.radiusKm) so that they collide.",
            argument="days",
            allowed=f"less than {abs(self._day):.10g} days",
            bodies=[one, other],
            at=self._day,
        )

    def _record_collision(self, contact: Contact, motion: PairMotion, survivor: str | None) -> Collision:
        pair, day = contact.pair, contact.day
        bodies = self._ids[int(self._pairs.first[pair])], self._ids[int(self._pairs.second[pair])]
        found = Collision(bodies, day, motion.compute_distance(pair, day), motion.compute_speed(pair, day), survivor)
        if len(self.collisions) < MOST_LISTED:
            self.collisions.append(found)
        return found

    def _merge_bodies(self, contact: Contact, motion: PairMotion) -> None:
        if self._records_encounters:
            self.encounters.record_edge_distances(
                motion, self.masses, self._contacts.contact_distances, -1, pair=contact.pair
            )
        one, other = int(self._pairs.first[contact.pair]), int(self._pairs.second[contact.pair])
        merger = compute_merger(one, other, self.masses, self.radii, self.relative_matrix)
        self._record_collision(contact, motion, self._ids[merger.survivor])
        self.positions = merger.merge_vectors(self.masses, self.positions)
        self.velocities = merger.merge_vectors(self.masses, self.velocities)
        self.masses, self.radii, self.relative_matrix = merger.masses, merger.radii, merger.relative_matrix
        if self._relativistic_body == merger.gone:
            self._relativistic_body = merger.survivor
        self.gravity = Gravity(self.masses, relativistic_body=self._relativistic_body)
        self._contacts = ContactDetector(self.radii, self._pairs)


def shift_start_by_rounding(start: InitialConditions) -> tuple[Floats, Floats]:
    """Return the positions and velocities (3, n) from which the twin of a run begins; always the same."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (2, 3, len(start.ids)))
    return start.positions.T * (1 + _MOVED * signs[0]), start.velocities.T * (1 + _MOVED * signs[1])


class TwinTrajectory:
    """A second run that follows the first, to estimate its error."""

    def __init__(
        self,
        start: InitialConditions,
        make: Maker,
        days: float,
        *,
        on_collision: str,
        relativistic_body: int | None,
        divergence: DivergenceTracker,
        is_shifted: bool,
    ) -> None:
        # A collision that stops the first run does not stop the twin: their times of contact differ a little.
        policy = MERGE if on_collision == MERGE else IGNORE
        self._trajectory = Trajectory(
            start,
            make,
            on_collision=policy,
            relativistic_body=relativistic_body,
            divergence=divergence,
            records_encounters=False,
        )
        if is_shifted:
            self._trajectory.positions, self._trajectory.velocities = shift_start_by_rounding(start)
        self._segments = self._trajectory.integrate(days)
        self._segment: Segment | None = None

    def advance_and_compute_positions(self, day: float) -> Floats:
        """Return the positions (3, n) at a day; days must not decrease between calls."""
        while self._segment is None or abs(self._segment.end) < abs(day):
            self._segment = next(self._segments)
        if self._segment.end == day:
            return self._segment.last_positions
        return self._segment.compute_transposed_states(np.array([day]))[0][0]

    def has_same_collisions(self, collisions: Sequence[Collision], day: float) -> bool:
        """Return True if this run had exactly these collisions before a day."""
        ours = [one.bodies for one in collisions if abs(one.day) < abs(day)]
        twins = [one.bodies for one in self._trajectory.collisions if abs(one.day) < abs(day)]
        return ours == twins
