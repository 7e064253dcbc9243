"""Text for people: durations, numbers and lists of names."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

_ROUNDING: Final = 1e-12
"""Smaller values, such as the eccentricity of a circle, are printed as 0."""


def format_short_duration(days: float) -> str:
    """Return a duration in days or years with three digits."""
    if not math.isfinite(days):
        return "an unknown time"
    if abs(days) < 1000:
        return f"{days:.3g} {'day' if days == 1 else 'days'}"
    years = days / 365.25
    return f"{years:.3g} years" if abs(years) < 1000 else f"{years:,.0f} years"


def format_two_digits(value: float) -> str:
    """Return a number with two significant digits, or without decimals from 10 on."""
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"


def join_words(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def join_names_with_common_prefix(names: Sequence[str]) -> str:
    """Join names, with a common first part only once: "TRAPPIST-1 c, d and e"."""
    first, space, _ = names[0].rpartition(" ")
    prefix = first + space
    if prefix and all(name.startswith(prefix) and " " not in name[len(prefix) :] for name in names[1:]):
        return join_words([names[0], *(name[len(prefix) :] for name in names[1:])])
    return join_words(names)


def format_days_and_years(days: float) -> str:
    """Return a duration in days and, from 730 days on, also in years."""
    unit = "day" if abs(days) == 1 else "days"
    long = f" ({_format_without_exponent(days / 365.25, 4)} years)" if abs(days) >= 730 else ""
    return f"{_format_without_exponent(days, 6)} {unit}{long}"


def _format_without_exponent(value: float, digits: int) -> str:
    """Return a number with this many digits and without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 10**digits / 10 else f"{value:,.{digits}g}"


def format_range(values: Mapping[str, float] | None, digits: int = 3) -> str:
    """Return the minimum and maximum, or one number if they agree to this many digits."""
    if values is None:
        return "-"
    low, high = (
        f"{one:.0f}" if abs(one) >= 10**digits or abs(one) < _ROUNDING else f"{one:.{digits}g}"
        for one in (values["min"], values["max"])
    )
    return low if low == high else f"{low}–{high}"


def format_number_or_dash(value: float | None, digits: int = 2) -> str:
    """Return a number with this many digits, or a dash for None."""
    return "-" if value is None else f"{value:.{digits}g}"
