"""Stars, black holes, planets, moons and submoons of a system, placed without overlap."""

import math
from typing import Final

from universe.domain.entities import Entity
from universe.domain.generate import names_and_colors
from universe.domain.generate.generation_config import GenerationConfig
from universe.domain.generate.grammar import GrammarNode
from universe.domain.generate.names_and_colors import MOONS, PLANETS, compute_star_color, draw_similar_color
from universe.domain.generate.random_numbers import Prng
from universe.domain.generate.system_draft import (
    Body,
    DrawnOrbit,
    Planet,
    SystemDraft,
    compute_free_distances,
    compute_radius_from_mass,
    draw_distances,
    draw_mass,
    draw_orbits,
    get_orbit_scale,
    make_body,
)

_AT_REST: Final = {
    "orbitalDistance": 0.0,
    "orbitalSpeed": 0.0,
    "orbitalPhase": 0.0,
    "semiMajorAxis": 0.0,
    "orbitRotX": 0.0,
    "orbitRotY": 0.0,
    "orbitRotZ": 0.0,
}
_WIDEST: Final = 0.20
_WIDEST_WITH_MOONS: Final = 0.12
"""The largest part of the free distance that the radius of a body may take."""
_MOONS_REACH: Final = 0.40
"""The part of the free distance within which moons stay; a belt may be half-way to the neighbour."""


def add_stars_and_planets(system: SystemDraft, topology: GrammarNode) -> None:
    rng = system.rng.fork("stardata")
    companions = _add_stars(system, rng, len(topology.find_children("star")))
    scale = get_orbit_scale(system.config)
    widest = max(map(_compute_star_edge, companions), default=0.0)
    # Space for the central star, its companions and all bodies between them.
    start = max(scale.base, 3 * (system.edge + widest) if companions else 2 * system.edge)
    surface = system.edge
    if companions:
        surface = _place_companions(system, rng, companions, start) + widest
    nodes = topology.find_children("planet")
    at = draw_distances(rng, len(nodes), start * scale.growth ** len(companions), scale.growth)
    orbits = draw_orbits(rng, system.config, at, surface)
    for index, (node, orbit, room) in enumerate(
        zip(nodes, orbits, compute_free_distances(orbits, surface), strict=True)
    ):
        system.planets.append(_add_planet(system, rng, index, node, orbit, room))
    system.extend_extent([system.edge, surface, *(orbit.far for orbit in orbits)])


def _add_stars(system: SystemDraft, rng: Prng, count: int) -> list[Body]:
    """Add the heaviest star in the centre. Return the others, which do not have an orbit yet."""
    masses = sorted((draw_mass(rng, 100) for _ in range(count)), reverse=True)
    holes = system.rng.fork("black-holes")
    centre = system.add_body(
        _make_star(system, holes, system.key, system.name, masses[0], None, can_be_black_hole=True)
    )
    system.edge = _compute_star_edge(centre)
    centre.update(_AT_REST)
    several = system.config.black_hole_allow_multiple_per_system
    return [
        _make_star(
            system,
            holes,
            f"{system.key}-b{n + 1}",
            names_and_colors.make_companion_name(system.name, n),
            mass,
            system.key,
            can_be_black_hole=several,
        )
        for n, mass in enumerate(masses[1:])
    ]


def _make_star(
    system: SystemDraft, rng: Prng, key: str, name: str, mass: float, parent: str | None, *, can_be_black_hole: bool
) -> Body:
    if not (can_be_black_hole and draw_whether_black_hole(rng, system.config)):
        radius, color = compute_radius_from_mass(mass), compute_star_color(mass)
        return make_body(key, name, "star", mass=mass, radius=radius, color=color, parent=parent)
    mass = draw_black_hole_mass(rng, system.config)
    properties = draw_black_hole_properties(rng, system.config, mass)
    radius = properties["shadowRadius"]
    return make_body(
        key, name, "blackHole", mass=mass, radius=radius, color="#000000", parent=parent, blackHole=properties
    )


def _compute_star_edge(star: Body) -> float:
    return star["blackHole"]["accretionOuterRadius"] if "blackHole" in star else star["radius"]


def _place_companions(system: SystemDraft, rng: Prng, companions: list[Body], start: float) -> float:
    """Place all companions evenly on one orbit. Return the largest distance of that orbit."""
    (orbit,) = draw_orbits(rng, system.config, [start], system.edge)
    for index, star in enumerate(companions):
        phase = (orbit.elements["orbitalPhase"] + 360 * index / len(companions)) % 360
        system.add_body({**star, **orbit.elements, "orbitalPhase": phase})
    return orbit.far


def _add_planet(
    system: SystemDraft, rng: Prng, index: int, node: GrammarNode, orbit: DrawnOrbit, free_distance: float
) -> Planet:
    moons = node.find_children("moon")
    mass = draw_mass(rng, 10, system.centre["mass"])
    radius = min(compute_radius_from_mass(mass), (_WIDEST_WITH_MOONS if moons else _WIDEST) * free_distance)
    key, name = f"{system.key}-p{index + 1}", names_and_colors.make_planet_name(system.name, index)
    color = draw_similar_color(rng, rng.choice(PLANETS))
    body = make_body(key, name, "planet", mass=mass, radius=radius, color=color, parent=system.key, **orbit.elements)
    planet = Planet(system.add_body(body), orbit)
    planet.moons = _add_moons(system, rng, body, moons, free_distance)
    innermost, outermost = _compute_moon_distance_range(body, free_distance)
    planet.ring_limit = innermost if moons else outermost
    return planet


def _add_moons(
    system: SystemDraft, rng: Prng, host: Body, nodes: list[GrammarNode], free_distance: float
) -> list[Body]:
    """Add moons between the surface of the host and the distance `free_distance`."""
    if not nodes:
        return []
    of_moon = host["bodyType"] == "moon"
    inner, outer = _compute_moon_distance_range(host, free_distance)
    growth = min(get_orbit_scale(system.config).growth, (outer / inner) ** (1 / (len(nodes) + 1)))
    orbits = draw_orbits(rng, system.config, draw_distances(rng, len(nodes), inner * growth, growth), inner)
    moons: list[Body] = []
    for index, (node, orbit, own) in enumerate(zip(nodes, orbits, compute_free_distances(orbits, inner), strict=True)):
        below = node.find_children("submoon")
        mass = draw_mass(rng, 0.1 if of_moon else 1.0, host["mass"])
        radius = min(compute_radius_from_mass(mass), (_WIDEST_WITH_MOONS if below else _WIDEST) * own)
        name = (names_and_colors.make_submoon_name if of_moon else names_and_colors.make_moon_name)(host["name"], index)
        key = f"{host['id']}-{'n' if of_moon else 'm'}{index + 1}"
        color = rng.choice(MOONS)
        moon = make_body(key, name, "moon", mass=mass, radius=radius, color=color, parent=host["id"], **orbit.elements)
        moons.append(system.add_body(moon))
        _add_moons(system, rng, moon, below, own)
    return moons


def _compute_moon_distance_range(host: Body, free_distance: float) -> tuple[float, float]:
    outer = _MOONS_REACH * free_distance
    return max(1.4 * host["radius"], min(4 * host["radius"], outer / 2)), outer


_CHANCE: Final = {"ultraRare": 0.01, "rare": 0.05, "common": 0.30}
_MASSES: Final = ((5.0, 50.0), (50.0, 1e4), (1e6, 1e9))
_PROFILES: Final = {
    "stellarOnly": (1.0,),
    "mixed": (0.70, 0.25, 0.05),
    "supermassiveCentres": (0.10, 0.20, 0.70),
}
_GLOW: Final = {"subtle": 0.6, "normal": 0.8, "quasar": 1.0}
_IMAGES: Final = {"minimal": 1, "normal": 2, "cinematic": 3}


def draw_whether_black_hole(rng: Prng, config: GenerationConfig) -> bool:
    if not config.enable_black_holes:
        return False
    by_frequency = max(0.05, 0.5 * config.black_hole_frequency)
    return rng.chance(_CHANCE.get(config.black_hole_rarity_style, by_frequency))


def draw_black_hole_mass(rng: Prng, config: GenerationConfig) -> float:
    low, high = _MASSES[rng.draw_weighted_index(_PROFILES[config.black_hole_mass_profile])]
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def draw_black_hole_properties(rng: Prng, config: GenerationConfig, mass: float) -> Entity:
    shadow = (0.4 + 0.25 * math.log10(mass)) * rng.uniform(0.8, 1.2)
    spin = 0.998 * rng.draw_biased(config.black_hole_spin_level)
    glow = _GLOW[config.black_hole_accretion_style] * (0.5 + 0.5 * config.black_hole_accretion_intensity)
    has_disk = rng.chance(0.4 + 0.6 * config.black_hole_accretion_intensity)
    # Matter orbits closer to a black hole that spins faster.
    inner = shadow * (3.6 - 1.6 * spin)
    return {
        "hasAccretionDisk": has_disk,
        "hasRelativisticJet": has_disk and rng.chance(config.black_hole_jet_frequency),
        "hasPhotonRing": config.black_hole_visual_complexity != "minimal",
        "spin": spin,
        "shadowRadius": shadow,
        "accretionInnerRadius": inner,
        "accretionOuterRadius": inner * rng.uniform(2.3, 3.7),
        **_draw_accretion_disk(rng, config, glow, shadow),
        **_draw_jet(rng, config, shadow),
        "dopplerBeamingStrength": _clamp_to_unit(0.2 + 0.5 * spin + 0.3 * config.black_hole_fx_intensity),
        "lensingStrength": _clamp_to_unit(rng.uniform(0.4, 0.6) + 0.35 * config.black_hole_fx_intensity),
        "rotationSpeedMultiplier": 0.7 + 0.6 * spin,
        "seed": rng.integer(0, 999_999),
        "photonRingMultiImageCount": _IMAGES[config.black_hole_visual_complexity],
        "photonRingWidth": rng.uniform(0.3, 0.5),
    }


def _draw_accretion_disk(rng: Prng, config: GenerationConfig, glow: float, shadow: float) -> dict[str, float]:
    return {
        "diskThickness": shadow * (0.15 + 0.5 * config.black_hole_disk_thickness_level) * rng.uniform(0.9, 1.1),
        "diskBrightness": _clamp_to_unit(glow * rng.uniform(0.85, 1.05)),
        "diskOpacity": _clamp_to_unit(glow * rng.uniform(0.75, 1.0)),
        "diskTemperature": 5_000 + 45_000 * glow * rng.uniform(0.5, 1.0),
        "diskClumpiness": _clamp_to_unit(config.black_hole_disk_clumpiness_level * rng.uniform(0.6, 1.1)),
        "diskTurbulenceScale": rng.uniform(0.3, 0.7),
        "diskStreakiness": _clamp_to_unit(0.3 + 0.5 * config.black_hole_fx_intensity + rng.uniform(0, 0.2)),
        "diskTilt": rng.uniform(0, math.pi / 5),
        "diskTiltAxisAngle": rng.uniform(0, 2 * math.pi),
    }


def _draw_jet(rng: Prng, config: GenerationConfig, shadow: float) -> dict[str, float]:
    drama = config.black_hole_jet_drama_level
    return {
        "jetLength": shadow * (20 + 60 * drama) * rng.uniform(0.8, 1.2),
        "jetOpeningAngle": rng.uniform(2, 6),
        "jetBrightness": _clamp_to_unit(0.4 + 0.5 * drama + rng.uniform(0, 0.1)),
        "jetGradientPower": rng.uniform(1.5, 2.5),
    }


def _clamp_to_unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)
