"""What a field of research declares: its vocabulary and preferred sources."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Domain:
    """The vocabulary and preferred sources of one field of research."""

    name: str
    description: str
    synonyms: Mapping[str, tuple[str, ...]]
    """Terms with their other spellings."""
    priority_sources: tuple[str, ...]
    """Sources to search first, best first; the other sources follow in their order."""
    instructions: str
    """Instructions for a language model that reads or builds a query in this field."""
