"""Nebulae: glowing clouds far outside the systems, made once for the whole universe."""

import math
from collections.abc import Sequence
from typing import Final

from universe.generate.colors import NEBULAE, draw_color, draw_similar_color
from universe.generate.config import GenerationConfig
from universe.generate.names import make_nebula_name
from universe.generate.random_numbers import Prng
from universe.generate.system import Entity, Position, draw_position_at_distance

_RADIUS: Final = {"small": (40, 100), "medium": (80, 200), "large": (120, 250)}
_AWAY: Final = (800, 2000)


def make_nebulae(
    config: GenerationConfig, rng: Prng, tag: str, groups: Sequence[Entity], places: Sequence[Position]
) -> list[Entity]:
    """Return nebulae, each at some distance from one of `places`, the positions of systems."""
    if not config.enable_nebulae or config.nebula_density == 0:
        return []
    density = config.nebula_density**0.8
    count = rng.integer(max(1, math.floor(1 + 4 * density)), max(2, math.floor(3 + 9 * density)))
    return [
        _make_nebula(config, rng, f"{tag}-n{number + 1}", number, groups, rng.choice(places)) for number in range(count)
    ]


def _make_nebula(
    config: GenerationConfig, rng: Prng, key: str, number: int, groups: Sequence[Entity], place: Position
) -> Entity:
    radius = rng.uniform(*_RADIUS[config.nebula_size_bias])
    base, accent = _choose_nebula_colors(config, rng)
    nebula: Entity = {
        "id": key,
        "name": make_nebula_name(number),
        "position": draw_position_at_distance(rng, place, rng.uniform(*_AWAY)),
        "radius": radius,
        "dimensions": {"x": radius, "y": radius * rng.uniform(0.6, 1.4), "z": radius * rng.uniform(0.6, 1.4)},
        "density": min(1.0, 0.65 + 0.25 * config.nebula_density + rng.uniform(0, 0.2)),
        "brightness": min(1.0, 0.4 + 0.5 * config.nebula_brightness + rng.uniform(0, 0.1)),
        "baseColor": base,
        "accentColor": accent,
        "noiseScale": rng.uniform(0.8, 2.5),
        "noiseDetail": rng.integer(3, 5),
        "seed": rng.integer(0, 2**31 - 1),
        "visible": True,
    }
    if groups and rng.chance(0.5):
        nebula["associatedGroupIds"] = [rng.choice(groups)["id"]]
    return nebula


def _choose_nebula_colors(config: GenerationConfig, rng: Prng) -> tuple[str, str]:
    if config.nebula_color_style == "mixed":
        return rng.choice(NEBULAE)
    base = draw_color(rng)
    return base, draw_similar_color(rng, base, 48)
