"""Random orbits: distances that grow outwards, and orbits that do not cross."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from universe.domain.entities import Entity
from universe.generate.config import GenerationConfig
from universe.generate.random_numbers import Prng

_ECCENTRICITY: Final = {"mixed": (0.0, 0.3), "eccentric": (0.1, 0.7)}
_JITTER: Final = 0.1
_OFFSET: Final = 2.0


@dataclass(frozen=True, slots=True)
class OrbitScale:
    base: float
    growth: float
    speed: float
    """Degrees per second at distance 1; decreases with the square root of the distance."""


_SCALES: Final = {
    "realistic": OrbitScale(8, 1.8, 20),
    "compressed": OrbitScale(5, 1.6, 18),
    "toy": OrbitScale(3, 1.5, 15),
}


def get_orbit_scale(config: GenerationConfig) -> OrbitScale:
    return _SCALES[config.scale_mode]


@dataclass(frozen=True, slots=True)
class Orbit:
    elements: Entity
    """By JSON name."""
    near: float
    far: float
    """The smallest and largest distance from the centre."""


def draw_distances(rng: Prng, count: int, start: float, growth: float) -> list[float]:
    """Return distances, each about `growth` times the one before."""
    regular = [start * growth**index for index in range(count)]
    step = 1 - 1 / growth
    return [at + rng.uniform(-1, 1) * min(_JITTER, 0.05 * at * step) for at in regular]


def draw_orbits(rng: Prng, config: GenerationConfig, distances: Sequence[float], surface: float) -> list[Orbit]:
    """Return orbits at increasing distances that cross neither each other nor the distance `surface`."""
    orbits: list[Orbit] = []
    below = surface
    for distance in distances:
        orbits.append(_draw_orbit(rng, config, distance, below))
        below = orbits[-1].far
    return orbits


def _draw_orbit(rng: Prng, config: GenerationConfig, distance: float, inner_limit: float) -> Orbit:
    step = distance - inner_limit
    elements: Entity = {
        "orbitalDistance": distance,
        "orbitalSpeed": get_orbit_scale(config).speed / math.sqrt(distance),
        "orbitalPhase": rng.uniform(0, 360),
        "semiMajorAxis": distance,
        **_draw_plane(rng, config.orbit_inclination_max),
    }
    near, shift = distance, 0.0
    if config.orbit_eccentricity_style != "circular":
        longest = math.sqrt(1 - ((inner_limit + 0.35 * step) / distance) ** 2)
        eccentricity = min(rng.uniform(*_ECCENTRICITY[config.orbit_eccentricity_style]), longest)
        elements["eccentricity"] = eccentricity
        near = distance * math.sqrt(1 - eccentricity**2)
    if config.orbit_offset_enabled:
        shift = min(_OFFSET, 0.05 * step)
        side = shift / math.sqrt(3)
        elements |= {f"orbitOffset{axis}": rng.uniform(-side, side) for axis in "XYZ"}
    return Orbit(elements, near - shift, distance + shift)


def _draw_plane(rng: Prng, tilt: float) -> dict[str, float]:
    """Return rotations of a tilted plane. Y is up: X and Z share the tilt, and the turn about Y sets its direction."""
    half = tilt / 2
    return {
        "orbitRotX": rng.uniform(-half, half),
        "orbitRotY": rng.uniform(0, 360),
        "orbitRotZ": rng.uniform(-half, half),
    }


def compute_free_distances(orbits: Sequence[Orbit], surface: float) -> list[float]:
    """Return the distance of each orbit to its neighbours, and of the innermost to the surface."""
    gaps = [
        orbit.near - below for orbit, below in zip(orbits, [surface, *(orbit.far for orbit in orbits)], strict=False)
    ]
    return [min(gaps[index : index + 2]) for index in range(len(orbits))]
