"""Rogue planets, which belong to no star: made once for the whole universe, drifting straight or on wide curves."""

from collections.abc import Sequence
from typing import Final

from universe.generate.colors import PLANETS, dim_color, draw_similar_color
from universe.generate.config import GenerationConfig
from universe.generate.names import make_rogue_name
from universe.generate.random_numbers import Prng
from universe.generate.system import (
    Body,
    Entity,
    Position,
    compute_radius,
    draw_direction,
    draw_mass,
    draw_position_at_distance,
    make_body,
)

_COUNTS: Final = ((0.4, (0, 1)), (0.7, (1, 2)), (0.9, (2, 3)))
_MANY: Final = (3, 5)
_SPEED: Final = {"slowDrifters": (0.005, 0.02), "mixed": (0.01, 0.08), "fastIntruders": (0.05, 0.15)}
_AWAY: Final = (100, 300)
_CURVED: Final = {"linearOnly": 0.0, "mixed": 0.5, "curved": 1.0}


def rogue_count_range(config: GenerationConfig) -> tuple[int, int]:
    """Return the least and greatest number of rogue planets in a universe."""
    frequency = config.rogue_planet_frequency
    if not config.enable_rogue_planets or frequency == 0:
        return 0, 0
    return next((counts for below, counts in _COUNTS if frequency < below), _MANY)


def make_rogues(config: GenerationConfig, rng: Prng, tag: str, places: Sequence[Position]) -> list[Body]:
    count = rng.integer(*rogue_count_range(config))
    return [
        _make_rogue(config, rng, f"{tag}-r{number + 1}", make_rogue_name(number), rng.choice(places))
        for number in range(count)
    ]


def _make_rogue(config: GenerationConfig, rng: Prng, key: str, name: str, place: Position) -> Body:
    mass = draw_mass(rng, 10)
    color = dim_color(draw_similar_color(rng, rng.choice(PLANETS)), 0.4 + 0.6 * config.rogue_planet_visibility)
    speed = rng.uniform(*_SPEED[config.rogue_planet_orbit_style])
    return make_body(
        key,
        name,
        "planet",
        mass=mass,
        radius=compute_radius(mass),
        color=color,
        parent=None,
        isRoguePlanet=True,
        roguePlanet={
            "seed": rng.integer(0, 2**31 - 1),
            "initialPosition": draw_position_at_distance(rng, place, rng.uniform(*_AWAY)),
            "velocity": {axis: speed * part for axis, part in draw_direction(rng).items()},
            "colorOverride": color,
            **_draw_curved_path(config, rng),
            "showTrajectory": config.rogue_trajectory_show,
            "trajectoryPastWindow": 100 * config.rogue_trajectory_preview_length,
            "trajectoryFutureWindow": 100 * config.rogue_trajectory_preview_length,
        },
        orbitalDistance=0.0,
        orbitalSpeed=0.0,
        orbitalPhase=0.0,
    )


def _draw_curved_path(config: GenerationConfig, rng: Prng) -> Entity:
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
