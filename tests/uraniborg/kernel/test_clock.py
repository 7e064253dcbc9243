"""Clocks give the time in UTC, moving or standing still."""

from datetime import UTC, datetime, timedelta, timezone

from uraniborg.kernel.clock import Clock, FrozenClock, SystemClock


def test_the_system_clock_returns_the_present_in_utc() -> None:
    before = datetime.now(UTC)
    now = SystemClock().now()
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta(0)


def test_a_frozen_clock_always_returns_its_given_moment() -> None:
    clock: Clock = FrozenClock(datetime(2024, 2, 29, 12, tzinfo=UTC))
    assert clock.now() == clock.now() == datetime(2024, 2, 29, 12, tzinfo=UTC)


def test_a_frozen_clock_given_another_time_zone_returns_utc() -> None:
    ahead = timezone(timedelta(hours=2))
    now = FrozenClock(datetime(2024, 1, 1, 1, tzinfo=ahead)).now()
    assert now.isoformat() == "2023-12-31T23:00:00+00:00"
