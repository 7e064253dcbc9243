"""Colours that can be relied on: whatever a body calls its colour, what comes out is `#rrggbb` and visible on dark."""

import re
from typing import Any, Final

BACKGROUND: Final = "#070a13"
GREY: Final = "#9aa7b8"
PALE: Final = "#dfe6f1"
DIM: Final = "#6f7c92"
RULER: Final = "#2c3852"

_HEX: Final = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_DARKEST: Final = 70


def body_colour(given: Any) -> str:
    """The colour of a body; grey where it gives none that can be read, and lighter where it would not be seen."""
    if not isinstance(given, str) or not _HEX.fullmatch(given):
        return GREY
    digits = given[1:].lower()
    colour = "#" + (digits if len(digits) == 6 else "".join(2 * digit for digit in digits))
    red, green, blue = _parts(colour)
    brightness = 0.299 * red + 0.587 * green + 0.114 * blue
    return colour if brightness >= _DARKEST else mixed(colour, "#ffffff", 0.35)


def mixed(one: str, other: str, share: float) -> str:
    """`one` with this share of `other` in it."""
    parts = zip(_parts(one), _parts(other), strict=True)
    return "#" + "".join(f"{round(mine + (theirs - mine) * share):02x}" for mine, theirs in parts)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
