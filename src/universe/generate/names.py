"""Names that tell where a body belongs: a star's, and those that follow from it."""

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


def star_name(number: int, turn: int) -> str:
    """The name of system `number` from 0; `turn` says where the lists begin. None is given twice."""
    # 24 letters and 23 constellations have no common divisor: every pair comes once before the first comes again.
    at = number + turn
    again = number // (len(_LETTERS) * len(_CONSTELLATIONS))
    name = f"{_LETTERS[at % len(_LETTERS)]} {_CONSTELLATIONS[at % len(_CONSTELLATIONS)]}"
    return f"{name} {again + 1}" if again else name


def companion_name(star: str, number: int) -> str:
    return f"{star} {chr(ord('B') + number)}"


def planet_name(star: str, number: int) -> str:
    """b, c, … as astronomers letter them."""
    return f"{star} {_letters(number + 1)}"


def moon_name(planet: str, number: int) -> str:
    return f"{planet} {roman(number + 1)}"


def submoon_name(moon: str, number: int) -> str:
    return f"{moon}.{number + 1}"


def nebula_name(number: int) -> str:
    return _numbered(_NEBULAE, number, "{} Nebula")


def rogue_name(number: int) -> str:
    return _numbered(_ROGUES, number, "{}")


def group_name(number: int) -> str:
    return f"Cluster {_letters(number).upper()}"


def roman(number: int) -> str:
    text = ""
    for numeral, value in _ROMAN:
        text += numeral.upper() * (number // value)
        number %= value
    return text


def _letters(number: int) -> str:
    """a to z, then aa, ab, …"""
    text = ""
    while number >= 0:
        number, rest = divmod(number, 26)
        text = chr(ord("a") + rest) + text
        number -= 1
    return text


def _numbered(names: tuple[str, ...], number: int, form: str) -> str:
    again, at = divmod(number, len(names))
    name = form.format(names[at])
    return f"{name} {again + 1}" if again else name
