"""Word the question of the story for the mass that a person chooses."""

from typing import Final

from uraniborg.comparison_answers import format_multiple

FIRST_FACTOR: Final = 2.0
"""How many times as heavy the planet of the question is, unless a person chooses another factor."""


def format_question(factor: float) -> str:
    """Return the question of the story for planet h with so many times its mass."""
    return f"Is TRAPPIST-1's chain stable if planet h is {format_multiple(factor)} as heavy?"
