"""Convert dates to Julian dates, and UTC to TDB, the uniform time scale of orbits.

TDB follows TT to 2 milliseconds, TT is TAI + 32.184 s, and TAI - UTC is a whole number of seconds since 1972: the
leap seconds that the IERS announces in its Bulletin C and the IETF distributes as `leap-seconds.list`.
"""

from bisect import bisect_right
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from uraniborg.kernel.errors import InvalidInput

J2000: Final = 2451545.0
"""Noon of 1 January 2000 in TDB, from which elements with rates are counted."""
CENTURY: Final = 36525.0
"""A Julian century in days."""

_NOON_2000: Final = datetime(2000, 1, 1, 12, tzinfo=UTC)
_DAY_S: Final = 86_400.0
_TT_LESS_TAI: Final = 32.184
_LEAP_SECONDS: Final = (
    ("1972-01-01", 10), ("1972-07-01", 11), ("1973-01-01", 12), ("1974-01-01", 13), ("1975-01-01", 14),
    ("1976-01-01", 15), ("1977-01-01", 16), ("1978-01-01", 17), ("1979-01-01", 18), ("1980-01-01", 19),
    ("1981-07-01", 20), ("1982-07-01", 21), ("1983-07-01", 22), ("1985-07-01", 23), ("1988-01-01", 24),
    ("1990-01-01", 25), ("1991-01-01", 26), ("1992-07-01", 27), ("1993-07-01", 28), ("1994-07-01", 29),
    ("1996-01-01", 30), ("1997-07-01", 31), ("1999-01-01", 32), ("2006-01-01", 33), ("2009-01-01", 34),
    ("2012-07-01", 35), ("2015-07-01", 36), ("2017-01-01", 37),
)  # fmt: skip
"""TAI - UTC in seconds from each day on."""
_KNOWN_UNTIL: Final = date(2026, 6, 30)
"""Leap seconds are announced up to this day."""
_DAYS: Final = [datetime.combine(date.fromisoformat(day), time(), UTC) for day, _ in _LEAP_SECONDS]
_OFFSETS: Final = [seconds + _TT_LESS_TAI for _, seconds in _LEAP_SECONDS]


def compute_julian_date(at: date | datetime) -> float:
    """Return the Julian date of an instant, in its own time scale.

    A date alone is its midnight. An instant without a time zone is UTC.
    """
    instant = at if isinstance(at, datetime) else datetime.combine(at, time())
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return J2000 + (instant - _NOON_2000).total_seconds() / _DAY_S


def convert_julian_date_to_datetime(julian: float) -> datetime:
    """Return the date of a Julian date, in its own time scale. Raise OverflowError beyond the years 1 to 9999."""
    return _NOON_2000 + timedelta(days=julian - J2000)


def convert_to_tdb_in_range(at: date | datetime | float, first: date, last: date) -> float:
    """Return the Julian date in TDB of a UTC date, or of a Julian date in TDB.

    Raise InvalidInput unless it lies from the first day to the last, both included.
    """
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


def convert_utc_to_tdb(at: date | datetime) -> float:
    """Return the Julian date in TDB of a UTC date. Before 1972, when there are no leap seconds, UTC counts as TDB."""
    return compute_julian_date(at) + _compute_tdb_offset(_normalise_utc(at)) / 86_400


def convert_tdb_to_utc(tdb: float) -> datetime:
    """Return the UTC date of a Julian date in TDB. Raise OverflowError beyond the years 1 to 9999."""
    even = convert_julian_date_to_datetime(tdb)
    seconds = _compute_tdb_offset(even)
    # Near a leap second TDB has already passed it when UTC has not.
    earlier = even - timedelta(seconds=seconds) if even.year > 1 else even
    return even - timedelta(seconds=_compute_tdb_offset(earlier))


def describe_inexact_conversion(at: date | datetime) -> str | None:
    """Return why the conversion of a UTC date to TDB is not exact, or None if it is."""
    day = _normalise_utc(at).date()
    if day < _DAYS[0].date():
        return f"UTC has leap seconds since 1972 only: {day} counts as TDB, which then differed by up to 42 seconds."
    if day > _KNOWN_UNTIL:
        return (
            f"Leap seconds are known until {_KNOWN_UNTIL}: for {day} the last difference, "
            f"TDB - UTC = {_OFFSETS[-1]} s, is assumed."
        )
    return None


def _compute_tdb_offset(instant: datetime) -> float:
    """Return TDB - UTC in seconds."""
    index = bisect_right(_DAYS, instant)
    return _OFFSETS[index - 1] if index else 0.0


def _normalise_utc(at: date | datetime) -> datetime:
    instant = at if isinstance(at, datetime) else datetime.combine(at, time())
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
