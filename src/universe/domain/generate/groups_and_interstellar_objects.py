"""Groups of systems, the positions of systems, and what is between them: nebulae and rogue planets."""

import math
from collections.abc import Sequence
from typing import Final

from universe.domain.generate.generation_config import GenerationConfig
from universe.domain.generate.names_and_colors import (
    GROUPS,
    NEBULAE,
    PLANETS,
    draw_bright_color,
    draw_similar_color,
    make_group_name,
    make_nebula_name,
    make_rogue_planet_name,
    scale_brightness,
)
from universe.domain.generate.random_numbers import Prng
from universe.domain.generate.system_draft import (
    Body,
    Entity,
    Position,
    SystemDraft,
    compute_radius_from_mass,
    draw_direction,
    draw_mass,
    draw_position_at_distance,
    make_body,
)

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


def place_systems(systems: Sequence[SystemDraft]) -> list[Position]:
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


_RADIUS: Final = {"small": (40, 100), "medium": (80, 200), "large": (120, 250)}
_NEBULA_DISTANCES: Final = (800, 2000)
_COUNTS: Final = ((0.4, (0, 1)), (0.7, (1, 2)), (0.9, (2, 3)))
_MANY: Final = (3, 5)
_SPEED: Final = {"slowDrifters": (0.005, 0.02), "mixed": (0.01, 0.08), "fastIntruders": (0.05, 0.15)}
_ROGUE_DISTANCES: Final = (100, 300)
_CURVED: Final = {"linearOnly": 0.0, "mixed": 0.5, "curved": 1.0}


def make_nebulae(
    config: GenerationConfig, rng: Prng, tag: str, groups: Sequence[Entity], centres: Sequence[Position]
) -> list[Entity]:
    """Return nebulae, each at some distance from one of `centres`, the positions of systems."""
    if not config.enable_nebulae or config.nebula_density == 0:
        return []
    density = config.nebula_density**0.8
    count = rng.integer(max(1, math.floor(1 + 4 * density)), max(2, math.floor(3 + 9 * density)))
    return [
        _make_nebula(config, rng, f"{tag}-n{number + 1}", number, groups, rng.choice(centres))
        for number in range(count)
    ]


def _make_nebula(
    config: GenerationConfig, rng: Prng, key: str, number: int, groups: Sequence[Entity], centre: Position
) -> Entity:
    radius = rng.uniform(*_RADIUS[config.nebula_size_bias])
    base, accent = _choose_nebula_colors(config, rng)
    nebula: Entity = {
        "id": key,
        "name": make_nebula_name(number),
        "position": draw_position_at_distance(rng, centre, rng.uniform(*_NEBULA_DISTANCES)),
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
    base = draw_bright_color(rng)
    return base, draw_similar_color(rng, base, 48)


def get_rogue_planet_count_range(config: GenerationConfig) -> tuple[int, int]:
    """Return the minimum and maximum number of rogue planets in a universe."""
    frequency = config.rogue_planet_frequency
    if not config.enable_rogue_planets or frequency == 0:
        return 0, 0
    return next((counts for below, counts in _COUNTS if frequency < below), _MANY)


def make_rogue_planets(config: GenerationConfig, rng: Prng, tag: str, centres: Sequence[Position]) -> list[Body]:
    count = rng.integer(*get_rogue_planet_count_range(config))
    return [
        _make_rogue_planet(config, rng, f"{tag}-r{number + 1}", make_rogue_planet_name(number), rng.choice(centres))
        for number in range(count)
    ]


def _make_rogue_planet(config: GenerationConfig, rng: Prng, key: str, name: str, centre: Position) -> Body:
    mass = draw_mass(rng, 10)
    color = scale_brightness(draw_similar_color(rng, rng.choice(PLANETS)), 0.4 + 0.6 * config.rogue_planet_visibility)
    speed = rng.uniform(*_SPEED[config.rogue_planet_orbit_style])
    return make_body(
        key,
        name,
        "planet",
        mass=mass,
        radius=compute_radius_from_mass(mass),
        color=color,
        parent=None,
        isRoguePlanet=True,
        roguePlanet={
            "seed": rng.integer(0, 2**31 - 1),
            "initialPosition": draw_position_at_distance(rng, centre, rng.uniform(*_ROGUE_DISTANCES)),
            "velocity": {axis: speed * part for axis, part in draw_direction(rng).items()},
            "colorOverride": color,
            **_draw_path_fields(config, rng),
            "showTrajectory": config.rogue_trajectory_show,
            "trajectoryPastWindow": 100 * config.rogue_trajectory_preview_length,
            "trajectoryFutureWindow": 100 * config.rogue_trajectory_preview_length,
        },
        orbitalDistance=0.0,
        orbitalSpeed=0.0,
        orbitalPhase=0.0,
    )


def _draw_path_fields(config: GenerationConfig, rng: Prng) -> Entity:
    """Return the fields of a curved path, or none for a straight line."""
    curvature = rng.uniform(config.rogue_curvature_min, config.rogue_curvature_max)
    if not rng.chance(_CURVED[config.rogue_trajectory_mode]) or curvature == 0:
        return {}
    return {
        "pathCurvature": curvature,
        "semiMajorAxis": rng.uniform(80, 200),
        "eccentricity": 0.1 + 0.5 * curvature,
        "orbitRotX": rng.uniform(0, 45),
        "orbitRotY": rng.uniform(0, 360),
        "orbitRotZ": rng.uniform(0, 45),
        "pathPeriod": rng.uniform(300, 800),
    }
