"""One integration of a start from its beginning to its end, through collisions."""

from collections.abc import Callable, Iterator

import numpy as np

from universe.nbody.collisions import IGNORE, MERGE, MOST_LISTED, STOP, Collision, Contact, Contacts, merge_bodies
from universe.nbody.divergence import Divergence
from universe.nbody.encounters import Encounters
from universe.nbody.gravity import Gravity, compute_distances
from universe.nbody.integration import Stepper
from universe.nbody.pairs import PairMotion, Pairs
from universe.nbody.segments import PartialSegment, Segment
from universe.nbody.starts import Start
from universe.orbits.anomaly import Floats
from uraniborg.kernel.errors import InvalidInput

Maker = Callable[[Gravity, Floats, Floats], Stepper]


class Pass:
    """A start that moves. Masses, radii, orbits and collisions are those of the time reached.

    `positions` and `velocities` have the shape (3, n); those of a body that has merged into another are not-a-number.
    """

    def __init__(
        self,
        start: Start,
        make: Maker,
        *,
        on_collision: str,
        central: int | None = None,
        divergence: Divergence | None = None,
        watches: bool = True,
    ) -> None:
        self.masses, self.radii = start.masses, start.radii
        self.relative: Floats = start.relative
        self.positions, self.velocities = start.positions.T, start.velocities.T
        self.collisions: list[Collision] = []
        self.stopped_by: Collision | None = None
        self._ids, self._make, self._on_collision, self._central = start.ids, make, on_collision, central
        self._divergence = divergence
        self._pairs = Pairs(len(start.ids))
        self._contacts = Contacts(start.radii, self._pairs)
        self.encounters = Encounters(start.ids, start.parents, self._pairs)
        self._watches = watches
        self.gravity = Gravity(self.masses, central=central)
        """Of all bodies; those that are gone have no mass."""
        self._day = 0.0

    @property
    def is_alive(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return which bodies have not merged into another."""
        return np.isfinite(self.positions[0])

    def segments(self, days: float) -> Iterator[Segment]:
        """Move for so many days and yield each step; the state of this pass is the one at the end of the step.

        Raise InvalidInput that names two bodies and the time where numbers cannot follow the motion.
        """
        is_first = True
        motion = None
        while self._day != days and self.stopped_by is None:
            for segment, motion in self._until_merger(days):
                if self._watches:
                    self.encounters.follow(motion, self.masses, self._contacts.reach, is_first=is_first)
                is_first = False
                yield segment
        if self._watches and motion:
            self.encounters.note_edge(motion, self.masses, self._contacts.reach, -1)

    def _until_merger(self, days: float) -> Iterator[tuple[Segment, PairMotion]]:
        alive = np.flatnonzero(self.is_alive)
        bodies, count = tuple(alive.tolist()), self.masses.size
        central = None if self._central is None else bodies.index(self._central)
        x, v = self.positions[None][:, :, alive], self.velocities[None][:, :, alive]
        if self._divergence:
            x, v = self._divergence.begin(x, v, self.relative[np.ix_(alive, alive)])
        stepper = self._make(Gravity(self.masses[alive], central=central), x, v)
        for whole in self._moves(stepper, days, bodies):
            segment = whole if len(bodies) == count else PartialSegment.of(whole, bodies, count)
            motion = PairMotion(segment, self._pairs)
            contacts = self._contacts.find(motion)
            if contacts and self._on_collision != IGNORE:
                segment = PartialSegment.of(whole, bodies, count, contacts[0].day)
                motion = PairMotion(segment, self._pairs)
                contacts = contacts[:1]
            self._day, self.positions, self.velocities = segment.end, segment.last_positions, segment.last_velocities
            if contacts and self._on_collision == STOP:
                self.stopped_by = self._collision(contacts[0], motion, None)
                yield segment, motion
                return
            for contact in contacts if self._on_collision == IGNORE else ():
                self._collision(contact, motion, None)
            if self._divergence:
                self._divergence.measure(stepper, segment.end)
            yield segment, motion
            if contacts and self._on_collision == MERGE:
                self._merge(contacts[0], motion)
                return

    def _moves(self, stepper: Stepper, days: float, bodies: tuple[int, ...]) -> Iterator[Segment]:
        try:
            yield from stepper.segments(self._day, days)
        except ArithmeticError:
            raise self._too_close(stepper.positions[:1], bodies) from None

    def _too_close(self, positions: Floats, bodies: tuple[int, ...]) -> InvalidInput:
        masses = self.masses[list(bodies)]
        with np.errstate(divide="ignore"):
            time = compute_distances(positions)[0] ** 3 / (masses[:, None] + masses)
        pair = np.unravel_index(int(time.argmin()), time.shape)
        one, other = sorted(self._ids[bodies[int(index)]] for index in pair)
        distance = float(compute_distances(positions)[0][pair])
        return InvalidInput(
            f"'{one}' and '{other}' come too close to be followed at day {self._day:.10g}: {distance:.3g} AU.",
            hint="Point masses cannot be followed through each other: choose a shorter time, or give both bodies "
            "a radius (physical.radiusKm) so that they collide.",
            argument="days",
            allowed=f"less than {abs(self._day):.10g} days",
            bodies=[one, other],
            at=self._day,
        )

    def _collision(self, contact: Contact, motion: PairMotion, survivor: str | None) -> Collision:
        pair, day = contact.pair, contact.day
        bodies = self._ids[int(self._pairs.first[pair])], self._ids[int(self._pairs.second[pair])]
        found = Collision(bodies, day, motion.distance(pair, day), motion.speed(pair, day), survivor)
        if len(self.collisions) < MOST_LISTED:
            self.collisions.append(found)
        return found

    def _merge(self, contact: Contact, motion: PairMotion) -> None:
        if self._watches:
            self.encounters.note_edge(motion, self.masses, self._contacts.reach, -1, pair=contact.pair)
        one, other = int(self._pairs.first[contact.pair]), int(self._pairs.second[contact.pair])
        merger = merge_bodies(one, other, self.masses, self.radii, self.relative)
        self._collision(contact, motion, self._ids[merger.survivor])
        self.positions = merger.joined(self.masses, self.positions)
        self.velocities = merger.joined(self.masses, self.velocities)
        self.masses, self.radii, self.relative = merger.masses, merger.radii, merger.relative
        if self._central == merger.gone:
            self._central = merger.survivor
        self.gravity = Gravity(self.masses, central=self._central)
        self._contacts = Contacts(self.radii, self._pairs)
