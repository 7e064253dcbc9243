"""Generation of universes from a seed: random numbers, a grammar of systems, and their contents."""

from universe.domain.generate.generation_config import (
    MOST_BODIES,
    STYLES,
    GenerationConfig,
    make_config,
    make_preset_config,
)
from universe.domain.generate.generator import generate, generate_from_config
from universe.domain.generate.grammar import TOPOLOGIES

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
