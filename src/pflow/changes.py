"""Record who changed what in a pflow home, apart from runs, before the change itself."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

if TYPE_CHECKING:
    from pflow.engine.runlog import RunLog
    from pflow.engine.runlog_tables import Change, StoredChange

T = TypeVar("T")

_log: Final = get_logger(__name__)


@dataclass(frozen=True)
class ChangeRecord:
    """The record of the changes in one pflow home, in the file of its runs."""

    home: Path

    def add(self, change: "Change", subject: str, actor: Actor | None, revision: str = "") -> None:
        """Record who makes a change, by default the program that runs this process.

        A record that cannot be written does not stop the change: the log of the program then states who made it.
        """
        actor = actor or get_process_actor()
        try:
            self._call(lambda log: log.record_change(change, subject, revision, actor))
        except (UraniborgError, OSError) as exc:
            who = actor.model_dump()
            _log.exception("a change is not recorded", exc=exc, change=change, subject=subject, actor=who)

    def list_all(self) -> "list[StoredChange]":
        """Return the changes that are stored, the last one last. Raise UraniborgError or OSError."""
        return self._call(lambda log: log.list_changes())

    def list_actors(self, change: "Change") -> dict[tuple[str, str], Actor | None]:
        """Return who made the last change of this kind, by subject and revision; nothing if it cannot be read."""
        try:
            return self._call(lambda log: log.list_change_actors(change))
        except (UraniborgError, OSError):
            return {}

    def find_actor(self, change: "Change", subject: str, revision: str = "") -> Actor | None:
        """Return who made the last change of this subject and revision, or None if that is not known."""
        try:
            return self._call(lambda log: log.find_change_actor(change, subject, revision))
        except (UraniborgError, OSError):
            return None

    def _call(self, use: "Callable[[RunLog], T]") -> T:
        from pflow.engine.runlog import RunLog

        with closing(RunLog(self.home / "runs.db")) as log:
            return use(log)
