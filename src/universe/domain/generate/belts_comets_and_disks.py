"""Belts of small bodies, comets, protoplanetary disks around stars, and rings around planets."""

import math
from itertools import pairwise
from typing import Final

from universe.domain.generate.generation_config import GenerationConfig
from universe.domain.generate.names_and_colors import COMETS, DUST, TAILS, draw_similar_color
from universe.domain.generate.random_numbers import Prng
from universe.domain.generate.system_draft import (
    Body,
    Entity,
    Planet,
    SystemDraft,
    choose_speed,
    compute_radius_from_mass,
    draw_mass,
    get_orbit_scale,
    make_body,
)

_ROCKS: Final = {"low": 300, "medium": 600, "high": 900, "ultra": 1200}
_ICES: Final = {"low": 500, "medium": 1000, "high": 1500, "ultra": 2000}
_KUIPER: Final = {"tight": (1.5, 2.5), "classical": (2.0, 3.5), "wide": (2.5, 4.5)}
"""In units of the distance of the outermost planet."""
_OUTER: Final = (1.5, 2.25)
_THICKNESS: Final = {"mainBelt": 0.5, "heavyDebris": 1.0}


def add_belts(system: SystemDraft) -> None:
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


def _find_belt_gaps(system: SystemDraft) -> list[tuple[str, float, float]]:
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


def _make_belt(system: SystemDraft, rng: Prng, number: int, label: str, inner: float, outer: float) -> Entity:
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


def add_kuiper_belt(system: SystemDraft) -> None:
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


def _make_small_body_field(system: SystemDraft, rng: Prng, key: str, inner: float, outer: float) -> Entity:
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


def add_comets(system: SystemDraft) -> None:
    fewest, most = get_comet_count_range(system.config)
    if most == 0 or not system.planets:
        return
    rng = system.rng.fork("comets")
    for number in range(1, rng.integer(fewest, most) + 1):
        comet = system.add_body(_draw_comet(system, rng, number))
        system.extend_extent([comet["comet"]["aphelionDistance"]])


def _draw_comet(system: SystemDraft, rng: Prng, number: int) -> Body:
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


def add_protoplanetary_disk(system: SystemDraft) -> None:
    config = system.config
    if not config.enable_protoplanetary_disks or system.centre["bodyType"] != "star":
        return
    rng = system.rng.fork("protoplanetary-disks")
    if rng.chance(0.7 * config.protoplanetary_disk_presence):
        disk = _make_disk(system, rng)
        system.disks.append(disk)
        system.extend_extent([disk["outerRadius"]])


def _make_disk(system: SystemDraft, rng: Prng) -> Entity:
    config = system.config
    inner = 2 * system.edge
    filled = system.planets[-1].orbit.far if system.planets else get_orbit_scale(config).base
    base, highlight = rng.choice(DUST)
    density = config.protoplanetary_disk_density
    return {
        "id": f"{system.key}-d1",
        "systemId": system.key,
        "centralStarId": system.key,
        "innerRadius": inner,
        "outerRadius": max(filled * rng.uniform(1.1, 2.2), 1.5 * inner),
        "thickness": (0.2 + 0.5 * density) * rng.uniform(0.8, 1.2),
        "particleCount": round((100 + 500 * density) * rng.uniform(0.8, 1.2)),
        "baseColor": base,
        "highlightColor": highlight,
        "seed": rng.integer(0, 2**31 - 1),
        "style": _choose_disk_style(density + rng.uniform(-0.1, 0.1)),
        "name": f"{system.name} Protoplanetary Disk",
        **_draw_disk_appearance(rng, config),
    }


def _choose_disk_style(density: float) -> str:
    return "thin" if density < 0.25 else "moderate" if density < 0.55 else "thick" if density < 0.8 else "extreme"


def _draw_disk_appearance(rng: Prng, config: GenerationConfig) -> Entity:
    prominence, density = config.protoplanetary_disk_prominence, config.protoplanetary_disk_density
    return {
        "opacity": 0.25 + 0.4 * prominence + rng.uniform(0, 0.15),
        "brightness": 0.25 + 0.45 * prominence + rng.uniform(0, 0.15),
        "clumpiness": 0.2 + 0.5 * density + rng.uniform(0, 0.15),
        "rotationSpeedMultiplier": rng.uniform(0.1, 0.4),
        "bandStrength": 0.25 + 0.55 * prominence + rng.uniform(0, 0.15),
        "bandFrequency": rng.integer(3, 4 + round(4 * prominence)),
        "gapSharpness": 0.2 + 0.5 * prominence + rng.uniform(0, 0.2),
        "innerGlowStrength": 0.4 + 0.4 * prominence + rng.uniform(0, 0.15),
        "noiseScale": rng.uniform(0.6, 1.8),
        "noiseStrength": 0.2 + 0.4 * density + rng.uniform(0, 0.1),
        "spiralStrength": rng.uniform(0, 0.1) + 0.2 * prominence,
        "spiralArmCount": rng.integer(1, 3),
        "edgeSoftness": rng.uniform(0.2, 0.5),
        "temperatureGradient": rng.uniform(0.8, 2.0),
    }


def add_rings(system: SystemDraft) -> None:
    config = system.config
    if not config.enable_planetary_rings or config.ring_style_preset == "none" or config.ring_frequency == 0:
        return
    rng = system.rng.fork("rings")
    last = max(1, len(system.planets) - 1)
    for index, planet in enumerate(system.planets):
        heavy = 1 + min(1.0, max(0.0, (planet.body["mass"] - 20) / 80))
        outward = 1 + 0.5 * index / last
        if rng.chance((0.05 + 0.45 * config.ring_frequency) * heavy * outward):
            planet.body["ring"] = _make_ring(rng, config, planet)


def _make_ring(rng: Prng, config: GenerationConfig, planet: Planet) -> Entity:
    prominence = config.ring_prominence
    wide = 1.25 if config.ring_style_preset == "dramatic" else 1.0
    outer = min(rng.uniform(2.2, 3.2) * wide * (0.85 + 0.3 * prominence), planet.ring_limit / planet.body["radius"])
    return {
        "innerRadiusMultiplier": min(rng.uniform(1.3, 1.8), (1 + outer) / 2),
        "outerRadiusMultiplier": outer,
        "thickness": planet.body["radius"] * rng.uniform(0.05, 0.1) * (0.75 + 0.75 * prominence),
        "opacity": rng.uniform(0.3, 0.55) + 0.35 * prominence,
        "albedo": rng.uniform(0.4, 0.95),
        "color": draw_similar_color(rng, planet.body["color"]),
        "density": rng.uniform(0.3, 0.6) + 0.35 * prominence,
        "seed": rng.integer(0, 2**31 - 1),
    }
