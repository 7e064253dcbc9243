"""Protoplanetary disks: dust around young stars, banded and bright as far as it is asked for."""

from universe.generate.colors import DUST
from universe.generate.config import GenerationConfig
from universe.generate.orbits import scale_of
from universe.generate.prng import Prng
from universe.generate.system import Entity, System


def add_disk(system: System) -> None:
    config = system.config
    if not config.enable_protoplanetary_disks or system.centre["bodyType"] != "star":
        return
    rng = system.rng.fork("protoplanetary-disks")
    if rng.chance(0.7 * config.protoplanetary_disk_presence):
        disk = _disk(system, rng)
        system.disks.append(disk)
        system.reaches([disk["outerRadius"]])


def _disk(system: System, rng: Prng) -> Entity:
    config = system.config
    inner = 2 * system.edge
    filled = system.planets[-1].orbit.far if system.planets else scale_of(config).base
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
        "style": _style(density + rng.uniform(-0.1, 0.1)),
        "name": f"{system.name} Protoplanetary Disk",
        **_look(rng, config),
    }


def _style(density: float) -> str:
    return "thin" if density < 0.25 else "moderate" if density < 0.55 else "thick" if density < 0.8 else "extreme"


def _look(rng: Prng, config: GenerationConfig) -> Entity:
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
