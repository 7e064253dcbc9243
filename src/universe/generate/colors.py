"""Choose colours: by mass for stars, from small palettes for all other objects."""

from collections.abc import Iterable
from typing import Final

from universe.generate.random_numbers import Prng

PLANETS: Final = ("#b08d57", "#4f86c6", "#c1602f", "#d9b382", "#8fb7cf", "#7d8471")
MOONS: Final = ("#c9c9c9", "#a9a5a0", "#d8d2c4", "#9fb0bd")
COMETS: Final = ("#b9cfe0", "#d5d9dc", "#a9c0d6", "#dfe9f2")
TAILS: Final = ("#8fd0ea", "#f6e2b8", "#b4e1e4")
ROCKS: Final = ("#8a7662", "#77695c", "#9c8a73")
GROUPS: Final = ("#ef767a", "#49beaa", "#456990", "#eeb868", "#9d79bc", "#7dcfb6")
NEBULAE: Final = (("#e8639b", "#f9b4d3"), ("#4f9fe8", "#a6cff5"), ("#f08a4b", "#f7bf9b"), ("#8f6bc9", "#c9b3ea"))
DUST: Final = (("#d9a441", "#ffd36e"), ("#b98a3a", "#ffa94d"), ("#e0bb8c", "#ffdcb5"))

_STARS: Final = ((600, "#aabfff"), (200, "#cad7ff"), (100, "#f8f7ff"), (50, "#fff4ea"))


def compute_star_color(mass: float) -> str:
    return next((color for above, color in _STARS if mass > above), "#ffd2a1")


def draw_similar_color(rng: Prng, color: str, spread: int = 16) -> str:
    """Return a random colour near `color`."""
    return _format_channels(channel + rng.integer(-spread, spread) for channel in _parse_channels(color))


def scale_brightness(color: str, light: float) -> str:
    return _format_channels(round(channel * light) for channel in _parse_channels(color))


def draw_bright_color(rng: Prng) -> str:
    return _format_channels(rng.integer(64, 255) for _ in range(3))


def _parse_channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _format_channels(channels: Iterable[int]) -> str:
    return "#" + "".join(f"{min(max(channel, 0), 255):02x}" for channel in channels)
