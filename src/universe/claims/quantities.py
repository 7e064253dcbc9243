"""Know how papers write the quantities of fields: labels in tables, and units."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from universe.orbits.units import convert_unit
from uraniborg.kernel.errors import InvalidInput

_END: Final = r"(?!\w)(?!\s*\}?\s*[/^])(?!\s*[A-Za-z]{1,3}\s*\^?\{?-\d)"
"""Excludes a continuation that makes another unit, as in g cm^-3 or M⊕/R⊕."""
_OF: Final = r"_?\{?\s*"
_EARTH, _SUN, _JUPITER = (
    r"(?:⊕|E(?:arth)?|earth)\s*\}?",
    r"(?:⊙|[Ss]un)\s*\}?",
    r"(?:♃|J(?:up(?:iter)?)?|jup)\s*\}?",
)


def _make_units() -> list[tuple[re.Pattern[str], str, float]]:
    written = [
        (rf"M{_OF}{_EARTH}|[Ee]arth[- ]?mass(?:es)?", "earth_mass", 1.0),
        (rf"M{_OF}{_SUN}|[Ss]olar[- ]mass(?:es)?", "solar_mass", 1.0),
        (rf"M{_OF}{_JUPITER}|(?:Jupiter|Jovian|jovian)[- ]mass(?:es)?", "jupiter_mass", 1.0),
        (r"kg|kilograms?", "kg", 1.0),
        (r"g|grams?", "kg", 1e-3),
        (rf"R{_OF}{_EARTH}|[Ee]arth[- ]radi(?:us|i)", "earth_radius", 1.0),
        (rf"R{_OF}{_SUN}|[Ss]olar[- ]radi(?:us|i)", "solar_radius", 1.0),
        (rf"R{_OF}{_JUPITER}|(?:Jupiter|Jovian|jovian)[- ]radi(?:us|i)", "jupiter_radius", 1.0),
        (r"AU|au|[Aa]stronomical units?", "au", 1.0),
        (r"km|kilomet(?:re|er)s?", "km", 1.0),
        (r"cm|centimet(?:re|er)s?", "m", 1e-2),
        (r"m|met(?:re|er)s?", "m", 1.0),
        (r"d|days?", "day", 1.0),
        (r"hours?|hrs?|h", "s", 3600.0),
        (r"min(?:utes?)?", "s", 60.0),
        (r"s|sec(?:onds?)?", "s", 1.0),
        (r"yrs?|years?", "year", 1.0),
        (r"°|deg(?:rees?)?\.?", "degree", 1.0),
        (r"rad(?:ians?)?", "degree", 180 / math.pi),
    ]
    return [(re.compile(rf"(?:{pattern}){_END}"), unit, factor) for pattern, unit, factor in written]


_UNITS: Final = _make_units()
_SHOWN: Final = {
    **{f"{body}_mass": f"{body.capitalize()} masses" for body in ("earth", "jupiter")},
    **{f"{body}_radius": f"{body.capitalize()} radii" for body in ("earth", "jupiter")},
    "solar_mass": "solar masses",
    "solar_radius": "solar radii",
    "day": "days",
    "year": "years",
    "au": "AU",
    "degree": "degrees",
}
_LONE: Final = {(name, factor): re.compile(rf"(?<![\w\\])(?:{one.pattern})") for one, name, factor in _UNITS}
_INTRODUCES_UNIT: Final = re.compile(r"[\[(,/\d}]\s*$|\bin\s*$")
_SCALE: Final = re.compile(
    r"(?:×\s*)?(?:10\s*\^\s*\{?\s*(?P<power>-?\d{1,2})\s*\}?|(?<![\w.])(?P<number>\d+(?:\.\d+)?))\s*$"
)
"""The factor of a unit in a label: 10^{-2} AU, 0.01 AU."""
_BRACKETS: Final = re.compile(r"\[[^\[\]]*\]|\([^()]*\)")
_OTHER: Final = re.compile(
    r"/|\bratio|\blog|\bsin\b|\bcos\b|\bminimum\b|\bdensit|\berr|\buncert|\bσ|±|\bfraction|\bchange|\brate\b|\bprior\b"
    r"|\blimit|\bdifference|\btotal\b|\bwater\b|\bcore\b|\biron\b",
    re.IGNORECASE,
)
"""Words that make it another quantity: a mass ratio, m sin i, an uncertainty."""
_INDEX: Final = re.compile(r"_\{?[\w⋆]+\}?|[⋆:]|_$|\{|\}|\s")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of `universe.orbits.units` (or `degree`), times `factor`."""

    name: str
    factor: float = 1.0

    def format_number(self, number: str) -> str:
        """Return a number with this unit, such as `0.692 ± 0.022 Earth masses`."""
        if self.factor != 1.0:
            number = f"({number}) × {self.factor:g}" if " " in number else f"{number} × {self.factor:g}"
        return f"{number} {_SHOWN.get(self.name, self.name)}".rstrip()


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity that a field of a body holds."""

    name: str
    unit: str
    """The unit of the field; empty for a plain number."""
    words: re.Pattern[str]
    symbols: frozenset[str] = frozenset()
    takes_any_unit: bool = False
    """True if the unit is unknown, so that only the number is compared."""

    def is_named_by_label(self, label: str) -> bool:
        """Return True if a table label names this quantity, and not a ratio or an uncertainty of it."""
        bare = _remove_units_and_brackets(label)
        if not bare:  # a label such as R⊕ names the quantity by its unit
            unit = find_only_unit_in_label(label)
            return unit is not None and unit.name.endswith(f"_{self.name}")
        if _OTHER.search(bare):
            return False
        return bool(self.words.search(bare)) or _INDEX.sub("", bare) in self.symbols

    def is_mentioned_in(self, text: str) -> bool:
        """Return True if a passage names this quantity, by a word or by a symbol before a relation."""
        if re.search(r"\bminimum mass|\bsin\s*i\b|\bmass ratio", text, re.IGNORECASE):
            return False
        symbols = "|".join(map(re.escape, sorted(self.symbols)))
        return bool(
            self.words.search(text)
            or (symbols and re.search(rf"(?<!\w)(?:{symbols})(?:_\{{?\w+\}}?|⋆|_⋆)?\s*[=~]", text))
        )

    def convert_to_unit(self, value: float, unit: Unit) -> float | None:
        """Return a value of the field in `unit`, or None if `unit` belongs to another quantity."""
        if self.unit == unit.name or self.takes_any_unit:
            return value / unit.factor
        if not self.unit:
            return None
        try:
            return convert_unit(value, self.unit, unit.name) / unit.factor
        except InvalidInput:
            return None

    def convert_from_unit(self, value: float, unit: Unit) -> float | None:
        """Return a stated value in the unit of the field, or None if `unit` belongs to another quantity."""
        one = self.convert_to_unit(1.0, unit)
        return None if one is None else value / one


def _make_quantity(name: str, unit: str, words: str, *symbols: str) -> Quantity:
    return Quantity(name, unit, re.compile(words, re.IGNORECASE), frozenset(symbols))


_AXIS: Final = _make_quantity("semi-major axis", "au", r"\bsemi-?\s?major ax[ie]s|\bdistance|\bseparation", "a")
_PERIOD: Final = _make_quantity("period", "day", r"\bperiods?\b", "P")
_E: Final = _make_quantity("eccentricity", "", r"\beccentricit(?:y|ies)\b", "e", "ecc")
_Q: Final = _make_quantity("distance of periapsis", "au", r"\bperi\w+ distances?\b", "q")
_FIELDS: Final[dict[str, Quantity]] = {
    "mass": _make_quantity("mass", "solar_mass", r"\bmass(?:es)?\b", "M", "m"),
    "physical.massKg": _make_quantity("mass", "kg", r"\bmass(?:es)?\b", "M", "m"),
    "radius": _make_quantity("radius", "au", r"\bradi(?:us|i)\b", "R", "r"),
    "physical.radiusKm": _make_quantity("radius", "km", r"\bradi(?:us|i)\b", "R", "r"),
    **dict.fromkeys(("kepler.semiMajorAxis", "semiMajorAxis", "orbitalDistance"), _AXIS),
    **dict.fromkeys(("kepler.period", "kepler.osculatingPeriod"), _PERIOD),
    **dict.fromkeys(("kepler.eccentricity", "eccentricity"), _E),
    **dict.fromkeys(("kepler.perihelionDistance", "kepler.q"), _Q),
    "kepler.inclination": _make_quantity("inclination", "degree", r"\binclinations?\b", "i", "I"),
    "kepler.longitudeOfAscendingNode": _make_quantity("ascending node", "degree", r"\bnode\b", "Ω"),
    "kepler.argumentOfPeriapsis": _make_quantity("argument of periapsis", "degree", r"\bargument of peri\w+", "ω"),
    "kepler.meanAnomaly": _make_quantity("mean anomaly", "degree", r"\bmean anomal(?:y|ies)\b", "M"),
}


def get_quantity_of_field(field: str) -> Quantity:
    """Return the quantity of a field. An unknown field is a plain number with its own name."""
    if known := _FIELDS.get(field):
        return known
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", field.rpartition(".")[2]) or [field]
    named = re.compile(r"\W*".join(map(re.escape, words)), re.IGNORECASE)
    return Quantity(" ".join(words).lower(), "", named, takes_any_unit=True)


def get_display_magnification(field: str, body: Mapping[str, Any] | None) -> float:
    """Return the magnification of `field` for display; only radii of shipped systems are magnified."""
    physical: Any = body.get("physical") if field == "radius" and body is not None else None
    scale: Any = cast("Mapping[str, Any]", physical).get("displayMagnification") if isinstance(physical, Mapping) else 1
    return float(scale) if isinstance(scale, int | float) and math.isfinite(scale) and scale > 0 else 1.0


def find_unit_after(text: str, end: int) -> Unit | None:
    """Return the unit right after a number of a plain text that ends at `end`."""
    at = len(text) - len(text[end:].lstrip(" })")) if end < len(text) else end
    for pattern, name, factor in _UNITS:
        if pattern.match(text, at):
            return Unit(name, factor)
    return None


def find_only_unit_in_label(label: str) -> Unit | None:
    """Return the only unit that a label such as `M [10^{27} g]` or `mass in Earth masses` names."""
    found = {unit for unit, _, _ in _find_units_with_spans(label)}
    return found.pop() if len(found) == 1 else None


def _find_units_with_spans(label: str) -> list[tuple[Unit, int, int]]:
    found: list[tuple[Unit, int, int]] = []
    for (name, factor), pattern in _LONE.items():
        for match in pattern.finditer(label):
            before = label[: match.start()]
            # A letter is a unit only in brackets, after a comma or after "in": "d" as a label is a planet, "m" a mass.
            if len(match[0]) == 1 and match[0] != "°" and not _INTRODUCES_UNIT.search(before):
                continue
            start, scale = match.start(), 1.0
            if scaled := _SCALE.search(before):
                start = scaled.start()
                scale = 10.0 ** int(scaled["power"]) if scaled["power"] else float(scaled["number"]) or 1.0
            found.append((Unit(name, factor * scale), start, match.end()))
    return found


def _remove_units_and_brackets(label: str) -> str:
    bare = _BRACKETS.sub(" ", label)
    for _, start, end in sorted(_find_units_with_spans(bare), key=lambda one: -one[1]):
        bare = bare[:start].rstrip().removesuffix("/").removesuffix(" in") + bare[end:]
    return bare.strip(" ,:;.")
