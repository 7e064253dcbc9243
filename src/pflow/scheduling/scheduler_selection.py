"""Select the scheduler of this system."""

from collections.abc import Mapping
from typing import Final

from pflow.scheduling.cron import Cron
from pflow.scheduling.launchd import Launchd
from pflow.scheduling.scheduler import Kind, Scheduler
from pflow.scheduling.systemd import Systemd

_CLASSES: Final[dict[Kind, type[Scheduler]]] = {"systemd": Systemd, "cron": Cron, "launchd": Launchd}


def select_scheduler(kind: Kind | None, platform: str, env: Mapping[str, str]) -> Scheduler:
    """Return the scheduler of this kind, or else that of the platform: launchd, systemd where it is, or cron."""
    if kind is None and platform == "darwin":
        kind = "launchd"
    if kind is None:
        kind = "systemd" if Systemd(env).is_available else "cron"
    return _CLASSES[kind](env)


def list_schedulers(kind: Kind | None, env: Mapping[str, str]) -> list[Scheduler]:
    return [one(env) for known, one in _CLASSES.items() if kind in (None, known)]
