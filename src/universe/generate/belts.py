"""Belts of small bodies: between the planets, beyond the last one, and the icy belt far outside."""

from itertools import pairwise
from typing import Final

from universe.generate.random_numbers import Prng
from universe.generate.system_draft import Entity, System

_ROCKS: Final = {"low": 300, "medium": 600, "high": 900, "ultra": 1200}
_ICES: Final = {"low": 500, "medium": 1000, "high": 1500, "ultra": 2000}
_KUIPER: Final = {"tight": (1.5, 2.5), "classical": (2.0, 3.5), "wide": (2.5, 4.5)}
"""In units of the distance of the outermost planet."""
_OUTER: Final = (1.5, 2.25)
_THICKNESS: Final = {"mainBelt": 0.5, "heavyDebris": 1.0}


def add_belts(system: System) -> None:
    """Add belts in random gaps, up to the allowed number. A higher density gives more belts with more bodies."""
    config = system.config
    if not config.enable_asteroid_belts or config.belt_style_preset == "none" or not system.planets:
        return
    rng = system.rng.fork("belts")
    gaps = _find_belt_gaps(system)
    chosen: list[tuple[str, float, float]] = []
    while gaps and len(chosen) < config.max_belts_per_system:
        gap_range = gaps.pop(rng.integer(0, len(gaps) - 1))
        if rng.chance(0.2 + 0.6 * config.belt_density):
            chosen.append(gap_range)
    for number, (label, inner, outer) in enumerate(sorted(chosen, key=lambda gap_range: gap_range[1]), start=1):
        system.fields.append(_make_belt(system, rng, number, label, inner, outer))
        system.extend_extent([outer])


def _find_belt_gaps(system: System) -> list[tuple[str, float, float]]:
    """Return each gap for a belt: its label, inner and outer distance."""
    config, gaps = system.config, list[tuple[str, float, float]]()
    orbits = [planet.orbit for planet in system.planets]
    if config.belt_placement_mode != "outerSystem":
        for orbit, after in pairwise(orbits):
            middle, gap = (orbit.far + after.near) / 2, after.near - orbit.far
            gaps.append(("Main Belt", middle - 0.1 * gap, middle + 0.1 * gap))
    if config.belt_placement_mode != "betweenPlanets":
        begin, end = _OUTER
        if config.enable_kuiper_belt:
            end = min(end, 0.95 * _KUIPER[config.kuiper_belt_distance_style][0])
            begin = min(begin, 0.8 * end)
        gaps.append(("Outer Belt", begin * orbits[-1].far, end * orbits[-1].far))
    return gaps


def _make_belt(system: System, rng: Prng, number: int, label: str, inner: float, outer: float) -> Entity:
    config = system.config
    debris = config.belt_style_preset == "heavyDebris"
    return {
        **_make_small_body_field(system, rng, f"{system.key}-f{number}", inner, outer),
        "thickness": _THICKNESS[config.belt_style_preset] * (0.6 + 0.8 * config.belt_density),
        "particleCount": round(_ROCKS[config.small_body_detail] * (1 + config.belt_density)),
        "baseColor": "#8a7662",
        "highlightColor": "#ab9276",
        "beltType": "main",
        "regionLabel": label,
        "isIcy": False,
        "style": "thick" if debris else ("thin" if config.belt_density < 0.25 else "moderate"),
        "name": f"{system.name} {label} {number}",
    }


def add_kuiper_belt(system: System) -> None:
    config = system.config
    if not config.enable_kuiper_belt or not system.planets:
        return
    rng = system.rng.fork("kuiper")
    begin, end = (times * system.planets[-1].orbit.far for times in _KUIPER[config.kuiper_belt_distance_style])
    spread = 0.5 + 2.5 * config.kuiper_belt_inclination
    system.fields.append(
        {
            **_make_small_body_field(system, rng, f"{system.key}-k1", begin, end),
            "thickness": spread,
            "particleCount": round(_ICES[config.small_body_detail] * (1 + config.kuiper_belt_density)),
            "baseColor": "#a7c1d6",
            "highlightColor": "#d3e2ee",
            "beltType": "kuiper",
            "regionLabel": "Kuiper Belt",
            "isIcy": True,
            "style": "scattered",
            "inclinationSigma": spread,
            "name": f"{system.name} Kuiper Belt",
        }
    )
    system.extend_extent([end])


def _make_small_body_field(system: System, rng: Prng, key: str, inner: float, outer: float) -> Entity:
    return {
        "id": key,
        "systemId": system.key,
        "hostStarId": system.key,
        "innerRadius": inner,
        "outerRadius": outer,
        "opacity": rng.uniform(0.7, 1.0),
        "brightness": rng.uniform(1.0, 1.8),
        "clumpiness": rng.uniform(0.2, 0.5),
        "rotationSpeedMultiplier": rng.uniform(0.3, 1.5),
        "seed": rng.integer(0, 2**31 - 1),
        "visible": True,
    }
