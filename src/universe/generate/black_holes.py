"""Generate black holes: their probability, mass, spin, accretion disk and jets."""

import math
from typing import Final

from universe.domain.entities import Entity
from universe.generate.config import GenerationConfig
from universe.generate.random_numbers import Prng

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
