"""Clocks give the time in UTC, moving or standing still."""

from datetime import UTC, datetime, timedelta, timezone

from uraniborg.kernel.clock import Clock, FrozenClock, SystemClock


def test_the_system_clock_tells_the_present_in_utc() -> None:
    before = datetime.now(UTC)
    told = SystemClock().now()
    assert before <= told <= datetime.now(UTC)
    assert told.utcoffset() == timedelta(0)


def test_a_frozen_clock_always_tells_the_moment_it_was_given() -> None:
    clock: Clock = FrozenClock(datetime(2024, 2, 29, 12, tzinfo=UTC))
    assert clock.now() == clock.now() == datetime(2024, 2, 29, 12, tzinfo=UTC)


def test_a_frozen_clock_given_another_time_zone_tells_utc() -> None:
    ahead = timezone(timedelta(hours=2))
    told = FrozenClock(datetime(2024, 1, 1, 1, tzinfo=ahead)).now()
    assert told.isoformat() == "2023-12-31T23:00:00+00:00"
