"""Select the schedulers of this system, and list and remove the schedules that are installed on it."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from pflow.changes import ChangeRecord
from pflow.errors import LibraryUnwritable, ScheduleNotFound
from pflow.library.names import validate_name
from pflow.scheduling.cron import Cron
from pflow.scheduling.launchd import Launchd
from pflow.scheduling.scheduler import Kind, Scheduler
from pflow.scheduling.systemd import Systemd
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.files import hold_lock

if TYPE_CHECKING:
    from pflow.workflow_replies import InstalledSchedule

_CLASSES: Final[dict[Kind, type[Scheduler]]] = {"systemd": Systemd, "cron": Cron, "launchd": Launchd}
_LOCK: Final = ".schedule.lock"
_LOCK_S: Final = 60.0


def select_scheduler(kind: Kind | None, platform: str, env: Mapping[str, str]) -> Scheduler:
    """Return the scheduler of this kind, or else that of the platform: launchd, systemd where it is, or cron."""
    if kind is None and platform == "darwin":
        kind = "launchd"
    if kind is None:
        kind = "systemd" if Systemd(env).is_available else "cron"
    return _CLASSES[kind](env)


def list_schedulers(kind: Kind | None, env: Mapping[str, str]) -> list[Scheduler]:
    return [one(env) for known, one in _CLASSES.items() if kind in (None, known)]


def list_installed_schedules(home: Path, kind: Kind | None = None) -> "list[InstalledSchedule]":
    """Return the schedules of one scheduler or of all, with who added them. Raise SchedulerUnavailable."""
    found = [one for scheduler in list_schedulers(kind, os.environ) for one in scheduler.list_schedules()]
    actors = ChangeRecord(home).list_actors("schedule") if found else {}
    return [
        {
            "name": one.name,
            "at": one.at,
            "as": one.kind,
            "path": str(one.path) if one.path else None,
            "actor": actor and actor.model_dump(),
        }
        for one in found
        for actor in [actors.get((one.name, format_revision(one.kind, one.at)))]
    ]


def find_scheduler_actor(home: Path, name: str, at: str) -> Actor | None:
    """Return who scheduled a workflow at these times, or None if that is not known."""
    actors = ChangeRecord(home).list_actors("schedule")
    wanted = {(name, format_revision(kind, at)) for kind in get_args(Kind)}
    return next((actor for key, actor in reversed(actors.items()) if key in wanted), None)


def format_revision(kind: Kind, at: str) -> str:
    """Return the text that tells the schedules of one workflow apart."""
    return f"{kind} {at}"


def remove_schedule(home: Path, name: str, kind: Kind | None = None, actor: Actor | None = None) -> list[str]:
    """Remove the schedule of a workflow and return the schedulers that had it.

    `actor` is who removes it, by default the program that runs this process. Raise ScheduleNotFound, SecurityError, or
    the errors of `Scheduler.remove_job`.
    """
    validate_name(name)
    with hold_schedule_lock(home):
        ChangeRecord(home).add("unschedule", name, actor)
        removed = [one.kind for one in list_schedulers(kind, os.environ) if one.remove_job(name)]
    if not removed:
        raise ScheduleNotFound(
            f"'{name}' is not scheduled.", hint="`pflow schedule --list` lists schedules.", name=name
        )
    return removed


@contextmanager
def hold_schedule_lock(home: Path) -> Generator[None]:
    """Hold the lock of the schedules: a crontab is read and written as a whole. Raise LibraryUnwritable or Locked."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise LibraryUnwritable(_LOCK, exc) from exc
    with hold_lock(home / _LOCK, _LOCK_S):
        yield
