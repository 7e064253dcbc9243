"""Find collisions, merge bodies, and record close encounters on the dense output of a run.

The radius of a body without a known one counts as 0, so a comet can fall into a star; two such bodies never touch.

Two bodies meet closely when their distance has a minimum below one mutual Hill radius,
((m1 + m2) / 3M)^(1/3) (r1 + r2) / 2, where M is the mass of the nearest body that both orbit, directly or not, and r1
and r2 are the distances from that body. A body and the bodies it orbits have no such radius: a moon within the Hill
sphere of its planet meets nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from universe.domain.nbody.integration.segments import Indices, PairMotion, Pairs
from universe.domain.orbits.kepler_equation import Floats

STOP: Final = "stop"
MERGE: Final = "merge"
IGNORE: Final = "ignore"
POLICIES: Final = (STOP, MERGE, IGNORE)
MOST_LISTED: Final = 1000


@dataclass(frozen=True, slots=True)
class Collision:
    """The instant at which the surfaces of two bodies touch."""

    bodies: tuple[str, str]
    day: float
    distance_au: float
    """The distance of the centres: the sum of the radii, or less for bodies that touch at the start."""
    speed: float
    """Relative speed, in AU per day."""
    survivor: str | None
    """The heavier body, which gets the mass and momentum of both; None without a merger."""


@dataclass(frozen=True, slots=True)
class Contact:
    """A pair whose surfaces touch, with the time."""

    pair: int
    day: float


def compute_contact_distances(radii: Floats, pairs: Pairs) -> Floats:
    """Return the distance at which the surfaces of each pair touch; not-a-number if both radii are unknown."""
    one, other = radii[pairs.first], radii[pairs.second]
    total = np.nan_to_num(one) + np.nan_to_num(other)
    return np.where(total > 0, total, np.nan)


class ContactDetector:
    """The detector of contacts, called for each segment."""

    def __init__(self, radii: Floats, pairs: Pairs) -> None:
        self.contact_distances = compute_contact_distances(radii, pairs)
        self._touching = np.zeros(pairs.count, dtype=bool)
        self._is_possible = bool(np.isfinite(self.contact_distances).any())

    def find_new_contacts(self, motion: PairMotion) -> list[Contact]:
        """Return the contacts that begin within a segment, in the order of the run."""
        if not (self._is_possible and motion.can_reach(self.contact_distances)):
            return []
        square = self.contact_distances * self.contact_distances
        inside = motion.squared_distances < square
        minima = motion.minima
        deep = minima.squares - minima.slack < square[minima.pairs]
        passing = {(int(k), int(p)) for k, p in zip(minima.intervals[deep], minima.pairs[deep], strict=True)}
        candidates = {*np.flatnonzero(inside.any(axis=0) & ~self._touching).tolist(), *(pair for _, pair in passing)}
        days = {pair: self._find_entry_time(motion, pair, inside[:, pair], passing) for pair in sorted(candidates)}
        self._touching = inside[-1]
        found = [Contact(pair, day) for pair, day in days.items() if day is not None]
        return sorted(found, key=lambda contact: abs(contact.day - motion.segment.begin))

    def _find_entry_time(
        self,
        motion: PairMotion,
        pair: int,
        inside: np.ndarray[tuple[int], np.dtype[np.bool_]],
        passing: set[tuple[int, int]],
    ) -> float | None:
        """Return the first time in a segment at which a pair begins to touch."""
        reach = float(self.contact_distances[pair])
        if inside[0] and not self._touching[pair]:
            return motion.segment.begin
        for interval, (first, last) in enumerate(
            zip(motion.times[:-1].tolist(), motion.times[1:].tolist(), strict=True)
        ):
            if inside[interval]:
                continue
            if inside[interval + 1]:
                return motion.find_entry_time(pair, first, last, reach)
            if (interval, pair) in passing:
                day, distance = motion.find_minimum(interval, pair)
                if distance < reach:
                    return motion.find_entry_time(pair, first, day, reach)
        return None


@dataclass(frozen=True)
class Merger:
    """Two bodies that become one: `survivor` and `gone` are their indices."""

    survivor: int
    gone: int
    masses: Floats
    radii: Floats
    relative_matrix: Floats

    def merge_vectors(self, old_masses: Floats, values: Floats) -> Floats:
        """Return positions or velocities (3, n) with the survivor at the barycentre of the two bodies."""
        pair = [self.survivor, self.gone]
        weights = old_masses[pair]
        weights = weights / weights.sum() if weights.any() else np.full(2, 0.5)
        found = values.copy()
        found[:, self.survivor] = values[:, pair] @ weights
        found[:, self.gone] = np.nan
        return found


def compute_merger(one: int, other: int, masses: Floats, radii: Floats, relative_matrix: Floats) -> Merger:
    """Return the merger of two bodies: masses and volumes are added; satellites of both orbit the survivor."""
    survivor, gone = (one, other) if masses[one] >= masses[other] else (other, one)
    masses, radii, relative_matrix = masses.copy(), radii.copy(), relative_matrix.copy()
    masses[survivor] += masses[gone]
    masses[gone] = 0.0
    if not math.isnan(radii[gone]):
        radii[survivor] = math.cbrt(float(np.nan_to_num(radii[survivor])) ** 3 + float(radii[gone]) ** 3)
    radii[gone] = np.nan
    relative_matrix[:, survivor] += relative_matrix[:, gone]
    relative_matrix[:, gone] = 0.0
    relative_matrix[gone] = 0.0
    return Merger(survivor, gone, masses, radii, relative_matrix)


_CLOSER: Final = (1 - 1e-3) ** 2
"""A minimum is refined if its square is below this part of the smallest square so far."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """A minimum of the distance of two bodies below one mutual Hill radius."""

    bodies: tuple[str, str]
    day: float
    distance_au: float
    hill_radii: float
    radii: float
    """The distance in units of the sum of the radii; not-a-number if both are unknown."""


@dataclass(frozen=True, slots=True)
class ClosestApproaches:
    """The closest approach of every pair, in symmetric arrays of shape (n, n); not-a-number where there is none."""

    distance_au: Floats
    days: Floats
    hill_radii: Floats


class EncounterRecorder:
    """The detector of minima of the distances of all pairs, called for each segment."""

    def __init__(self, ids: Sequence[str], parents: Sequence[int], pairs: Pairs) -> None:
        self.listed: list[Encounter] = []
        """The first 1000 encounters."""
        self.count = 0
        self._ids, self._pairs = ids, pairs
        self._common = _find_common_centres(parents, pairs)
        self._squares = np.full(pairs.count, np.inf)
        self._days = np.full(pairs.count, np.nan)
        self._hill_radii = np.full(pairs.count, np.nan)

    def record_segment(self, motion: PairMotion, masses: Floats, contact_distances: Floats, *, is_first: bool) -> None:
        """Record the minima within a segment, and the distances at the beginning of the first segment."""
        if is_first:
            self.record_edge_distances(motion, masses, contact_distances, 0)
        found = motion.minima
        if not found.pairs.size:
            return
        hill = self._compute_mutual_hill_radii(masses, motion.positions, found.intervals, found.pairs)
        is_close = found.squares - found.slack < hill * hill
        for at in np.flatnonzero(is_close | (found.squares < _CLOSER * self._squares[found.pairs])).tolist():
            pair = int(found.pairs[at])
            day, distance = motion.find_minimum(int(found.intervals[at]), pair)
            x, _ = motion.segment.compute_transposed_states(np.array([day]))
            radius = float(self._compute_mutual_hill_radii(masses, x, np.zeros(1, dtype=np.intp), np.array([pair]))[0])
            self._record_minimum(pair, day, distance, radius, float(contact_distances[pair]))

    def record_edge_distances(
        self, motion: PairMotion, masses: Floats, contact_distances: Floats, edge: int, *, pair: int | None = None
    ) -> None:
        """Record distances at the beginning (edge 0) or the end (edge -1) of a motion that are less than before.

        With `pair`, only the distance of this pair.
        """
        squares, receding = motion.squared_distances[edge], motion.recession_rates[edge]
        away = receding >= 0 if edge == 0 else receding < 0
        every = np.arange(self._pairs.count)
        hill = self._compute_mutual_hill_radii(masses, motion.positions, np.full_like(every, edge), every)
        is_recorded = away & ((squares < hill * hill) | (squares < self._squares))
        if pair is not None:
            is_recorded &= every == pair
        for one in np.flatnonzero(is_recorded).tolist():
            distance = float(np.sqrt(squares[one]))
            self._record_minimum(
                one, float(motion.times[edge]), distance, float(hill[one]), float(contact_distances[one])
            )

    def get_closest_approaches(self, count: int) -> ClosestApproaches:
        """Return the closest approach of every pair of `count` bodies."""
        arrays: list[Floats] = []
        for values in (np.sqrt(self._squares), self._days, self._hill_radii):
            square = np.full((count, count), np.nan)
            known = np.where(np.isfinite(values), values, np.nan)
            square[self._pairs.first, self._pairs.second] = square[self._pairs.second, self._pairs.first] = known
            arrays.append(square)
        return ClosestApproaches(*arrays)

    def _record_minimum(
        self, pair: int, day: float, distance: float, hill_radius: float, contact_distance: float
    ) -> None:
        in_hill_radii = distance / hill_radius if hill_radius > 0 else float("nan")
        if distance**2 < self._squares[pair]:
            self._squares[pair], self._days[pair], self._hill_radii[pair] = distance**2, day, in_hill_radii
        if not distance < hill_radius:
            return
        self.count += 1
        if len(self.listed) < MOST_LISTED:
            bodies = self._ids[int(self._pairs.first[pair])], self._ids[int(self._pairs.second[pair])]
            in_radii = distance / contact_distance if contact_distance > 0 else float("nan")
            self.listed.append(Encounter(bodies, day, distance, in_hill_radii, in_radii))

    def _compute_mutual_hill_radii(self, masses: Floats, positions: Floats, rows: Indices, pairs: Indices) -> Floats:
        """Return the mutual Hill radii of pairs at these rows of positions (k, 3, n); not-a-number if there is none."""
        first, second, centre = self._pairs.first[pairs], self._pairs.second[pairs], self._common[pairs]
        centre_positions = positions[rows, :, centre]
        distance = np.zeros(pairs.size)
        for body in (first, second):
            distance += np.linalg.norm(positions[rows, :, body] - centre_positions, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = (masses[first] + masses[second]) / (3 * masses[centre])
        return np.where(centre >= 0, np.cbrt(ratio) * distance / 2, np.nan)


def _find_common_centres(parents: Sequence[int], pairs: Pairs) -> Indices:
    """Return the nearest body that both of a pair orbit; -1 if there is none or one of them orbits the other."""
    above: list[list[int]] = []
    for body in range(len(parents)):
        chain = [body]
        while parents[chain[-1]] >= 0:
            chain.append(parents[chain[-1]])
        above.append(chain)
    common: list[int] = []
    for one, other in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        shared = set(above[one])
        centre = next((body for body in above[other] if body in shared), -1)
        common.append(-1 if centre in (one, other) else centre)
    return np.array(common, dtype=np.intp)
