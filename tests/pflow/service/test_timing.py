"""Times are parsed in the forms that people write, and written in the forms of schedulers."""

import shutil
import subprocess

import pytest

from pflow.errors import InvalidInputs
from pflow.service.scheduled_job import FORMS, Timing, parse_timing

ALL = tuple(range(7))
READ = [
    ("mon 07:00", (0,), 7, 0),
    ("MON 7:00", (0,), 7, 0),
    ("Monday at 07:00", (0,), 7, 0),
    ("every Monday 07:00", (0,), 7, 0),
    ("mon,thu 07:00", (0, 3), 7, 0),
    ("thu, mon 07:00", (0, 3), 7, 0),
    ("mon and thu at 07:00", (0, 3), 7, 0),
    ("mon,mon 07:00", (0,), 7, 0),
    ("mon-fri 18:30", (0, 1, 2, 3, 4), 18, 30),
    ("sat-mon 18:30", (0, 5, 6), 18, 30),
    ("weekdays 18:30", (0, 1, 2, 3, 4), 18, 30),
    ("weekends 09:05", (5, 6), 9, 5),
    ("daily 23:59", ALL, 23, 59),
    ("every day 00:00", ALL, 0, 0),
    ("07:00", ALL, 7, 0),
    ("hourly", ALL, None, 0),
    ("every hour", ALL, None, 0),
]


@pytest.mark.parametrize(("text", "days", "hour", "minute"), READ)
def test_a_time_is_read_and_reads_back_from_its_own_text(
    text: str, days: tuple[int, ...], hour: int | None, minute: int
) -> None:
    timing = parse_timing(text)
    assert timing == Timing(days, hour, minute)
    assert parse_timing(str(timing)) == timing


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "mon", "moon 07:00", "mon 24:00", "mon 07:60", "mon 7", "7:0", "mon 07:00 07:00", "mon- 07:00"),
        *("-mon 07:00", "mon-tue-wed 07:00", "hourly 07:00", "* * * * *", "@daily", "mon 07:00\nfri", "mon," * 100),
        "mon \uff10\uff17:00",
    ],
)
def test_any_other_time_is_refused_with_the_valid_forms(text: str) -> None:
    with pytest.raises(InvalidInputs) as refused:
        parse_timing(text)
    assert refused.value.hint == f"Write one of {FORMS}."


@pytest.mark.parametrize(
    ("text", "calendar", "cron", "intervals"),
    [
        ("mon 07:00", "Mon *-*-* 07:00:00", "0 7 * * 1", [{"Weekday": 1, "Hour": 7, "Minute": 0}]),
        (
            "thu,sun 18:05",
            "Thu,Sun *-*-* 18:05:00",
            "5 18 * * 0,4",
            [{"Weekday": 4, "Hour": 18, "Minute": 5}, {"Weekday": 0, "Hour": 18, "Minute": 5}],
        ),
        ("daily 06:00", "*-*-* 06:00:00", "0 6 * * *", [{"Hour": 6, "Minute": 0}]),
        ("hourly", "*-*-* *:00:00", "0 * * * *", [{"Minute": 0}]),
    ],
)
def test_each_scheduler_is_given_the_time_in_its_own_form(
    text: str, calendar: str, cron: str, intervals: list[dict[str, int]]
) -> None:
    timing = parse_timing(text)
    assert (timing.to_systemd_calendar(), timing.to_cron_fields(), timing.to_launchd_intervals()) == (
        calendar,
        cron,
        intervals,
    )


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_systemd_parses_every_calendar_as_intended() -> None:
    calendars = [parse_timing(text).to_systemd_calendar() for text, *_ in READ]
    done = subprocess.run(["systemd-analyze", "calendar", *calendars], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    normal = [line.partition(": ")[2] for line in done.stdout.splitlines() if "Normalized form" in line]
    assert len(normal or calendars) == len(calendars)
