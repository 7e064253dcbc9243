"""The replies of schedules."""

from pydantic import Field

from uraniborg.console.replies import Reply
from uraniborg.kernel.actors import Actor


class InstalledSchedule(Reply):
    """A workflow that the system runs at fixed times."""

    name: str
    at: str
    as_: str = Field(alias="as")
    """systemd, cron or launchd."""
    path: str | None
    actor: Actor | None = None
    """Who added the schedule; None if that is not known."""


class AddedSchedule(Reply):
    """A schedule that was installed, with notes for the person."""

    name: str
    at: str
    as_: str = Field(alias="as")
    notes: list[str]


class ScheduleList(Reply):
    """The schedules of this system, and the problem of a scheduler that cannot be read."""

    schedules: list[InstalledSchedule]
    problem: str | None = None
