"""Collisions: the times at which surfaces touch, and mergers of two bodies.

The radius of a body without a known one counts as 0, so a comet can fall into a star; two such bodies never touch.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from universe.nbody.pair_motion import PairMotion, Pairs
from universe.orbits.kepler_equation import Floats

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
