"""Clocks: the system time, and a fixed time for tests."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """Return the current time in UTC."""
        ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def format_iso(moment: datetime) -> str:
    """Return the moment in UTC as ISO 8601, to the microsecond."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def format_now() -> str:
    """Return the time of the system clock in UTC as ISO 8601, to the microsecond."""
    return format_iso(datetime.now(UTC))


class FrozenClock:
    """A clock that stands still, for tests and replays."""

    def __init__(self, at: datetime) -> None:
        self._at = at.astimezone(UTC)

    def now(self) -> datetime:
        return self._at
