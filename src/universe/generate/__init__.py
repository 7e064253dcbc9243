"""Universes from a seed: a random number generator, a grammar of systems, and what fills them."""

from universe.generate.config import MOST_BODIES, GenerationConfig, config_for, load_config
from universe.generate.generator import generate, generate_from
from universe.generate.grammar import TOPOLOGIES
from universe.generate.styles import STYLES

__all__ = [
    "MOST_BODIES",
    "STYLES",
    "TOPOLOGIES",
    "GenerationConfig",
    "config_for",
    "generate",
    "generate_from",
    "load_config",
]
