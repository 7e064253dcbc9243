"""Dates as astronomers count them: days since noon of the first of January 4713 BC, one number."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from uraniborg.kernel.errors import InvalidInput

J2000: Final = 2451545.0
"""Noon of 1 January 2000 in TDB, from which elements with rates are counted."""
CENTURY: Final = 36525.0
"""A Julian century in days."""

_NOON_2000: Final = datetime(2000, 1, 1, 12, tzinfo=UTC)
_DAY_S: Final = 86_400.0


def compute_julian_date(at: date | datetime) -> float:
    """Return the Julian date of an instant, in its own time scale.

    A date alone is its midnight. An instant without a time zone is UTC.
    """
    instant = at if isinstance(at, datetime) else datetime.combine(at, time())
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return J2000 + (instant - _NOON_2000).total_seconds() / _DAY_S


def convert_julian_date(julian: float) -> datetime:
    """Return the date of a Julian date, in its own time scale. Raise OverflowError beyond the years 1 to 9999."""
    return _NOON_2000 + timedelta(days=julian - J2000)


def check_date_range(at: date | datetime | float, first: date, last: date) -> float:
    """Return the Julian date in TDB of a UTC date, or of a Julian date in TDB.

    Raise InvalidInput unless it lies from the first day to the last, both included.
    """
    from universe.systems.time_scales import convert_utc_to_tdb

    stated = compute_julian_date(at) if isinstance(at, date) else at
    if not compute_julian_date(first) <= stated < compute_julian_date(last) + 1:
        shown = at.isoformat() if isinstance(at, date) else f"Julian date {at}"
        raise InvalidInput(
            f"{shown} is outside the years that the elements were fitted to.",
            hint=f"Choose a date from {first} to {last}, or a Julian date "
            f"from {compute_julian_date(first)} to {compute_julian_date(last) + 1}.",
            argument="at",
            allowed=f"{first} to {last}",
        )
    return convert_utc_to_tdb(at) if isinstance(at, date) else at
