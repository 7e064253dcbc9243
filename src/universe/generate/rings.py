"""Rings: more often around heavy and far planets, and always inside the innermost moon."""

from typing import Any

from universe.generate.colors import near
from universe.generate.config import GenerationConfig
from universe.generate.prng import Prng
from universe.generate.system import Planet, System


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
            planet.body["ring"] = _ring(rng, config, planet)


def _ring(rng: Prng, config: GenerationConfig, planet: Planet) -> dict[str, Any]:
    prominence = config.ring_prominence
    wide = 1.25 if config.ring_style_preset == "dramatic" else 1.0
    outer = min(rng.uniform(2.2, 3.2) * wide * (0.85 + 0.3 * prominence), planet.ring_limit / planet.body["radius"])
    return {
        "innerRadiusMultiplier": min(rng.uniform(1.3, 1.8), (1 + outer) / 2),
        "outerRadiusMultiplier": outer,
        "thickness": planet.body["radius"] * rng.uniform(0.05, 0.1) * (0.75 + 0.75 * prominence),
        "opacity": rng.uniform(0.3, 0.55) + 0.35 * prominence,
        "albedo": rng.uniform(0.4, 0.95),
        "color": near(rng, planet.body["color"]),
        "density": rng.uniform(0.3, 0.6) + 0.35 * prominence,
        "seed": rng.integer(0, 2**31 - 1),
    }
