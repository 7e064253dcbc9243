"""A system under construction: its bodies, their random orbits that do not cross, and speeds by Kepler's third law."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from universe.domain.entities import Entity
from universe.domain.generate.generation_config import GenerationConfig
from universe.domain.generate.random_numbers import Prng

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
class DrawnOrbit:
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


def draw_orbits(rng: Prng, config: GenerationConfig, distances: Sequence[float], surface: float) -> list[DrawnOrbit]:
    """Return orbits at increasing distances that cross neither each other nor the distance `surface`."""
    orbits: list[DrawnOrbit] = []
    below = surface
    for distance in distances:
        orbits.append(_draw_orbit(rng, config, distance, below))
        below = orbits[-1].far
    return orbits


def _draw_orbit(rng: Prng, config: GenerationConfig, distance: float, inner_limit: float) -> DrawnOrbit:
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
    return DrawnOrbit(elements, near - shift, distance + shift)


def _draw_plane(rng: Prng, tilt: float) -> dict[str, float]:
    """Return rotations of a tilted plane. Y is up: X and Z share the tilt, and the turn about Y sets its direction."""
    half = tilt / 2
    return {
        "orbitRotX": rng.uniform(-half, half),
        "orbitRotY": rng.uniform(0, 360),
        "orbitRotZ": rng.uniform(-half, half),
    }


def compute_free_distances(orbits: Sequence[DrawnOrbit], surface: float) -> list[float]:
    """Return the distance of each orbit to its neighbours, and of the innermost to the surface."""
    gaps = [
        orbit.near - below for orbit, below in zip(orbits, [surface, *(orbit.far for orbit in orbits)], strict=False)
    ]
    return [min(gaps[index : index + 2]) for index in range(len(orbits))]


Body: TypeAlias = Entity
Position = dict[str, float]
"""Keys: x, y and z."""


@dataclass(slots=True)
class Planet:
    body: Body
    orbit: DrawnOrbit
    moons: list[Body] = field(default_factory=list[Body])
    ring_limit: float = 0.0
    """The greatest distance of a ring from the centre of the planet."""


@dataclass(slots=True)
class SystemDraft:
    config: GenerationConfig
    rng: Prng
    """Never advanced: each step forks it with its own label."""
    key: str
    """The id of the central body, and the prefix of all other ids."""
    name: str
    bodies: dict[str, Body] = field(default_factory=dict[str, Body])
    planets: list[Planet] = field(default_factory=list[Planet])
    """Innermost first."""
    edge: float = 0.0
    """The radius of the central body with its glow."""
    extent: float = 0.0
    """The distance of the outermost object from the centre."""
    fields: list[Entity] = field(default_factory=list[Entity])
    disks: list[Entity] = field(default_factory=list[Entity])

    @property
    def centre(self) -> Body:
        return self.bodies[self.key]

    def add_body(self, body: Body) -> Body:
        self.bodies[body["id"]] = body
        if body["parentId"] is not None:
            self.bodies[body["parentId"]]["children"].append(body["id"])
        return body

    def extend_extent(self, distances: Sequence[float]) -> None:
        """Extend the system's size to these distances."""
        self.extent = max(self.extent, *distances)


def make_body(
    key: str, name: str, kind: str, *, mass: float, radius: float, color: str, parent: str | None, **more: Any
) -> Body:
    return {
        "id": key,
        "name": name,
        "mass": mass,
        "radius": radius,
        "color": color,
        "children": [],
        "parentId": parent,
        "bodyType": kind,
        **more,
    }


def draw_mass(rng: Prng, unit: float, host_mass: float | None = None) -> float:
    """Draw a log-normal mass around 4.5 units, limited to less than half of the host's mass."""
    mass = unit * rng.log_normal(1.5, 0.8)
    if host_mass is None or mass <= host_mass / 2:
        return mass
    return (host_mass / 2) ** 2 / mass


def compute_radius_from_mass(mass: float) -> float:
    return 0.15 * mass**0.4


def draw_direction(rng: Prng) -> Position:
    """Return a vector of length 1 in a random direction."""
    y, turn = rng.uniform(-1, 1), rng.uniform(0, 2 * math.pi)
    level = math.sqrt(1 - y * y)
    return {"x": level * math.cos(turn), "y": y, "z": level * math.sin(turn)}


def draw_position_at_distance(rng: Prng, centre_position: Position, distance: float) -> Position:
    return {axis: centre_position[axis] + distance * part for axis, part in draw_direction(rng).items()}


_SPEED: Final = 3.0
"""Degrees per second of an orbit at distance 1 around mass 1."""
_REALISTIC: Final = "realistic"


def set_kepler_speeds(system: SystemDraft) -> None:
    """Give stars, planets and moons of a realistic system the speeds of Kepler's third law."""
    if system.config.scale_mode != _REALISTIC:
        return
    for body in system.bodies.values():
        if body["parentId"] is not None:
            body["orbitalSpeed"] = _compute_kepler_speed(system, body["parentId"], body["orbitalDistance"], 0.0)


def choose_speed(system: SystemDraft, distance: float, mass: float) -> float:
    """Return the speed of a new body that orbits the central body, in degrees per second."""
    if system.config.scale_mode == _REALISTIC:
        return _compute_kepler_speed(system, system.key, distance, mass)
    return get_orbit_scale(system.config).speed / math.sqrt(distance)


def _compute_kepler_speed(system: SystemDraft, parent_id: str, distance: float, new_mass: float) -> float:
    """Return the speed for the mass of the parent and of all its satellites up to a distance.

    The square of the speed times the cube of the distance is proportional to that mass.
    """
    parent = system.bodies[parent_id]
    satellites: list[Body] = [system.bodies[key] for key in parent["children"]]
    inside = sum(body["mass"] for body in satellites if body["orbitalDistance"] <= distance)
    return _SPEED * math.sqrt((parent["mass"] + inside + new_mass) / distance**3)
