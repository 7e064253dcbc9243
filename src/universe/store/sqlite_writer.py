"""Write to SQLite in one thread: the tables, and the changes of a universe inside a transaction.

Changes that wait while the thread is busy are written together in one transaction.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from universe.errors import LogDamaged, UniverseNotFound
from universe.store.high_water_mark_file import MarkFile
from universe.store.high_water_marks import Head
from universe.store.interface import (
    BranchesDepend,
    BranchSource,
    KeyUse,
    StoredEntry,
    Superseded,
    UniverseRecord,
    make_exists_error,
)
from uraniborg.kernel.store.sqlite import DatabaseUnusable, transaction

Work = Callable[[sqlite3.Connection], Any]
_MAX_JOBS: Final = 512
"""The most jobs in one transaction."""
_ROWS_PER_STATEMENT: Final = 100
_ENTRY_VALUES: Final = f"(?1{', ?' * len(StoredEntry._fields)})"
_INSERT_ENTRIES: Final = [
    f"INSERT INTO log (universe_id, {', '.join(StoredEntry._fields)}) VALUES {', '.join([_ENTRY_VALUES] * rows)}"  # noqa: S608
    for rows in range(_ROWS_PER_STATEMENT + 1)
]
HEADS: Final = """
    SELECT universes.id, created_at, universes.version, CAST(ifnull(digest, x'') AS BLOB) FROM universes
    LEFT JOIN log ON log.universe_id = universes.id AND log.version = universes.version
"""

MIGRATIONS: Final = [
    (
        "0001 universes",
        """
        CREATE TABLE universes (
          id TEXT PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL,
          created_at TEXT NOT NULL, updated_at TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX universes_by_age ON universes (created_at DESC, id DESC);
        CREATE TABLE log (
          universe_id TEXT NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL,
          body BLOB NOT NULL, events BLOB NOT NULL, at TEXT NOT NULL, digest BLOB NOT NULL,
          PRIMARY KEY (universe_id, version)
        ) WITHOUT ROWID;
        CREATE TABLE snapshots (
          universe_id TEXT NOT NULL REFERENCES universes (id) ON DELETE CASCADE,
          version INTEGER NOT NULL, state BLOB NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (universe_id, version)
        );
        CREATE TABLE keys (
          universe_id TEXT NOT NULL REFERENCES universes (id) ON DELETE CASCADE,
          key TEXT NOT NULL, request BLOB NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
          PRIMARY KEY (universe_id, key)
        ) WITHOUT ROWID;
        """,
    ),
    ("0002 authors", "ALTER TABLE log ADD COLUMN author TEXT;"),
    (
        "0003 references",  # also of releases that read log entries of the kind `reference` and compressed states
        """
        CREATE TABLE branches (
          universe_id TEXT PRIMARY KEY REFERENCES universes (id) ON DELETE CASCADE,
          source_id TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX branches_by_source ON branches (source_id);
        """,
    ),
    ("0004 citations", "SELECT 1;"),  # releases without this migration cannot read states with a list of citations
    (
        "0005 actors",  # releases without this migration take entries with an identity for damaged
        """
        ALTER TABLE log ADD COLUMN identity TEXT;
        ALTER TABLE universes ADD COLUMN created_by TEXT;
        ALTER TABLE universes ADD COLUMN renamed_by TEXT;
        CREATE TABLE deletions (
          universe_id TEXT NOT NULL, created_at TEXT NOT NULL, name TEXT NOT NULL, version INTEGER NOT NULL,
          deleted_at TEXT NOT NULL, deleted_by TEXT NOT NULL, PRIMARY KEY (universe_id, created_at)
        ) WITHOUT ROWID;
        CREATE INDEX deletions_by_age ON deletions (deleted_at DESC);
        """,
    ),
]


class _Job(NamedTuple):
    """Work that waits for the writer, and the future for its result."""

    work: Work
    future: asyncio.Future[Any]


class GroupWriter:
    """A thread that runs work on the connection, many jobs in each commit. A job that raises is rolled back alone."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        loop: asyncio.AbstractEventLoop,
        *,
        before_transaction: Callable[[], None],
        after_transaction: Callable[[list[Any]], None],
    ) -> None:
        """Start the thread: it calls `before_transaction`, which may raise, and `after_transaction` with results."""
        self._connection = connection
        self._before_transaction = before_transaction
        self._after_transaction = after_transaction
        self._loop = loop
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run_jobs, name="universe-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work) -> asyncio.Future[Any]:
        """Return a future with the result once it is on disk; it raises the error of the work, or DatabaseUnusable."""
        future = self._loop.create_future()
        self._queue.put(_Job(work, future))
        return future

    def close(self) -> None:
        """Finish waiting jobs and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run_jobs(self) -> None:
        while (first := self._queue.get()) is not None:
            jobs = [first]
            ending = False
            while len(jobs) < _MAX_JOBS:
                try:
                    job = self._queue.get_nowait()
                except queue.Empty:
                    break
                if job is None:
                    ending = True
                    break
                jobs.append(job)
            self._write_jobs(jobs)
            if ending:
                return

    def _write_jobs(self, jobs: list[_Job]) -> None:
        outcomes: list[tuple[asyncio.Future[Any], Any, BaseException | None]] = []
        try:
            self._before_transaction()
            with transaction(self._connection):
                if len(jobs) == 1:
                    outcomes = [(jobs[0].future, jobs[0].work(self._connection), None)]
                else:
                    outcomes = [(job.future, *_run_in_savepoint(self._connection, job.work)) for job in jobs]
        except Exception as exc:
            outcomes = [(job.future, None, exc) for job in jobs]
        self._set_results(outcomes)
        self._after_transaction([value for _, value, exc in outcomes if exc is None])

    def _set_results(self, outcomes: list[tuple[asyncio.Future[Any], Any, BaseException | None]]) -> None:
        def set_futures() -> None:
            for future, value, exc in outcomes:
                if future.done():
                    continue
                if exc is None:
                    future.set_result(value)
                else:
                    future.set_exception(exc)

        # Nobody waits for the futures of a closed loop.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(set_futures)


def _run_in_savepoint(connection: sqlite3.Connection, work: Work) -> tuple[Any, BaseException | None]:
    """Return the result or the error of the work, whose changes are rolled back if it raises."""
    connection.execute("SAVEPOINT job")
    try:
        value = work(connection)
    except Exception as exc:
        if isinstance(exc, DatabaseUnusable) or (isinstance(exc, sqlite3.Error) and not _is_fault_of_job(exc)):
            raise  # the whole transaction may be lost
        connection.execute("ROLLBACK TO job")
        connection.execute("RELEASE job")
        return None, exc
    connection.execute("RELEASE job")
    return value, None


def _is_fault_of_job(exc: sqlite3.Error) -> bool:
    """Return True if the error concerns this job alone."""
    return isinstance(exc, (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError))


def insert_universe(
    connection: sqlite3.Connection, record: UniverseRecord, entries: Sequence[StoredEntry], source: BranchSource | None
) -> Head:
    """Insert a universe with the first entries of its log. Raise Conflict if its id is taken.

    Raise UniverseNotFound if the source of a branch does not exist.
    """
    taken = connection.execute("SELECT 1 FROM universes WHERE id = ?", (record.id,)).fetchone()
    if taken is not None:
        raise make_exists_error(record.id)
    connection.execute("INSERT INTO universes VALUES (?, ?, ?, ?, ?, ?, ?)", record)
    if source is not None:
        sql = "INSERT INTO branches SELECT ?, id FROM universes WHERE id = ? AND created_at = ?"
        if not connection.execute(sql, (record.id, source.universe_id, source.created_at)).rowcount:
            raise UniverseNotFound(source.universe_id)
    _insert_entries(connection, record.id, entries)
    return Head(record.id, record.created_at, record.version, entries[-1].digest if entries else b"")


def delete_universe(
    connection: sqlite3.Connection, universe_id: str, marks: MarkFile | None, at: str, by: str | None
) -> bool:
    """Delete a universe with its log, and mark it as deleted by an actor. Return False if there is no such universe.

    Raise BranchesDepend.
    """
    if connection.execute("SELECT 1 FROM branches WHERE source_id = ?", (universe_id,)).fetchone():
        raise BranchesDepend
    found = connection.execute("SELECT created_at FROM universes WHERE id = ?", (universe_id,)).fetchone()
    if found and marks is not None:
        marks.mark_deleted(universe_id, found[0])
    if by is not None:
        sql = "INSERT OR REPLACE INTO deletions SELECT id, created_at, name, version, ?, ? FROM universes WHERE id = ?"
        connection.execute(sql, (at, by, universe_id))
    # The log has no foreign key, which would be looked up for every entry written.
    connection.execute("DELETE FROM log WHERE universe_id = ?", (universe_id,))
    return connection.execute("DELETE FROM universes WHERE id = ?", (universe_id,)).rowcount == 1


def append_entries(
    connection: sqlite3.Connection,
    universe_id: str,
    expected_version: int,
    entries: Sequence[StoredEntry],
    key_uses: Sequence[KeyUse],
    created_at: str | None,
) -> Head:
    """Append entries to a log at the version `expected_version`. Raise Superseded, UniverseNotFound or LogDamaged."""
    # An UPDATE with RETURNING takes five times as long as both statements.
    sql = "SELECT version, created_at FROM universes WHERE id = ?"
    found = connection.execute(sql, (universe_id,)).fetchone()
    if found is None or created_at not in (None, found[1]):
        raise UniverseNotFound(universe_id)
    if found[0] != expected_version:
        raise Superseded(found[0])
    last = entries[-1]
    sql = "UPDATE universes SET version = ?, updated_at = ? WHERE id = ?"
    connection.execute(sql, (last.version, last.at, universe_id))
    try:
        _insert_entries(connection, universe_id, entries)
    except sqlite3.IntegrityError as exc:
        raise LogDamaged(
            f"The log of universe {universe_id} has entries after version {expected_version}, its last version.",
            hint="`universe verify` lists all damage.",
            universeId=universe_id,
            sequence=expected_version + 1,
        ) from exc
    if key_uses:
        sql = "INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?)"
        connection.executemany(sql, [(universe_id, *use) for use in key_uses])
    return Head(universe_id, found[1], last.version, last.digest)


def _insert_entries(connection: sqlite3.Connection, universe_id: str, entries: Sequence[StoredEntry]) -> None:
    """Insert many entries with each statement, because other threads may run for long between statements."""
    for first in range(0, len(entries), _ROWS_PER_STATEMENT):
        some = entries[first : first + _ROWS_PER_STATEMENT]
        connection.execute(_INSERT_ENTRIES[len(some)], [universe_id, *chain.from_iterable(some)])
