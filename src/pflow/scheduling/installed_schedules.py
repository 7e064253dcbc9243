"""The schedules that are installed on this system: listing and removing them."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pflow.errors import LibraryUnwritable, ScheduleNotFound
from pflow.library.names import validate_name
from pflow.scheduling.scheduler import Kind
from pflow.scheduling.scheduler_selection import list_schedulers
from uraniborg.kernel.files import hold_lock

_LOCK: Final = ".schedule.lock"
_LOCK_S: Final = 60.0


def list_installed_schedules(kind: Kind | None = None) -> list[dict[str, Any]]:
    """Return the schedules of one scheduler or of all. Raise SchedulerUnavailable."""
    found = [one for scheduler in list_schedulers(kind, os.environ) for one in scheduler.list_schedules()]
    return [
        {"name": one.name, "at": one.at, "as": one.kind, "path": str(one.path) if one.path else None} for one in found
    ]


def remove_schedule(home: Path, name: str, kind: Kind | None = None) -> list[str]:
    """Remove the schedule of a workflow and return the schedulers that had it.

    Raise ScheduleNotFound, SecurityError, or the errors of `Scheduler.remove_job`.
    """
    validate_name(name)
    with hold_schedule_lock(home):
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
