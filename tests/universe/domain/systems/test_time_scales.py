"""Conversion between UTC and TDB by leap seconds."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.units_and_dates import (
    compute_julian_date,
    convert_julian_date_to_datetime,
    convert_tdb_to_utc,
    convert_utc_to_tdb,
    describe_inexact_conversion,
)

LEAPS = [compute_julian_date(date(*day)) for day in ((1972, 1, 1), (1972, 7, 1), (1999, 1, 1), (2017, 1, 1))]


@pytest.mark.parametrize(
    ("at", "seconds"),
    [
        # IERS Bulletin C and its list of TAI - UTC; TT is 32.184 s ahead of TAI.
        (datetime(1972, 1, 1, tzinfo=UTC), 42.184),
        (datetime(1999, 12, 31, tzinfo=UTC), 64.184),
        (datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC), 68.184),
        (datetime(2017, 1, 1, tzinfo=UTC), 69.184),
        (date(2026, 1, 1), 69.184),
        (datetime(1971, 12, 31, tzinfo=UTC), 0.0),
    ],
)
def test_tdb_is_ahead_of_utc_by_the_leap_seconds(at: date, seconds: float) -> None:
    assert (convert_utc_to_tdb(at) - compute_julian_date(at)) * 86400 == pytest.approx(seconds, abs=1e-4)


def test_j2000_is_the_known_instant_of_utc() -> None:
    assert convert_utc_to_tdb(datetime(2000, 1, 1, 11, 58, 55, 816_000, tzinfo=UTC)) == pytest.approx(
        2451545.0, abs=1e-9
    )
    assert abs(convert_tdb_to_utc(2451545.0) - datetime(2000, 1, 1, 11, 58, 55, 816_000, tzinfo=UTC)) < timedelta(
        milliseconds=1
    )


@given(st.floats(2378497, 2488070) | st.sampled_from(LEAPS).flatmap(lambda day: st.floats(day - 1e-3, day + 1e-3)))
def test_a_date_survives_both_ways(days: float) -> None:
    at = convert_julian_date_to_datetime(days)
    assert abs(convert_tdb_to_utc(convert_utc_to_tdb(at)) - at) < timedelta(milliseconds=1)


def test_a_time_zone_counts_before_the_leap_second_is_looked_up() -> None:
    east = datetime(2017, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    assert (convert_utc_to_tdb(east) - compute_julian_date(east)) * 86400 == pytest.approx(68.184, abs=1e-4)


def test_dates_outside_the_table_get_a_caution_and_others_none() -> None:
    assert "1972" in (describe_inexact_conversion(date(1900, 1, 1)) or "")
    assert "69.184" in (describe_inexact_conversion(date(2050, 1, 1)) or "")
    assert describe_inexact_conversion(date(1972, 1, 1)) is None
    assert describe_inexact_conversion(date(2020, 1, 1)) is None


@pytest.mark.parametrize("tdb", [1e9, -1e9, 1721425.5])
def test_dates_of_any_size_do_not_break(tdb: float) -> None:
    try:
        convert_tdb_to_utc(tdb)
    except OverflowError:
        assert abs(tdb) > 1e8
