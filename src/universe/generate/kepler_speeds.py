"""Set the speeds of realistic systems by Kepler's third law."""

import math
from typing import Final

from universe.generate.orbits import get_orbit_scale
from universe.generate.system_draft import Body, System

_SPEED: Final = 3.0
"""Degrees per second of an orbit at distance 1 around mass 1."""
_REALISTIC: Final = "realistic"


def set_kepler_speeds(system: System) -> None:
    """Give stars, planets and moons of a realistic system the speeds of Kepler's third law."""
    if system.config.scale_mode != _REALISTIC:
        return
    for body in system.bodies.values():
        if body["parentId"] is not None:
            body["orbitalSpeed"] = _compute_kepler_speed(system, body["parentId"], body["orbitalDistance"], 0.0)


def choose_speed(system: System, distance: float, mass: float) -> float:
    """Return the speed of a new body that orbits the central body, in degrees per second."""
    if system.config.scale_mode == _REALISTIC:
        return _compute_kepler_speed(system, system.key, distance, mass)
    return get_orbit_scale(system.config).speed / math.sqrt(distance)


def _compute_kepler_speed(system: System, parent_id: str, distance: float, new_mass: float) -> float:
    """Return the speed for the mass of the parent and of all its satellites up to a distance.

    The square of the speed times the cube of the distance is proportional to that mass.
    """
    parent = system.bodies[parent_id]
    satellites: list[Body] = [system.bodies[key] for key in parent["children"]]
    inside = sum(body["mass"] for body in satellites if body["orbitalDistance"] <= distance)
    return _SPEED * math.sqrt((parent["mass"] + inside + new_mass) / distance**3)
