"""Where the systems are: at rest beside one another, like the seeds of a sunflower."""

import math
from collections.abc import Sequence
from typing import Final

from universe.generate.system import Position, System

_GOLDEN_ANGLE: Final = 180 * (3 - math.sqrt(5))
_APART: Final = 2.2
"""In the largest system's radius; with 2 the two largest could touch."""


def place_systems(systems: Sequence[System]) -> list[Position]:
    """Gives each centre its place, the first one in the middle, so that no system reaches into another."""
    spacing = _APART * max(system.extent for system in systems)
    places: list[Position] = []
    for number, system in enumerate(systems):
        away, phase = spacing * math.sqrt(number), _GOLDEN_ANGLE * number % 360
        # An orbit without speed is a place.
        system.centre.update(orbitalDistance=away, semiMajorAxis=away, orbitalPhase=phase)
        turn = math.radians(phase)
        places.append({"x": away * math.cos(turn), "y": 0.0, "z": away * math.sin(turn)})
    return places
