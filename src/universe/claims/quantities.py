"""Know how papers write numbers and quantities: uncertainties, powers of ten, units, and labels in tables."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from universe.domain.units_and_dates import convert_unit
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
class WrittenUnit:
    """A unit of `universe.domain.units_and_dates` (or `degree`), times `factor`."""

    name: str
    factor: float = 1.0

    def format_number(self, number: str) -> str:
        """Return a number with this unit, such as `0.692 ± 0.022 Earth masses`."""
        if self.factor != 1.0:
            number = f"({number}) × {self.factor:g}" if " " in number else f"{number} × {self.factor:g}"
        return f"{number} {_SHOWN.get(self.name, self.name)}".rstrip()


@dataclass(frozen=True, slots=True)
class WrittenQuantity:
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

    def convert_to_unit(self, value: float, unit: WrittenUnit) -> float | None:
        """Return a value of the field in `unit`, or None if `unit` belongs to another quantity."""
        if self.unit == unit.name or self.takes_any_unit:
            return value / unit.factor
        if not self.unit:
            return None
        try:
            return convert_unit(value, self.unit, unit.name) / unit.factor
        except InvalidInput:
            return None

    def convert_from_unit(self, value: float, unit: WrittenUnit) -> float | None:
        """Return a stated value in the unit of the field, or None if `unit` belongs to another quantity."""
        one = self.convert_to_unit(1.0, unit)
        return None if one is None else value / one


def _make_quantity(name: str, unit: str, words: str, *symbols: str) -> WrittenQuantity:
    return WrittenQuantity(name, unit, re.compile(words, re.IGNORECASE), frozenset(symbols))


_AXIS: Final = _make_quantity("semi-major axis", "au", r"\bsemi-?\s?major ax[ie]s|\bdistance|\bseparation", "a")
_PERIOD: Final = _make_quantity("period", "day", r"\bperiods?\b", "P")
_E: Final = _make_quantity("eccentricity", "", r"\beccentricit(?:y|ies)\b", "e", "ecc")
_Q: Final = _make_quantity("distance of periapsis", "au", r"\bperi\w+ distances?\b", "q")
_FIELDS: Final[dict[str, WrittenQuantity]] = {
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


def get_quantity_of_field(field: str) -> WrittenQuantity:
    """Return the quantity of a field. An unknown field is a plain number with its own name."""
    if known := _FIELDS.get(field):
        return known
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", field.rpartition(".")[2]) or [field]
    named = re.compile(r"\W*".join(map(re.escape, words)), re.IGNORECASE)
    return WrittenQuantity(" ".join(words).lower(), "", named, takes_any_unit=True)


def get_display_magnification(field: str, body: Mapping[str, Any] | None) -> float:
    """Return the magnification of `field` for display; only radii of shipped systems are magnified."""
    physical: Any = body.get("physical") if field == "radius" and body is not None else None
    scale: Any = cast("Mapping[str, Any]", physical).get("displayMagnification") if isinstance(physical, Mapping) else 1
    return float(scale) if isinstance(scale, int | float) and math.isfinite(scale) and scale > 0 else 1.0


def find_unit_after(text: str, end: int) -> WrittenUnit | None:
    """Return the unit right after a number of a plain text that ends at `end`."""
    at = len(text) - len(text[end:].lstrip(" })")) if end < len(text) else end
    for pattern, name, factor in _UNITS:
        if pattern.match(text, at):
            return WrittenUnit(name, factor)
    return None


def find_only_unit_in_label(label: str) -> WrittenUnit | None:
    """Return the only unit that a label such as `M [10^{27} g]` or `mass in Earth masses` names."""
    found = {unit for unit, _, _ in _find_units_with_spans(label)}
    return found.pop() if len(found) == 1 else None


def _find_units_with_spans(label: str) -> list[tuple[WrittenUnit, int, int]]:
    found: list[tuple[WrittenUnit, int, int]] = []
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
            found.append((WrittenUnit(name, factor * scale), start, match.end()))
    return found


def _remove_units_and_brackets(label: str) -> str:
    bare = _BRACKETS.sub(" ", label)
    for _, start, end in sorted(_find_units_with_spans(bare), key=lambda one: -one[1]):
        bare = bare[:start].rstrip().removesuffix("/").removesuffix(" in") + bare[end:]
    return bare.strip(" ,:;.")


MOST_CHARS: Final = 20_000
"""Longer texts are cut: a location is a row or a passage, not a paper."""

Kind = Literal["value", "range", "limit", "percent"]

_SUPERSCRIPTS: Final = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-", strict=True))
_SUBSCRIPTS: Final = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
_SIGNS: Final = (
    (r"\\(?:(?:math|text)(?:rm|bf|it|sf)|text|rm|bf|it|boldsymbol|ensuremath|hbox|mbox)(?![A-Za-z])", ""),
    (r"\\(?:left|right|displaystyle|scriptstyle|hfill|nodata)(?![A-Za-z])", ""),
    (r"\\pm(?![A-Za-z])|\+/-|\+-|\bplus or minus\b|&plusmn;", "±"),
    (r"\\(?:times|cdot)(?![A-Za-z])|&times;", "×"),
    (r"\\(?:oplus|earth|Earth)(?![A-Za-z])|🜨", "⊕"),
    (r"\\(?:odot|sun|Sun)(?![A-Za-z])|☉", "⊙"),
    (r"\\(?:Jupiter|jupiter)(?![A-Za-z])", "♃"),
    (r"\^\{?\s*\\circ\s*\}?|\\degr?(?:ee)?(?![A-Za-z])|&deg;", "°"),
    (r"\\(?:sim|approx|simeq)(?![A-Za-z])|[≈∼≃]", "~"),
    (r"\\(?:lesssim|lt|leq?|la)(?![A-Za-z])|[≲≤⩽]|&lt;", "<"),
    (r"\\(?:gtrsim|gt|geq?|ga)(?![A-Za-z])|[≳≥⩾]|&gt;", ">"),
    (r"\\omega(?![A-Za-z])", "ω"),
    (r"\\Omega(?![A-Za-z])", "Ω"),
    (r"\\sigma(?![A-Za-z])", "σ"),
    (r"\\(?:star|ast)(?![A-Za-z])|_\{?\*\}?", "⋆"),
    (r"<sup>(.*?)</sup>", r"^{\1}"),
    (r"<sub>(.*?)</sub>", r"_{\1}"),
    (r"</?[A-Za-z][^<>]{0,200}>|<!--.*?-->", ""),
    (r"\\%", "%"),
    (r"\\[,;:!> ]|~(?=[A-Za-z\\])|\\(?:quad|cr)(?![A-Za-z])|\\\\", " "),
    (r"\{,\}", ","),
    ("[\u2009\u202f\u00a0](?=\\d{3}(?!\\d))(?<=\\d[\u2009\u202f\u00a0])", ","),
    ("[\u2000-\u200b\u202f\u00a0\u2060]", " "),
    (r"\$|`", ""),
    (r"(?<=\d)\s*(?:\*|·|⋅)\s*(?=10\s*(?:\^|\*\*))", "×"),
    (r"(?<=10)\*\*", "^"),
    (r"\*", ""),
    (r"(?<![\d\s}])(\s*)[–—](?=\d)", r"\1-"),
    *[(r"(?<![\^_\\A-Za-z])\{([^{}]{0,500})\}", r"\1")] * 2,  # braces that only group
)
_MINUS: Final = re.compile("[\u2010-\u2012\u2212\ufe63\uff0d]")
_SIGN_RULES: Final = tuple((re.compile(pattern), new) for pattern, new in _SIGNS)

_PLAIN: Final = r"(?:[1-9]\d{0,2}(?:,\d{3})+(?!\d)|\d+(?!,\d))(?:\.\d+)?|\.\d+"
_POWER: Final = r"\s*×\s*10\s*\^\s*\{?\s*(?P<power>[+-]?\d{1,3})\s*\}?"
_UP: Final = rf"\^?\s*\{{?\s*\+\s*(?:{_PLAIN})\s*\}}?"
_DOWN: Final = rf"_?\s*\{{?\s*-\s*(?:{_PLAIN})\s*\}}?"
_SPREAD: Final = (
    rf"\((?P<last>\d{{1,6}})\)|\s*±\s*(?:{_PLAIN})(?:[eE][+-]?\d{{1,3}})?"
    rf"|\s*\(?\s*{_UP}\s*[,/]?\s*{_DOWN}\s*\)?|\s*\(?\s*{_DOWN}\s*[,/]?\s*{_UP}\s*\)?"
)
_NUMBER: Final = re.compile(
    rf"(?<![\w.,/^⋆\-–—])(?P<open>\(\s*)?(?P<sign>[+-]\s?)?(?P<digits>{_PLAIN})"
    rf"(?P<e>[eE][+-]?\d{{1,3}}(?!\w))?(?:{_SPREAD})?(?P<close>\s*\)(?=\s*×))?(?:{_POWER})?(?![.,]?\d)(?!\s*[/^]\s*\{{?[+-]?\d)"
)
_NOT_A_NUMBER_AFTER: Final = re.compile(r"(?:±|[\^_]\s*\{?)\s*$")
"""An uncertainty, an exponent or an index."""
_RANGE_AFTER: Final = re.compile(r"\s*(?:–|—|-|\bto\b|\.\.+|…|\band\b(?=[^.]*\brange\b))\s*[+-]?\.?\d")
_RANGE_BEFORE: Final = re.compile(r"(?:\d\s*(?:–|—|-|\bto\b|\.\.+|…)|\bbetween\b[^.;]{0,40}\d\D{0,12}\band\b)\s*$")
_BETWEEN: Final = re.compile(r"\bbetween\s+$", re.IGNORECASE)
_LIMIT: Final = re.compile(
    r"(?:[<>]|\b(?:less|more|greater|lower|higher|fewer|larger|smaller) than"
    r"|\bat (?:least|most)|\bup to|\bbelow|\babove|\bunder|\bover|\bexceeds?|\bwithin"
    r"|\b(?:upper|lower) limit(?: of)?)\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number in a text: its value, half a unit of its last digit, its characters and its position."""

    value: float
    half_digit: float
    text: str
    start: int
    end: int
    kind: Kind = "value"


def normalise_number_text(text: str) -> str:
    """Return `text` on one line, without markup, with one sign for each meaning: `-`, `±`, `×`, `^{…}`, `⊕`, `⊙`."""
    text = text[:MOST_CHARS]
    text = _replace_script_digits(text, _SUPERSCRIPTS, "^")
    text = _replace_script_digits(text, _SUBSCRIPTS, "_")
    text = _MINUS.sub("-", text)
    for pattern, new in _SIGN_RULES:
        text = pattern.sub(new, text)
    return " ".join(text.split())


def find_numbers(text: str) -> list[WrittenNumber]:
    """Return the numbers in a normalised text, in order. An uncertainty is part of its number."""
    return [measured for match in _NUMBER.finditer(text) if (measured := _parse_number(match, text)) is not None]


def _parse_number(match: re.Match[str], text: str) -> WrittenNumber | None:
    digits = match["digits"].replace(",", "")
    exponent = int((match["e"] or "e0")[1:]) + int(match["power"] or 0)
    value = float(f"{digits}e{exponent}")
    has_leading_zero = len(digits) > 1 and digits[0] == "0" and digits[1] != "."
    before = text[max(0, match.start() - 8) : match.start()]
    if not math.isfinite(value) or abs(exponent) > 300 or has_leading_zero or _NOT_A_NUMBER_AFTER.search(before):
        return None
    decimals = len(digits.partition(".")[2])
    half = 0.5 * 10.0 ** (exponent - decimals) if exponent - decimals > -300 else 0.0
    start = match.start("sign") if match["sign"] else match.start("digits")
    if match["sign"] and match["sign"].startswith("-"):
        value = -value
    has_both = bool(match["open"]) == bool(match["close"])
    written = match[0].strip() if has_both else text[start : match.end()].strip()
    written = re.sub(r"\s*±\s*", " ± ", written)
    return WrittenNumber(value, half, written, start, match.end(), _classify_number(text, match.start(), match.end()))


def _classify_number(text: str, start: int, end: int) -> Kind:
    before = text[max(0, start - 60) : start]
    if text[start] in "+-" and re.search(r"\d\s*$", before):
        return "range"
    if re.match(r"\s*(?:%|per ?cent\b)", text[end:]):
        return "percent"
    if _RANGE_AFTER.match(text, end) or _RANGE_BEFORE.search(before) or _BETWEEN.search(before):
        return "range"
    return "limit" if _LIMIT.search(before) else "value"


def _replace_script_digits(text: str, signs: dict[str, str], mark: str) -> str:
    return re.sub(f"[{''.join(signs)}]+", lambda run: f"{mark}{{{''.join(signs[char] for char in run[0])}}}", text)
