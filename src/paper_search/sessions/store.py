"""What a session leaves on disk: one SQLite file each, written before anything is answered, and a lease beside it.

A file holds the session's journal: `session` (how it was asked for), the engine's steps and decisions, `checkpoint-N`,
and in the end `result`, if there is one, and `ended`. Each is written once. A file of an older version is copied and
migrated when it is opened; one of a newer version is refused.
"""

import math
import os
import re
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

from paper_search.errors import SessionInterrupted, SessionNotFound
from uraniborg.kernel.files import Lease, make_private_folder, sync_folder
from uraniborg.kernel.settings import own_folder
from uraniborg.kernel.sqlite import DatabaseMissing, Migration, connect, copies_of, migrate, reading, transaction

REVIEWS: Final = "reviews"
"""The folder beside that of the sessions with the marks of unfinished reviews."""
_ID: Final = re.compile(r"[0-9a-f]{32}")
_MIGRATIONS: Final[list[Migration]] = [
    ("steps", "CREATE TABLE steps (step TEXT NOT NULL UNIQUE, value TEXT NOT NULL)"),
]
"""The format of a session's file. Append a named migration when a step changes its shape; never edit an earlier one."""


class Held(Protocol):
    """A lease on a session: as long as it is held, no other process runs the session."""

    def release(self) -> None: ...


class SessionStore(Protocol):
    """What every store of sessions does. All of it may block: from a coroutine call it in a thread.

    A session that is not there raises SessionNotFound.
    """

    def write(self, session_id: str, step: str, value: str, *, first: bool = False) -> None:
        """Keep what a step gave; a step that has been kept stays as it is. The `first` step makes the session."""
        ...

    def read(self, session_id: str, step: str) -> str | None: ...

    def steps(self, session_id: str) -> list[str]:
        """The names of the steps kept, in the order they were."""
        ...

    def lease(self, session_id: str) -> Held | None:
        """The right to run the session, or None when somebody else has it."""
        ...

    def touch(self, session_id: str) -> None:
        """Note that the session is still of use. Whoever takes its lease does so too."""
        ...

    def delete(self, session_id: str) -> None:
        """Delete the session for good; it need not be there."""
        ...

    def unused_since(self, moment: datetime) -> list[str]:
        """The sessions that nobody has used since."""
        ...

    def last_used(self) -> dict[str, datetime]:
        """Return the ids of all sessions with the time each was last used, the latest first."""
        ...


class SessionFiles:
    """Sessions as files in `folder`: `sessions` in the data folder unless told otherwise."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or own_folder("data", "paper_search", "sessions")

    def write(self, session_id: str, step: str, value: str, *, first: bool = False) -> None:
        path = self._path(session_id)
        if first and not path.exists():
            self._create(session_id, path, step, value)
            return
        with self._opened(session_id) as connection:
            _insert(connection, step, value)

    def read(self, session_id: str, step: str) -> str | None:
        with self._opened(session_id) as connection, reading(connection):
            row: Any = connection.execute("SELECT value FROM steps WHERE step = ?", (step,)).fetchone()
        return row and row[0]

    def steps(self, session_id: str) -> list[str]:
        with self._opened(session_id) as connection, reading(connection):
            return [step for (step,) in connection.execute("SELECT step FROM steps ORDER BY rowid")]

    def lease(self, session_id: str) -> Held | None:
        path = self._path(session_id)
        if not path.is_file():  # a lock would be left behind for nothing
            raise SessionNotFound(session_id)
        lease = Lease(path.with_suffix(".lock"))
        with _interrupting(session_id):
            if not lease.take():
                return None
        self.touch(session_id)
        return lease

    def touch(self, session_id: str) -> None:
        with suppress(OSError):  # one that cannot be written cannot be deleted for its age either
            os.utime(self._path(session_id))

    def delete(self, session_id: str) -> None:
        path = self._path(session_id)
        with _interrupting(session_id):
            for ending in (".db", ".db-wal", ".db-shm", ".new", ".new-wal", ".new-shm", ".lock"):
                path.with_suffix(ending).unlink(missing_ok=True)
            (self._folder.parent / REVIEWS / f"{session_id}.json").unlink(missing_ok=True)
            for copy in copies_of(path) if path.parent.is_dir() else ():
                copy.unlink(missing_ok=True)

    def unused_since(self, moment: datetime) -> list[str]:
        files = [*self._folder.glob("*.db"), *self._folder.glob("*.new")]
        return [file.stem for file in files if _written(file) < moment.timestamp()]

    def last_used(self) -> dict[str, datetime]:
        times = {file.stem: _written(file) for file in self._folder.glob("*.db") if _ID.fullmatch(file.stem)}
        latest_first = sorted(times.items(), key=lambda item: (-item[1], item[0]))
        return {name: datetime.fromtimestamp(time, UTC) for name, time in latest_first if time < math.inf}

    def _create(self, session_id: str, path: Path, step: str, value: str) -> None:
        """Under its name the file is there only once the session is in it."""
        with _interrupting(session_id):
            make_private_folder(path.parent)
            with closing(connect(path.with_suffix(".new"), durable=True)) as connection:
                migrate(connection, _MIGRATIONS)
                _insert(connection, step, value)
                with reading(connection):  # closing would do the same, and say nothing when it fails
                    unfinished, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if unfinished:
                raise SessionInterrupted(session_id, "its file could not be written whole.")
            path.with_suffix(".new").replace(path)
            sync_folder(path.parent)

    def _path(self, session_id: str) -> Path:
        if not _ID.fullmatch(session_id):
            raise SessionNotFound(session_id)
        return self._folder / f"{session_id}.db"

    @contextmanager
    def _opened(self, session_id: str) -> Generator[sqlite3.Connection]:
        try:
            opened = connect(self._path(session_id), create=False, durable=True)
        except DatabaseMissing:
            raise SessionNotFound(session_id) from None
        with closing(opened) as connection:
            _refuse_emptied(connection, session_id)
            migrate(connection, _MIGRATIONS)
            yield connection


def _insert(connection: sqlite3.Connection, step: str, value: str) -> None:
    with transaction(connection):
        connection.execute("INSERT INTO steps VALUES (?, ?) ON CONFLICT (step) DO NOTHING", (step, value))


def _refuse_emptied(connection: sqlite3.Connection, session_id: str) -> None:
    """A journal that has lost what it held must not be begun anew."""
    with reading(connection):
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'steps'").fetchone() is None:
            raise SessionInterrupted(session_id, "its journal has lost what it held.")


@contextmanager
def _interrupting(session_id: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise SessionInterrupted(session_id, f"{error.strerror or 'the disk failed'}.") from error


def _written(file: Path) -> float:
    """When the file was last written to; that of one which another process has just deleted counts as new."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return math.inf


class MemorySessions:
    """The same store for one process and as long as it lives: for tests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, dict[str, str]] = {}
        self._leased: set[str] = set()

    def write(self, session_id: str, step: str, value: str, *, first: bool = False) -> None:
        with self._lock:
            if first:
                self._sessions.setdefault(session_id, {})
            self._steps(session_id).setdefault(step, value)

    def read(self, session_id: str, step: str) -> str | None:
        with self._lock:
            return self._steps(session_id).get(step)

    def steps(self, session_id: str) -> list[str]:
        with self._lock:
            return list(self._steps(session_id))

    def lease(self, session_id: str) -> Held | None:
        with self._lock:
            self._steps(session_id)
            if session_id in self._leased:
                return None
            self._leased.add(session_id)
            return _MemoryLease(self._leased, session_id)

    def touch(self, session_id: str) -> None:
        """Nothing: what is only in memory does not grow old."""

    def delete(self, session_id: str) -> None:
        with self._lock:
            self._sessions.pop(session_id, None)

    def unused_since(self, moment: datetime) -> list[str]:
        """None: what is only in memory does not grow old."""
        return []

    def last_used(self) -> dict[str, datetime]:
        with self._lock:
            return dict.fromkeys(reversed(self._sessions), datetime.now(UTC))

    def _steps(self, session_id: str) -> dict[str, str]:
        if session_id not in self._sessions:
            raise SessionNotFound(session_id)
        return self._sessions[session_id]


class _MemoryLease:
    def __init__(self, leased: set[str], session_id: str) -> None:
        self._leased = leased
        self._session_id = session_id

    def release(self) -> None:
        self._leased.discard(self._session_id)
