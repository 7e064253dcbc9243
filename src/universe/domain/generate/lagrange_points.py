"""Lagrange points, which move with the smaller body, and the Trojans at L4 and L5."""

import math
from typing import Final

from universe.domain.generate.generation_config import GenerationConfig
from universe.domain.generate.names_and_colors import ROCKS, draw_similar_color
from universe.domain.generate.random_numbers import Prng
from universe.domain.generate.system_draft import Body, SystemDraft, compute_radius_from_mass, draw_mass, make_body

_STABLE: Final = (4, 5)
_NEWTON_STEPS: Final = 8
_ALL: Final = (1, 2, 3, 4, 5)
_LENGTHS: Final = ("orbitalDistance", "semiMajorAxis", "orbitOffsetX", "orbitOffsetY", "orbitOffsetZ")
_SAME: Final = ("orbitalSpeed", "orbitRotX", "orbitRotY", "orbitRotZ")


def choose_lagrange_points(config: GenerationConfig) -> tuple[int, ...]:
    """Return the numbers of the Lagrange points to mark for each pair."""
    if not config.enable_lagrange_points or config.lagrange_marker_mode == "none":
        return ()
    return _ALL if config.lagrange_marker_mode == "all" else _STABLE


def get_trojan_count_range(config: GenerationConfig) -> tuple[int, int]:
    """Return the minimum and maximum number of Trojans at each stable point."""
    frequency = config.trojan_frequency
    return (math.floor(2 * frequency), math.floor(2 + 4 * frequency)) if frequency > 0.05 else (0, 0)


def add_lagrange_points_and_trojans(system: SystemDraft) -> None:
    points = choose_lagrange_points(system.config)
    if not points:
        return
    rng = system.rng.fork("lagrange")
    scope = system.config.lagrange_pair_scope
    for planet in system.planets:
        if scope != "planetMoon":
            _add_markers_and_trojans(system, rng, points, system.centre, planet.body, "starPlanet")
        if scope != "starPlanet":
            for moon in planet.moons:
                _add_markers_and_trojans(system, rng, points, planet.body, moon, "planetMoon")


def _add_markers_and_trojans(
    system: SystemDraft, rng: Prng, points: tuple[int, ...], primary: Body, secondary: Body, pair: str
) -> None:
    for point in points:
        is_realistic = system.config.scale_mode == "realistic"
        marker = system.add_body(_make_marker(primary, secondary, point, pair, is_realistic=is_realistic))
        if point in _STABLE:
            _add_trojans(system, rng, marker, secondary)


def _make_marker(primary: Body, secondary: Body, point: int, pair: str, *, is_realistic: bool) -> Body:
    stable = point in _STABLE
    name = f"{secondary['name']} L{point}"
    return make_body(
        f"{secondary['id']}-l{point}",
        name,
        "lagrangePoint",
        mass=0.001,
        radius=min(0.05, secondary["radius"] / 4),
        color="#58b368" if stable else "#f0883e",
        parent=primary["id"],
        lagrangePoint={
            "primaryId": primary["id"],
            "secondaryId": secondary["id"],
            "pointIndex": point,
            "stable": stable,
            "pairType": pair,
            "label": name,
        },
        **_make_shared_orbit(
            secondary,
            *_compute_distance_ratio_and_lead(primary["mass"], secondary["mass"], point, is_exact=is_realistic),
        ),
    )


def _compute_distance_ratio_and_lead(
    primary: float, secondary: float, point: int, *, is_exact: bool
) -> tuple[float, float]:
    """Return the distance of a point in units of the secondary's distance, and its lead in degrees.

    With `is_exact`, L3 is at its true distance from the primary; else at its distance from the barycentre.
    """
    share = secondary / (primary + secondary)
    hill = math.cbrt(share / 3)
    third = compute_third_point_distance(share) if is_exact else 1 + 5 * share / 12
    return {1: (1 - hill, 0), 2: (1 + hill, 0), 3: (third, 180), 4: (1, 60), 5: (1, -60)}[point]


def compute_third_point_distance(share: float) -> float:
    """Return the distance of L3 from the primary, in units of the secondary's; `share` is that of the total mass.

    There the attraction of both bodies balances the rotation about their barycentre. By Newton's method from the first
    two terms of its series, 1 - 7/12 of the share.
    """
    distance = 1 - 7 * share / 12
    for _ in range(_NEWTON_STEPS):
        force = distance + share - (1 - share) / distance**2 - share / (1 + distance) ** 2
        slope = 1 + 2 * (1 - share) / distance**3 + 2 * share / (1 + distance) ** 3
        distance -= force / slope
    return distance


def _make_shared_orbit(secondary: Body, scale: float, lead_degrees: float) -> Body:
    """Return the orbit of the secondary scaled by `scale`, with the same period and a lead of `lead_degrees`."""
    return {
        **{name: secondary[name] * scale for name in _LENGTHS if name in secondary},
        "orbitalPhase": (secondary["orbitalPhase"] + lead_degrees) % 360,
        "eccentricity": secondary.get("eccentricity", 0.0),
        **{name: secondary[name] for name in _SAME},
    }


def _add_trojans(system: SystemDraft, rng: Prng, marker: Body, secondary: Body) -> None:
    fewest, most = get_trojan_count_range(system.config)
    if most == 0:
        return
    count = fewest + min(
        most - fewest, math.floor((most - fewest + 1) * rng.draw_biased(system.config.trojan_richness))
    )
    spread = min(0.1, 0.01 * secondary["orbitalDistance"])
    for number in range(1, count + 1):
        mass = draw_mass(rng, 0.01, secondary["mass"])
        times = 1 + rng.uniform(-spread, spread) / secondary["orbitalDistance"]
        system.add_body(
            make_body(
                f"{marker['id']}-t{number}",
                f"{marker['name']} Trojan {number}",
                "asteroid",
                mass=mass,
                radius=min(compute_radius_from_mass(mass), secondary["radius"] / 4),
                color=draw_similar_color(rng, rng.choice(ROCKS)),
                parent=marker["parentId"],
                lagrangeHostId=marker["id"],
                **_make_shared_orbit(marker, times, rng.uniform(-5, 5)),
            )
        )
