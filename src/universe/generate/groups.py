"""Groups of systems, some of them nested, and the positions of systems."""

import math
from collections.abc import Sequence
from typing import Final

from universe.generate.colors import GROUPS
from universe.generate.config import GenerationConfig
from universe.generate.names import make_group_name
from universe.generate.random_numbers import Prng
from universe.generate.system_draft import Entity, Position, System

_NESTED: Final = {"flat": 0.0, "galaxyCluster": 0.2, "deepHierarchy": 0.5}
_SPREAD: Final = 50.0


def make_groups(config: GenerationConfig, rng: Prng, tag: str, systems: Sequence[str]) -> list[Entity]:
    """Return groups with at least one system each. Each system is in exactly one group."""
    if not config.enable_groups:
        return []
    count = min(rng.integer(*_get_group_count_range(config)), len(systems))
    groups = [_make_group(rng, tag, number) for number in range(count)]
    for number, key in enumerate(systems):
        home = groups[number] if number < count else rng.choice(groups)
        home["children"].append({"id": key, "type": "system"})
    for number, group in enumerate(groups):
        # The parent is an earlier group, so that there are no cycles.
        if number and rng.chance(_NESTED[config.group_structure_mode]):
            parent = rng.choice(groups[:number])
            parent["children"].append({"id": group["id"], "type": "group"})
            group["parentGroupId"] = parent["id"]
    return groups


def _get_group_count_range(config: GenerationConfig) -> tuple[int, int]:
    wanted = config.target_galaxy_count
    match config.group_structure_mode:
        case "flat":
            return wanted, wanted
        case "galaxyCluster":
            return min(max(2, math.floor(0.7 * wanted)), wanted), wanted
        case "deepHierarchy":
            return max(1, math.floor(0.5 * wanted)), math.ceil(1.5 * wanted)


def _make_group(rng: Prng, tag: str, number: int) -> Entity:
    return {
        "id": f"{tag}-g{number + 1}",
        "name": make_group_name(number),
        "children": [],
        "parentGroupId": None,
        "color": rng.choice(GROUPS),
        "position": {axis: rng.normal(0, _SPREAD) for axis in "xyz"},
    }


_GOLDEN_ANGLE: Final = 180 * (3 - math.sqrt(5))
_APART: Final = 2.2
"""In radii of the largest system; with 2 the two largest systems could touch."""


def place_systems(systems: Sequence[System]) -> list[Position]:
    """Set the position of each system's centre, the first in the middle, so that systems do not overlap."""
    spacing = _APART * max(system.extent for system in systems)
    positions: list[Position] = []
    for number, system in enumerate(systems):
        away, phase = spacing * math.sqrt(number), _GOLDEN_ANGLE * number % 360
        # An orbit without speed is a fixed position.
        system.centre.update(orbitalDistance=away, semiMajorAxis=away, orbitalPhase=phase)
        turn = math.radians(phase)
        positions.append({"x": away * math.cos(turn), "y": 0.0, "z": away * math.sin(turn)})
    return positions
