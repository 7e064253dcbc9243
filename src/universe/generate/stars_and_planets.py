"""Stars, planets, moons and submoons of a system, placed without overlap."""

from typing import Final

from universe.generate import names
from universe.generate.black_holes import draw_black_hole_mass, draw_black_hole_properties, draw_whether_black_hole
from universe.generate.colors import MOONS, PLANETS, compute_star_color, draw_similar_color
from universe.generate.grammar import Node
from universe.generate.orbits import Orbit, compute_free_distances, draw_distances, draw_orbits, get_orbit_scale
from universe.generate.random_numbers import Prng
from universe.generate.system_draft import Body, Planet, System, compute_radius_from_mass, draw_mass, make_body

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


def add_stars_and_planets(system: System, topology: Node) -> None:
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


def _add_stars(system: System, rng: Prng, count: int) -> list[Body]:
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
            names.make_companion_name(system.name, n),
            mass,
            system.key,
            can_be_black_hole=several,
        )
        for n, mass in enumerate(masses[1:])
    ]


def _make_star(
    system: System, rng: Prng, key: str, name: str, mass: float, parent: str | None, *, can_be_black_hole: bool
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


def _place_companions(system: System, rng: Prng, companions: list[Body], start: float) -> float:
    """Place all companions evenly on one orbit. Return the largest distance of that orbit."""
    (orbit,) = draw_orbits(rng, system.config, [start], system.edge)
    for index, star in enumerate(companions):
        phase = (orbit.elements["orbitalPhase"] + 360 * index / len(companions)) % 360
        system.add_body({**star, **orbit.elements, "orbitalPhase": phase})
    return orbit.far


def _add_planet(system: System, rng: Prng, index: int, node: Node, orbit: Orbit, free_distance: float) -> Planet:
    moons = node.find_children("moon")
    mass = draw_mass(rng, 10, system.centre["mass"])
    radius = min(compute_radius_from_mass(mass), (_WIDEST_WITH_MOONS if moons else _WIDEST) * free_distance)
    key, name = f"{system.key}-p{index + 1}", names.make_planet_name(system.name, index)
    color = draw_similar_color(rng, rng.choice(PLANETS))
    body = make_body(key, name, "planet", mass=mass, radius=radius, color=color, parent=system.key, **orbit.elements)
    planet = Planet(system.add_body(body), orbit)
    planet.moons = _add_moons(system, rng, body, moons, free_distance)
    innermost, outermost = _compute_moon_distance_range(body, free_distance)
    planet.ring_limit = innermost if moons else outermost
    return planet


def _add_moons(system: System, rng: Prng, host: Body, nodes: list[Node], free_distance: float) -> list[Body]:
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
        name = (names.make_submoon_name if of_moon else names.make_moon_name)(host["name"], index)
        key = f"{host['id']}-{'n' if of_moon else 'm'}{index + 1}"
        color = rng.choice(MOONS)
        moon = make_body(key, name, "moon", mass=mass, radius=radius, color=color, parent=host["id"], **orbit.elements)
        moons.append(system.add_body(moon))
        _add_moons(system, rng, moon, below, own)
    return moons


def _compute_moon_distance_range(host: Body, free_distance: float) -> tuple[float, float]:
    outer = _MOONS_REACH * free_distance
    return max(1.4 * host["radius"], min(4 * host["radius"], outer / 2)), outer
