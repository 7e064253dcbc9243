"""Parse numbers as papers write them: with uncertainties, powers of ten, LaTeX markup and Unicode signs."""

import math
import re
from dataclasses import dataclass
from typing import Final, Literal

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
