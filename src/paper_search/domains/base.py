"""What a field of research teaches the search."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Domain:
    """The vocabulary and habits of one field, as plain data."""

    name: str
    description: str
    synonyms: Mapping[str, tuple[str, ...]]
    """A term and the other ways papers write it."""
    priority_sources: tuple[str, ...]
    """Sources to ask first, best first; the others keep their order behind these."""
    instructions: str
    """What a language model should know when it reads or builds a query in this field."""
