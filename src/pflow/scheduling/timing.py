"""Parse days of the week and a time of day, and write them for each scheduler. Pure."""

import re
from dataclasses import dataclass
from typing import Final

from pflow.errors import InvalidInputs

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FORMS: Final = "'mon 07:00', 'mon,thu 07:00', 'weekdays 18:30', 'weekends 09:00', 'daily 06:00', '07:00' or 'hourly'"
_ALL: Final = tuple(range(7))
_GROUPS: Final = {
    **dict.fromkeys(("daily", "day", "everyday"), _ALL),
    **dict.fromkeys(("weekdays", "weekday"), _ALL[:5]),
    **dict.fromkeys(("weekends", "weekend"), _ALL[5:]),
}
_FULL: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME: Final = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Timing:
    """Days of the week, Monday being 0, and a time of day in local time; without an hour, every hour."""

    days: tuple[int, ...]
    hour: int | None
    minute: int

    def __str__(self) -> str:
        """Return the form that `parse_timing` reads."""
        if self.hour is None:
            return "hourly"
        days = "daily" if self.days == _ALL else ",".join(DAYS[day] for day in self.days)
        return f"{days} {self.hour:02}:{self.minute:02}"

    def to_systemd_calendar(self) -> str:
        """Return the value of systemd's `OnCalendar`."""
        days = "" if self.days == _ALL else ",".join(DAYS[day].capitalize() for day in self.days) + " "
        hour = "*" if self.hour is None else f"{self.hour:02}"
        return f"{days}*-*-* {hour}:{self.minute:02}:00"

    def to_cron_fields(self) -> str:
        """Return the five fields of a cron line, in which Sunday is 0."""
        days = "*" if self.days == _ALL else ",".join(str(day) for day in sorted((day + 1) % 7 for day in self.days))
        return f"{self.minute} {'*' if self.hour is None else self.hour} * * {days}"

    def to_launchd_intervals(self) -> list[dict[str, int]]:
        """Return launchd's `StartCalendarInterval`, in which Sunday is 0."""
        time = {"Minute": self.minute} if self.hour is None else {"Hour": self.hour, "Minute": self.minute}
        return [time] if self.days == _ALL else [{"Weekday": (day + 1) % 7, **time} for day in self.days]


def parse_timing(text: str) -> Timing:
    """Return the timing of a text such as 'mon,thu 07:00'. Raise InvalidInputs, which lists the valid forms."""
    words = [word for word in text[:_LONGEST].lower().replace(",", " ").split() if word not in ("every", "at", "and")]
    if words in (["hourly"], ["hour"]):
        return Timing(_ALL, None, 0)
    time = _TIME.fullmatch(words[-1]) if words else None
    days = {day for word in words[:-1] for day in _parse_days(word)}
    if time is None or len(text) > _LONGEST or any(not _parse_days(word) for word in words[:-1]):
        raise InvalidInputs(
            f"The time of a schedule must be days and a time, got '{text[:60]}'.", hint=f"Write one of {FORMS}."
        )
    return Timing(tuple(sorted(days)) or _ALL, int(time[1]), int(time[2]))


def _parse_days(word: str) -> tuple[int, ...]:
    """Return the days that a word names; empty if it does not name a day."""
    if word in _GROUPS:
        return _GROUPS[word]
    first, is_range, last = word.partition("-")
    start, end = _parse_day(first), _parse_day(last if is_range else first)
    if start is None or end is None:
        return ()
    return tuple((start + step) % 7 for step in range((end - start) % 7 + 1))


def _parse_day(word: str) -> int | None:
    names = DAYS if word in DAYS else _FULL
    return names.index(word) if word in names else None
