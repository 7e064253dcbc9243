"""Generation of universes from a seed: random numbers, a grammar of systems, and their contents."""

from universe.generate.config import MOST_BODIES, STYLES, GenerationConfig, make_config, make_preset_config
from universe.generate.generator import generate, generate_from_config
from universe.generate.grammar import TOPOLOGIES

__all__ = [
    "MOST_BODIES",
    "STYLES",
    "TOPOLOGIES",
    "GenerationConfig",
    "generate",
    "generate_from_config",
    "make_config",
    "make_preset_config",
]
