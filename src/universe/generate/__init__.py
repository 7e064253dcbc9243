"""Universes from a seed: a random number generator, a grammar of systems, and what fills them."""

from universe.generate.config import MOST_BODIES, STYLES, GenerationConfig, load_config, make_preset_config
from universe.generate.generator import generate, generate_from_config
from universe.generate.grammar import TOPOLOGIES

__all__ = [
    "MOST_BODIES",
    "STYLES",
    "TOPOLOGIES",
    "GenerationConfig",
    "generate",
    "generate_from_config",
    "load_config",
    "make_preset_config",
]
