"""Dates as astronomers count them: days since noon of the first of January 4713 BC, one number."""

from datetime import UTC, date, datetime, time
from typing import Final

from uraniborg.kernel.errors import InvalidInput

J2000: Final = 2451545.0
"""Noon of 1 January 2000, from which elements with rates are counted."""
CENTURY: Final = 36525.0
"""A Julian century in days."""

_NOON_2000: Final = datetime(2000, 1, 1, 12, tzinfo=UTC)
_DAY_S: Final = 86_400.0


def julian_date(at: date | datetime) -> float:
    """The Julian date of an instant. A date alone is its midnight, and what names no time zone is UTC.

    UTC counts as dynamical time here: the minute between the two is less than the elements are good for.
    """
    instant = at if isinstance(at, datetime) else datetime.combine(at, time())
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return J2000 + (instant - _NOON_2000).total_seconds() / _DAY_S


def require_between(at: date | datetime, first: date, last: date) -> float:
    """The Julian date of `at`. Raises InvalidInput unless it lies from the first day to the last, both included."""
    found = julian_date(at)
    if not julian_date(first) <= found < julian_date(last) + 1:
        raise InvalidInput(
            f"{at.isoformat()} is outside the years that the elements were fitted to.",
            hint=f"Choose a date from {first} to {last}.",
            argument="at",
            allowed=f"{first} to {last}",
        )
    return found
