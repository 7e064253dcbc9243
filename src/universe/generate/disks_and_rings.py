"""Protoplanetary disks around stars, and rings around planets."""

from universe.generate.colors import DUST, draw_similar_color
from universe.generate.config import GenerationConfig
from universe.generate.orbits import get_orbit_scale
from universe.generate.random_numbers import Prng
from universe.generate.system_draft import Entity, Planet, System


def add_protoplanetary_disk(system: System) -> None:
    config = system.config
    if not config.enable_protoplanetary_disks or system.centre["bodyType"] != "star":
        return
    rng = system.rng.fork("protoplanetary-disks")
    if rng.chance(0.7 * config.protoplanetary_disk_presence):
        disk = _make_disk(system, rng)
        system.disks.append(disk)
        system.extend_extent([disk["outerRadius"]])


def _make_disk(system: System, rng: Prng) -> Entity:
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


def add_rings(system: System) -> None:
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
