"""Julian dates."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from universe.domain.units_and_dates import compute_julian_date, convert_to_tdb_in_range
from uraniborg.kernel.errors import InvalidInput


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (datetime(2000, 1, 1, 12, tzinfo=UTC), 2451545.0),
        (datetime(1858, 11, 17, tzinfo=UTC), 2400000.5),  # where the modified Julian date begins
        (date(2000, 1, 1), 2451544.5),
        (datetime(1957, 10, 4, 19, 26, 24, tzinfo=UTC), 2436116.31),  # Sputnik, the example of Meeus
    ],
)
def test_known_dates_have_their_known_numbers(at: date, expected: float) -> None:
    assert compute_julian_date(at) == pytest.approx(expected, abs=1e-8)


def test_an_instant_is_the_same_in_every_time_zone_and_utc_where_none_is_named() -> None:
    noon = datetime(2024, 3, 20, 12, tzinfo=UTC)
    assert compute_julian_date(noon.astimezone(timezone(timedelta(hours=-8)))) == compute_julian_date(noon)
    assert compute_julian_date(noon.replace(tzinfo=None)) == compute_julian_date(noon)


def test_the_last_day_lasts_until_midnight() -> None:
    first, last = date(2000, 1, 1), date(2000, 1, 31)
    found = convert_to_tdb_in_range(datetime(2000, 1, 31, 23, 59, tzinfo=UTC), first, last)
    assert found == pytest.approx(2451575.5 + (64.184 - 60) / 86400, abs=1e-8)
    assert convert_to_tdb_in_range(2451575.25, first, last) == 2451575.25
    with pytest.raises(InvalidInput, match="2000-02-01"):
        convert_to_tdb_in_range(datetime(2000, 2, 1, tzinfo=UTC), first, last)
