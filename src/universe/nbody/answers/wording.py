"""Plain words for the answers of a run: durations, names and lists."""

import math
from collections.abc import Sequence


def format_days(days: float) -> str:
    """Return a duration as days or years, with three digits."""
    if not math.isfinite(days):
        return "an unknown time"
    if abs(days) < 1000:
        return f"{days:.3g} {'day' if days == 1 else 'days'}"
    years = days / 365.25
    return f"{years:.3g} years" if abs(years) < 1000 else f"{years:,.0f} years"


def format_plain_number(value: float) -> str:
    """Return a number with two digits, or all digits before the point."""
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"


def join_words(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def join_names(names: Sequence[str]) -> str:
    """Return names in a list, with a common first part once: "TRAPPIST-1 c, d and e"."""
    first, space, _ = names[0].rpartition(" ")
    prefix = first + space
    if prefix and all(name.startswith(prefix) and " " not in name[len(prefix) :] for name in names[1:]):
        return join_words([names[0], *(name[len(prefix) :] for name in names[1:])])
    return join_words(names)
