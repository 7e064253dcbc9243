"""Comets on long Kepler orbits with the star in the focus."""

import math
from typing import Final

from universe.generate.colors import COMETS, TAILS
from universe.generate.config import GenerationConfig
from universe.generate.kepler_speeds import choose_speed
from universe.generate.random_numbers import Prng
from universe.generate.system_draft import Body, System, compute_radius_from_mass, draw_mass, make_body

_ECCENTRICITY: Final = {"rareLong": (0.7, 0.99), "mixed": (0.6, 0.95), "manyShort": (0.5, 0.9)}
_REACH: Final = {"rareLong": (2.0, 3.5), "mixed": (1.5, 3.0), "manyShort": (1.2, 2.5)}
"""Semi-major axes in units of the distance of the outermost planet."""
_SHORT: Final = {"rareLong": 0.1, "mixed": 0.4, "manyShort": 0.7}
_TILT: Final = 45.0


def get_comet_count_range(config: GenerationConfig) -> tuple[int, int]:
    """Return the minimum and maximum number of comets in a system with planets."""
    if not config.enable_comets or config.comet_frequency == 0:
        return 0, 0
    return math.floor(1 + config.comet_frequency), math.floor(2 + 4 * config.comet_frequency)


def add_comets(system: System) -> None:
    fewest, most = get_comet_count_range(system.config)
    if most == 0 or not system.planets:
        return
    rng = system.rng.fork("comets")
    for number in range(1, rng.integer(fewest, most) + 1):
        comet = system.add_body(_draw_comet(system, rng, number))
        system.extend_extent([comet["comet"]["aphelionDistance"]])


def _draw_comet(system: System, rng: Prng, number: int) -> Body:
    style = system.config.comet_orbit_style
    short = rng.chance(_SHORT[style])
    axis = system.planets[-1].orbit.far * rng.uniform(*_REACH[style]) * (0.5 if short else 1.0)
    axis = max(axis, 4 * system.edge)
    # The periapsis is outside the star.
    eccentricity = min(rng.uniform(*_ECCENTRICITY[style]), 1 - 1.2 * system.edge / axis)
    mass = draw_mass(rng, 0.005)
    return make_body(
        f"{system.key}-c{number}",
        f"Comet {system.name} {number}",
        "comet",
        mass=mass,
        radius=compute_radius_from_mass(mass),
        color=rng.choice(COMETS),
        parent=system.key,
        comet={
            "isPeriodic": short,
            "perihelionDistance": axis * (1 - eccentricity),
            "aphelionDistance": axis * (1 + eccentricity),
            **_draw_tail_fields(rng, system.config.comet_activity),
            "seed": rng.integer(0, 2**31 - 1),
        },
        **_draw_comet_orbit(rng, axis, eccentricity, choose_speed(system, axis, mass)),
    )


def _draw_tail_fields(rng: Prng, activity: float) -> Body:
    length = rng.uniform(2, 6) * (0.7 + activity)
    return {
        "hasTail": rng.chance(0.9 + 0.1 * activity),
        "tailLengthBase": length,
        "tailWidthBase": 0.15 * length,
        "tailColor": rng.choice(TAILS),
        "tailOpacityBase": rng.uniform(0.3, 0.6) * (0.75 + 0.5 * activity),
        "activityFalloffDistance": rng.uniform(6, 22) * (0.75 + 0.5 * activity),
    }


def _draw_comet_orbit(rng: Prng, axis: float, eccentricity: float, speed: float) -> Body:
    """Return the Kepler orbit, and the simple orbit in the same plane with the same period."""
    phase, tilt = rng.uniform(0, 360), rng.uniform(0, _TILT)
    node, periapsis = rng.uniform(0, 360), rng.uniform(0, 360)
    return {
        "orbitalDistance": axis,
        "orbitalSpeed": speed,
        "orbitalPhase": phase,
        "semiMajorAxis": axis,
        "eccentricity": eccentricity,
        "orbitRotX": 0.0,
        "orbitRotY": (270 - node) % 360,
        "orbitRotZ": tilt,
        "kepler": {
            "units": "scene",
            "semiMajorAxis": axis,
            "eccentricity": eccentricity,
            "inclination": tilt,
            "longitudeOfAscendingNode": node,
            "argumentOfPeriapsis": periapsis,
            "meanAnomaly": phase,
            "period": 360 / speed,
        },
    }
