"""A system under construction: its bodies, and the sizes that later steps need."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from universe.domain.entities import Entity
from universe.generate.config import GenerationConfig
from universe.generate.orbits import Orbit
from universe.generate.random_numbers import Prng

Body: TypeAlias = Entity
Position = dict[str, float]
"""Keys: x, y and z."""


@dataclass(slots=True)
class Planet:
    body: Body
    orbit: Orbit
    moons: list[Body] = field(default_factory=list[Body])
    ring_limit: float = 0.0
    """The greatest distance of a ring from the centre of the planet."""


@dataclass(slots=True)
class System:
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
