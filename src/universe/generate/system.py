"""A system under construction: its bodies, and what the later steps want to know of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from universe.generate.config import GenerationConfig
from universe.generate.orbits import Orbit
from universe.generate.prng import Prng

Body = dict[str, Any]
Entity = dict[str, Any]
Position = dict[str, float]
"""By x, y and z."""


@dataclass(slots=True)
class Planet:
    body: Body
    orbit: Orbit
    moons: list[Body] = field(default_factory=list[Body])
    ring_limit: float = 0.0
    """How far from its centre a ring may reach."""


@dataclass(slots=True)
class System:
    config: GenerationConfig
    rng: Prng
    """Never advanced: every step forks it by a name of its own."""
    key: str
    """What the ids of everything in it begin with; the id of its centre."""
    name: str
    bodies: dict[str, Body] = field(default_factory=dict[str, Body])
    planets: list[Planet] = field(default_factory=list[Planet])
    """From the inside out."""
    edge: float = 0.0
    """How far from the centre its body, and what glows around it, reach."""
    extent: float = 0.0
    """How far from the centre the last thing is."""
    fields: list[Entity] = field(default_factory=list[Entity])
    disks: list[Entity] = field(default_factory=list[Entity])

    @property
    def centre(self) -> Body:
        return self.bodies[self.key]

    def add(self, body: Body) -> Body:
        self.bodies[body["id"]] = body
        if body["parentId"] is not None:
            self.bodies[body["parentId"]]["children"].append(body["id"])
        return body

    def reaches(self, distances: Sequence[float]) -> None:
        """The system is at least as large as these."""
        self.extent = max(self.extent, *distances)


def new_body(
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


def drawn_mass(rng: Prng, unit: float, host: float | None = None) -> float:
    """Log-normal around 4.5 units. What would outweigh half of its host falls short of that instead."""
    mass = unit * rng.log_normal(1.5, 0.8)
    if host is None or mass <= host / 2:
        return mass
    return (host / 2) ** 2 / mass


def natural_radius(mass: float) -> float:
    return 0.15 * mass**0.4
