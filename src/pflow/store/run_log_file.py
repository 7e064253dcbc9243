"""Open the SQLite file of the log of runs: private, migrated, and renamed when it is damaged."""

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

from pflow.store.run_log_rows import CHANGES, ITEMS_AND_MESSAGES
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.store.files import Locked, hold_lock, make_private_folder
from uraniborg.kernel.store.sqlite import (
    DatabaseUnusable,
    connect,
    connect_or_read,
    create_database_file,
    migrate,
    read_without_files,
    translate_read_errors,
)

_SCHEMA_ERRORS: Final = ("no such", "already exists", "no column", "columns", "decode")
"""Words in the errors of SQLite for an intact file that has other tables than expected."""

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
    ),
    ("node_values", "ALTER TABLE nodes ADD COLUMN params TEXT; ALTER TABLE nodes ADD COLUMN outputs TEXT;"),
    ("runs_by_workflow", "CREATE INDEX last_runs_of_a_workflow ON runs (workflow, number)"),
    (
        "run_details",
        """
        ALTER TABLE runs ADD COLUMN warnings TEXT;
        ALTER TABLE nodes ADD COLUMN inputs TEXT;
        ALTER TABLE nodes ADD COLUMN messages TEXT;
        CREATE TABLE graphs (run INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE, graph TEXT NOT NULL);
        """,
    ),
    ITEMS_AND_MESSAGES,
    ("starters", "ALTER TABLE runs ADD COLUMN starter TEXT"),
    CHANGES,
]


class RunLogFile:
    """One connection to the file, opened when it is first needed, which threads use one at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._opened: sqlite3.Connection | None = None
        self._inode: int | None = None
        self.notice: str | None = None

    @contextmanager
    def open_or_reuse_connection(self, *, create: bool = False) -> Generator[sqlite3.Connection]:
        """Yield the connection; that of an empty log in memory if there is no file and `create` is False.

        Raise DatabaseUnusable or DatabaseNewer.
        """
        with self._lock:
            try:
                if self._opened is None and not create and not os.path.lexists(self._path):
                    with closing(_migrate_connection(connect(Path(":memory:")))) as empty:
                        yield empty
                    return
                try:
                    self._opened = self._opened or self._create_and_open_file()
                except DatabaseUnusable as exc:
                    if create or (unwritten := read_without_files(self._path, exc)) is None:
                        raise
                    with closing(unwritten):
                        yield unwritten
                    return
                with translate_read_errors(self._opened):
                    yield self._opened
            except (sqlite3.Error, DatabaseUnusable) as exc:
                self.close()  # a connection that failed is not used again
                if isinstance(exc, DatabaseUnusable):
                    raise
                raise DatabaseUnusable(
                    f"The log of runs cannot be used: {exc}.", hint="Rename the file; the next run creates a new one."
                ) from exc

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def rename_file_if_damaged(self, error: DatabaseUnusable) -> bool:
        """Rename the file if the error means that it is damaged, and return True if a retry can succeed.

        A file that a newer version of this program has changed meanwhile is not damaged.
        """
        if not _is_damage_error(error) or _has_newer_migrations(self._path):
            return False
        try:
            with self._lock, hold_lock(self._path.with_name(f"{self._path.name}.lock"), timeout_s=10):
                if _read_inode(self._path) == self._inode:  # else another process was first
                    name = _rename_damaged_file(self._path)
                    self.notice = f"The log of runs was damaged. It was renamed to '{name}', and a new one was created."
        except (OSError, Locked):
            return False
        return True

    def _create_and_open_file(self) -> sqlite3.Connection:
        with suppress(OSError):  # `connect` reports the problem
            make_private_folder(self._path.parent)
            create_database_file(self._path)
        self._inode = _read_inode(self._path)
        return _migrate_connection(connect_or_read(self._path))


def _migrate_connection(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        migrate(connection, _MIGRATIONS)
    except BaseException:
        connection.close()
        raise
    return connection


def _rename_damaged_file(path: Path) -> str:
    """Rename the file and return its new name. The files that SQLite keeps beside it go first."""
    names = (f"{path.name}.damaged-{number}" for number in count(1))
    name = next(name for name in names if not path.with_name(name).exists())
    for tail in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            path.with_name(path.name + tail).rename(path.with_name(name + tail))
    return name


def _has_newer_migrations(path: Path) -> bool:
    """Return True if the file has migrations that this version does not know."""
    try:
        with closing(connect(path, readonly=True)) as connection:
            applied = {name for (name,) in connection.execute("SELECT name FROM migrations")}
    except (sqlite3.Error, UraniborgError):
        return False
    return bool(applied - {name for name, _ in _MIGRATIONS})


def _read_inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _is_damage_error(error: DatabaseUnusable) -> bool:
    code = getattr(error.__cause__, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_ERROR:
        return any(sign in str(error.__cause__) for sign in _SCHEMA_ERRORS)
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
