"""Colours of bodies and charts: always `#rrggbb` and visible on a dark page."""

import re
from typing import Any, Final

BACKGROUND: Final = "#070a13"
GREY: Final = "#9aa7b8"
PALE: Final = "#dfe6f1"
DIM: Final = "#6f7c92"
RULER: Final = "#2c3852"

_RAMP: Final = ("#ff8f66", "#f5c26b", "#b9d977", "#5fd0a8", "#57b8f0", "#8f9cff", "#d58cf2")
"""From warm to cold, all bright."""

_HEX: Final = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_DARKEST: Final = 70


def choose_body_colour(given: Any) -> str:
    """Return the colour of a body: grey if it has no valid colour, lighter if it would be too dark."""
    if not isinstance(given, str) or not _HEX.fullmatch(given):
        return GREY
    digits = given[1:].lower()
    colour = "#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits))
    red, green, blue = _parse_colour(colour)
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return colour if brightness >= _DARKEST else mix_colours(colour, "#ffffff", 0.35)


def make_colour_ramp(count: int) -> list[str]:
    """Return this many colours from warm to cold that are easy to tell apart."""
    if count <= 1:
        return [_RAMP[4]][:count]
    found: list[str] = []
    for number in range(count):
        step, share = divmod(number * (len(_RAMP) - 1), count - 1)
        found.append(mix_colours(_RAMP[step], _RAMP[min(step + 1, len(_RAMP) - 1)], share / (count - 1)))
    return found


def mix_colours(one: str, other: str, share: float) -> str:
    """Return `one` mixed with this share of `other`."""
    parts = zip(_parse_colour(one), _parse_colour(other), strict=True)
    return "#" + "".join(f"{round(mine + (theirs - mine) * share):02x}" for mine, theirs in parts)


def _parse_colour(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
