"""The file that the log of runs is in: private, brought up to date, and moved aside when it is damaged."""

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from uraniborg.kernel.files import Locked, locked, make_private_folder
from uraniborg.kernel.sqlite import DatabaseUnusable, connect, create_file, migrate, reading

_FOREIGN: Final = ("no such", "already exists", "no column", "columns", "decode")
"""What SQLite says of a file that is whole, and holds something else than it should."""

_MIGRATIONS: Final = [
    (
        "runs",
        """
        CREATE TABLE runs (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, workflow TEXT NOT NULL, source TEXT NOT NULL,
            status TEXT NOT NULL DEFAULT 'running', started_at TEXT NOT NULL, ended_at TEXT, duration_ms NUMERIC,
            failed_node TEXT, error TEXT, reused INTEGER NOT NULL DEFAULT 0, resumed_from TEXT, inputs TEXT,
            outputs TEXT, pid INTEGER NOT NULL, birth TEXT NOT NULL
        );
        CREATE INDEX runs_of_a_workflow ON runs (workflow, status);
        CREATE TABLE nodes (
            run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, seq INTEGER NOT NULL, node TEXT NOT NULL,
            type TEXT NOT NULL, status TEXT NOT NULL, action TEXT, started_at TEXT, duration_ms NUMERIC, error TEXT,
            note TEXT, PRIMARY KEY (run, seq)
        ) WITHOUT ROWID;
        CREATE TABLE tallies (
            workflow TEXT PRIMARY KEY, executions INTEGER NOT NULL DEFAULT 0, successes INTEGER NOT NULL DEFAULT 0,
            failures INTEGER NOT NULL DEFAULT 0, duration_ms NUMERIC NOT NULL DEFAULT 0
        ) WITHOUT ROWID;
        """,
    )
]


class RunLogFile:
    """One connection to the file, opened when it is first needed, that threads share in turn."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._opened: sqlite3.Connection | None = None
        self._identity: int | None = None
        self.notice: str | None = None

    @contextmanager
    def used(self, *, make: bool = False) -> Generator[sqlite3.Connection]:
        """The connection, for one at a time; to an empty log where there is no file and none is to be made.

        Raises DatabaseUnusable or DatabaseNewer.
        """
        with self._lock:
            try:
                if self._opened is None and not make and not os.path.lexists(self._path):
                    with closing(_up_to_date(connect(Path(":memory:")))) as empty:
                        yield empty
                    return
                if self._opened is None:
                    self._opened = self._connection()
                with reading(self._opened):
                    yield self._opened
            except (sqlite3.Error, DatabaseUnusable) as exc:
                self.close()  # one that broke is not used again
                if isinstance(exc, DatabaseUnusable):
                    raise
                raise DatabaseUnusable(f"The log of runs cannot be used: {exc}.", hint="Move it aside.") from exc

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def is_replaced(self, error: DatabaseUnusable) -> bool:
        """Whether the error came of a damaged file and that is out of the way now, so that trying again helps."""
        if not _is_damage(error):
            return False
        try:
            with self._lock, locked(self._path.with_name(f"{self._path.name}.lock"), timeout_s=10):
                if _identity_of(self._path) == self._identity:  # else another process was first
                    name = _move_aside(self._path)
                    self.notice = f"The log of runs was damaged. It is kept as '{name}', and a new one begun."
        except (OSError, Locked):
            return False
        return True

    def _connection(self) -> sqlite3.Connection:
        with suppress(OSError):  # `connect` reports the problem
            make_private_folder(self._path.parent)
            create_file(self._path)
        self._identity = _identity_of(self._path)
        is_writable = all(os.access(path, os.W_OK) for path in (self._path, self._path.parent))
        return _up_to_date(connect(self._path, readonly=self._identity is not None and not is_writable))


def _up_to_date(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        migrate(connection, _MIGRATIONS)
    except BaseException:
        connection.close()
        raise
    return connection


def _move_aside(path: Path) -> str:
    """The new name. What SQLite keeps beside the file goes first: a new file must not meet it."""
    names = (f"{path.name}.damaged-{number}" for number in count(1))
    name = next(name for name in names if not path.with_name(name).exists())
    for tail in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            path.with_name(path.name + tail).rename(path.with_name(name + tail))
    return name


def _identity_of(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _is_damage(error: DatabaseUnusable) -> bool:
    code = getattr(error.__cause__, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_ERROR:
        return any(sign in str(error.__cause__) for sign in _FOREIGN)
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
