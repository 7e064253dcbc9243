"""Name generated objects; planets and moons are named after their star."""

from typing import Final

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
