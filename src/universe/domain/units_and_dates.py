"""Read numbers of bodies, convert units and dates, and name the constants.

Astronomical bodies measure lengths in AU, times in days (one simulation second is one day) and masses in solar masses.
Angles of bodies and arguments are in degrees.

TDB follows TT to 2 milliseconds, TT is TAI + 32.184 s, and TAI - UTC is a whole number of seconds since 1972: the leap
seconds that the IERS announces in its Bulletin C and the IETF distributes as `leap-seconds.list`.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, cast, overload

from uraniborg.kernel.errors import InvalidInput

GAUSS_K: Final = 0.01720209895
"""The Gaussian gravitational constant, in AU^1.5 per day and per root of a solar mass."""

G: Final = GAUSS_K**2
"""The constant of gravitation in AU^3 / (solar mass * day^2)."""

AU_IN_METRES: Final = 149_597_870_700.0
"""By definition (IAU 2012 Resolution B2)."""

DAY_IN_SECONDS: Final = 86_400.0
YEAR_IN_DAYS: Final = 365.25
"""The Julian year."""

_GM_SUN: Final = 1.327_124_4e20
_GM_EARTH: Final = 3.986_004e14
_GM_JUPITER: Final = 1.266_865_3e17
# The three above are nominal values of IAU 2015 Resolution B3, in m^3/s^2; the constant of gravitation is CODATA 2018.
_G_SI: Final = 6.674_30e-11

SOLAR_MASS_IN_KG: Final = _GM_SUN / _G_SI
EARTH_MASS: Final = _GM_EARTH / _GM_SUN
"""In solar masses."""
JUPITER_MASS: Final = _GM_JUPITER / _GM_SUN
"""In solar masses."""

_UNITS: Final[dict[str, dict[str, float]]] = {
    "length": {
        "au": 1.0,
        "m": 1 / AU_IN_METRES,
        "km": 1e3 / AU_IN_METRES,
        "solar_radius": 6.957e8 / AU_IN_METRES,
        "jupiter_radius": 7.1492e7 / AU_IN_METRES,
        "earth_radius": 6.3781e6 / AU_IN_METRES,
    },
    "time": {"day": 1.0, "s": 1 / DAY_IN_SECONDS, "year": YEAR_IN_DAYS},
    "mass": {
        "solar_mass": 1.0,
        "jupiter_mass": JUPITER_MASS,
        "earth_mass": EARTH_MASS,
        "kg": 1 / SOLAR_MASS_IN_KG,
    },
}
"""For each quantity, the value of each unit in astronomical units."""


def convert_unit(value: float, unit: str, to: str) -> float:
    """Convert `value` to another unit of the same quantity.

    Raise InvalidInput if the units measure different quantities.
    """
    for units in _UNITS.values():
        if unit in units and to in units:
            return value * (units[unit] / units[to])
    raise InvalidInput(
        f"There is no conversion from '{unit}' to '{to}'.",
        hint="Use two units of the same quantity.",
        argument="unit",
        allowed={quantity: list(units) for quantity, units in _UNITS.items()},
    )


def compute_period(semi_major_axis: float, total_mass: float) -> float:
    """Return the period in days of two bodies with this total mass, by Kepler's third law."""
    axis = _check_positive("semi_major_axis", semi_major_axis)
    return 2 * math.pi * axis * math.sqrt(axis / _compute_gm(total_mass))


def compute_semi_major_axis(period: float, total_mass: float) -> float:
    """Return the semi-major axis in AU of an orbit with this period in days, by Kepler's third law."""
    radian = _check_positive("period", period) / (2 * math.pi)
    return math.cbrt(_compute_gm(total_mass) * radian * radian)


def _compute_gm(total_mass: float) -> float:
    return G * _check_positive("total_mass", total_mass)


def _check_positive(argument: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0):
        raise InvalidInput(
            f"{argument} is {value}, but must be a positive finite number.",
            hint="An orbit needs a size, a period and an attracting mass above zero.",
            argument=argument,
            allowed="> 0",
        )
    return value


Body = Mapping[str, Any]

_ANGLES: Final = frozenset(
    {
        *("inclination", "longitudeOfAscendingNode", "argumentOfPeriapsis", "meanAnomaly", "orbitalPhase"),
        *("orbitRotX", "orbitRotY", "orbitRotZ", "orbitAccuracyDegrees"),
    }
)
_LENGTHS: Final = frozenset(
    {
        *("radius", "orbitalDistance", "semiMajorAxis", "q", "perihelionDistance", "aphelionDistance", "position"),
        *("orbitOffsetX", "orbitOffsetY", "orbitOffsetZ"),
    }
)
_TIMES: Final = frozenset({"period", "osculatingPeriod", "epoch"})
_FIXED: Final = {
    "massKg": "kg",
    "radiusKm": "km",
    "teffKelvin": "K",
    "luminositySolar": "solar luminosities",
    "epochJulianDate": "days (Julian date)",
}


def get_field_unit(field: str, *, astronomical: bool) -> str:
    """Return the unit of a field such as `mass` or `kepler.period`; an empty string for a field without a unit."""
    name = field.rpartition(".")[2]
    length, time = ("AU", "days") if astronomical else ("scene units", "simulation seconds")
    kinds = (
        (_ANGLES, "degrees"),
        (_LENGTHS, length),
        (_TIMES, time),
        ({"mass"}, "solar masses" if astronomical else ""),
        ({"orbitalSpeed"}, f"degrees for each {time.removesuffix('s')}"),
        ({"velocity"}, f"{length} for each {time.removesuffix('s')}"),
    )
    return _FIXED.get(name) or next((unit for names, unit in kinds if name in names), "")


def has_astronomical_body(bodies: Iterable[Body]) -> bool:
    """Return True if a body moves in astronomical units, where one simulation second is one day."""
    return any(_get_block_or_empty(body, "kepler").get("units") == "astronomical" for body in bodies)


def find_epoch_julian_date(bodies: Iterable[Body]) -> float | None:
    """Return the Julian date of time 0; None if no body has it."""
    epochs = (_get_block_or_empty(body, "physical").get("epochJulianDate") for body in bodies)
    return next((float(epoch) for epoch in epochs if isinstance(epoch, (int, float))), None)


def _get_block_or_empty(body: Body, name: str) -> Body:
    block = body.get(name)
    return cast("Body", block) if isinstance(block, dict) else {}


@overload
def read_number(fields: Mapping[str, Any], name: str) -> float | None: ...
@overload
def read_number(fields: Mapping[str, Any], name: str, default: float) -> float: ...
def read_number(fields: Mapping[str, Any], name: str, default: float | None = None) -> float | None:
    """Return the number called `name`, or `default` where it is absent or null. Raise InvalidInput naming the field."""
    value = fields.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _make_number_error(name)
    try:
        found = float(value)
    except OverflowError:
        raise _make_number_error(name) from None
    if not math.isfinite(found):
        raise _make_number_error(name)
    return found


def finite_or_none(value: float) -> float | None:
    """Return a number that JSON can carry, or None."""
    return value if math.isfinite(value) else None


def check_finite_time(t: float) -> None:
    """Raise InvalidInput unless `t` is a finite number."""
    if not math.isfinite(t):
        raise InvalidInput(
            f"The time is {t}.", hint="Give the simulation time as a finite number.", argument="t", allowed="a number"
        )


def _make_number_error(name: str) -> InvalidInput:
    return InvalidInput(
        f"'{name}' is not a finite number.", hint="Set it to a number, or to null.", argument=name, allowed="a number"
    )


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
