"""Name generated objects and choose their colours."""

from collections.abc import Iterable
from typing import Final

from universe.domain.generate.random_numbers import Prng

_LETTERS: Final = (
    "Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta", "Iota", "Kappa", "Lambda", "Mu",
    "Nu", "Xi", "Omicron", "Pi", "Rho", "Sigma", "Tau", "Upsilon", "Phi", "Chi", "Psi", "Omega",
)  # fmt: skip
_CONSTELLATIONS: Final = (
    "Andromedae", "Aquarii", "Aquilae", "Aurigae", "Carinae", "Cassiopeiae", "Centauri", "Cephei", "Cygni",
    "Draconis", "Eridani", "Geminorum", "Herculis", "Hydrae", "Leonis", "Librae", "Lyrae", "Orionis", "Pegasi",
    "Persei", "Sagittarii", "Scorpii", "Tauri",
)  # fmt: skip
_NEBULAE: Final = (
    "Lantern",
    "Harp",
    "Anvil",
    "Lace",
    "Ember",
    "Heron",
    "Sail",
    "Thistle",
    "Loom",
    "Cairn",
    "Kiln",
    "Fern",
)
_ROGUES: Final = ("Nomad", "Wanderer", "Vagrant", "Drifter", "Exile")
_ROMAN: Final = (("x", 10), ("ix", 9), ("v", 5), ("iv", 4), ("i", 1))


def make_system_name(number: int, rotation: int) -> str:
    """Return the name of system `number`, counted from 0. `rotation` rotates the lists. Each name is unique."""
    # 24 and 23 have no common divisor, so every pair occurs once before the first is repeated.
    at = number + rotation
    again = number // (len(_LETTERS) * len(_CONSTELLATIONS))
    name = f"{_LETTERS[at % len(_LETTERS)]} {_CONSTELLATIONS[at % len(_CONSTELLATIONS)]}"
    return f"{name} {again + 1}" if again else name


def make_companion_name(star: str, number: int) -> str:
    return f"{star} {chr(ord('B') + number)}"


def make_planet_name(star: str, number: int) -> str:
    """Return the star's name with b, c, … as astronomers name planets."""
    return f"{star} {_format_letters(number + 1)}"


def make_moon_name(planet: str, number: int) -> str:
    return f"{planet} {format_roman_numeral(number + 1)}"


def make_submoon_name(moon: str, number: int) -> str:
    return f"{moon}.{number + 1}"


def make_nebula_name(number: int) -> str:
    return _pick_name_and_number_repeats(_NEBULAE, number, "{} Nebula")


def make_rogue_planet_name(number: int) -> str:
    return _pick_name_and_number_repeats(_ROGUES, number, "{}")


def make_group_name(number: int) -> str:
    return f"Cluster {_format_letters(number).upper()}"


def format_roman_numeral(number: int) -> str:
    text = ""
    for numeral, value in _ROMAN:
        text += numeral.upper() * (number // value)
        number %= value
    return text


def _format_letters(number: int) -> str:
    """Return a to z, then aa, ab and so on."""
    text = ""
    while number >= 0:
        number, rest = divmod(number, 26)
        text = chr(ord("a") + rest) + text
        number -= 1
    return text


def _pick_name_and_number_repeats(names: tuple[str, ...], number: int, form: str) -> str:
    again, at = divmod(number, len(names))
    name = form.format(names[at])
    return f"{name} {again + 1}" if again else name


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
