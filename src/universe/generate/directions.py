"""Directions in space, none more likely than another."""

import math

from universe.generate.prng import Prng
from universe.generate.system import Position


def direction(rng: Prng) -> Position:
    """A vector of length 1."""
    y, turn = rng.uniform(-1, 1), rng.uniform(0, 2 * math.pi)
    level = math.sqrt(1 - y * y)
    return {"x": level * math.cos(turn), "y": y, "z": level * math.sin(turn)}


def away_from(rng: Prng, place: Position, distance: float) -> Position:
    return {axis: place[axis] + distance * part for axis, part in direction(rng).items()}
