"""Store universes in an SQLite file. One thread writes, others read; other processes may do both."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import local
from typing import Any, Final, TypeVar

from universe.errors import StoreUnavailable
from universe.store.high_water_mark_file import MarkFile
from universe.store.high_water_marks import Head
from universe.store.interface import (
    PAGE_BYTES,
    BranchSource,
    ChangeBroadcast,
    Deletion,
    KeyUse,
    LogChange,
    StoredEntry,
    StoredSnapshot,
    UniverseRecord,
    make_closed_error,
)
from universe.store.sqlite_writer import (
    HEADS,
    MIGRATIONS,
    GroupWriter,
    append_entries,
    delete_universe,
    insert_universe,
)
from uraniborg.kernel.ids import bind_context
from uraniborg.kernel.settings import make_own_folder_private
from uraniborg.kernel.store.sqlite import DatabaseUnusable, connect_or_read, migrate, translate_read_errors

Value = TypeVar("Value")

_READERS: Final = 4
_POLL_S: Final = 0.2
"""The interval between checks for changes by other processes."""

_LARGEST_VERSION: Final = 2**62
# A damaged database may have text in the place of bytes.
_SELECT_ENTRIES: Final = (
    "SELECT version, kind, CAST(body AS BLOB), CAST(events AS BLOB), at, CAST(digest AS BLOB), CAST(author AS TEXT), "
    "CAST(identity AS TEXT) FROM log WHERE "
)
_LIST_START: Final = ("~", "")
"""A position in the list of universes before the newest one."""


class SqliteStore:
    """A `Store` in the file at `path`, which is created if it does not exist."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.marks: MarkFile | None = MarkFile(path.with_name(f"{path.name}.mark"))
        self._file: tuple[int, int] | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._local = local()
        self._open_connections: list[sqlite3.Connection] = []
        self._writer: GroupWriter | None = None
        self._polling: asyncio.Task[None] | None = None
        self._broadcast = ChangeBroadcast()
        self._versions: dict[str, int] = {}

    async def open(self) -> None:
        self._threads = ThreadPoolExecutor(_READERS, thread_name_prefix="universe-reader")
        self._local = local()
        try:
            connection = await self._run_in_reader_thread(self._connect_and_migrate)
            watching = await self._run_in_reader_thread(
                self._connect_and_migrate
            )  # a separate connection notices the writes of all others
            number, versions = await self._run_in_reader_thread(_read_versions_if_changed, watching, None)
            await self._run_in_reader_thread(self._record_losses_and_advance_marks, watching)
        except DatabaseUnusable as exc:
            await self.close()
            raise _make_unavailable_error(exc) from exc
        self._file = _identify_file(self._path)
        self._writer = GroupWriter(
            connection,
            asyncio.get_running_loop(),
            before_transaction=self._check_file_unchanged,
            after_transaction=self._schedule_marks,
        )
        self._versions = versions or {}
        self._polling = asyncio.create_task(self._poll_and_publish_changes(watching, number))

    async def close(self) -> None:
        self._broadcast.close()
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.gather(self._polling, return_exceptions=True)
            self._polling = None
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
            self._writer = None
        if self._threads is not None:
            await asyncio.to_thread(self._threads.shutdown)
            self._threads = None
        for connection in self._open_connections:
            connection.close()
        self._open_connections.clear()
        if self.marks is not None:
            await asyncio.to_thread(self.marks.close)

    async def ping(self) -> None:
        await self._run_in_writer(lambda connection: connection.execute("SELECT 1 FROM universes LIMIT 1").fetchone())

    async def create(
        self, record: UniverseRecord, entries: Sequence[StoredEntry] = (), *, source: BranchSource | None = None
    ) -> None:
        await self._run_in_writer(partial(insert_universe, record=record, entries=entries, source=source))
        self._publish(LogChange(record.id, record.version))

    async def rename(self, universe_id: str, name: str, at: str, by: str | None = None) -> bool:
        sql = "UPDATE universes SET name = ?, updated_at = ?, renamed_by = ? WHERE id = ? RETURNING version"
        renamed = await self._run_in_writer(
            lambda connection: connection.execute(sql, (name, at, by, universe_id)).fetchone()
        )
        if renamed:
            self._publish(LogChange(universe_id, renamed[0]))
        return renamed is not None

    async def delete(self, universe_id: str, at: str = "", by: str | None = None) -> bool:
        deleted = await self._run_in_writer(
            partial(delete_universe, universe_id=universe_id, marks=self.marks, at=at, by=by)
        )
        if deleted:
            self._publish(LogChange(universe_id, None))
        return deleted

    async def read_record(self, universe_id: str) -> UniverseRecord | None:
        rows = await self._query_rows("SELECT * FROM universes WHERE id = ?", (universe_id,))
        return UniverseRecord(*rows[0]) if rows else None

    async def list_deletions(self, *, limit: int) -> list[Deletion]:
        sql = "SELECT * FROM deletions ORDER BY deleted_at DESC, universe_id LIMIT ?"
        return [Deletion(*row) for row in await self._query_rows(sql, (limit,))]

    async def list_records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[UniverseRecord]:
        sql = "SELECT * FROM universes WHERE (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?"
        return [UniverseRecord(*row) for row in await self._query_rows(sql, (*(before or _LIST_START), limit))]

    async def append(
        self,
        universe_id: str,
        expected_version: int,
        entries: Sequence[StoredEntry],
        key_uses: Sequence[KeyUse] = (),
        *,
        created_at: str | None = None,
    ) -> None:
        work = partial(
            append_entries,
            universe_id=universe_id,
            expected_version=expected_version,
            entries=entries,
            key_uses=key_uses,
            created_at=created_at,
        )
        await self._run_in_writer(work)
        self._publish(LogChange(universe_id, entries[-1].version))

    async def read_entries(
        self, universe_id: str, *, after: int, limit: int, upto: int | None = None
    ) -> list[StoredEntry]:
        sql = (
            _SELECT_ENTRIES + "universe_id = ?1 AND version IN (SELECT version FROM "  # noqa: S608
            "(SELECT version, length(body) AS size, SUM(length(body)) OVER (ORDER BY version) AS total "
            "FROM log WHERE universe_id = ?1 AND version > ?2 AND version <= ?3 ORDER BY version LIMIT ?4) "
            "WHERE total - size < ?5) ORDER BY version"
        )
        rows = await self._query_rows(sql, (universe_id, max(after, 0), _clamp_version(upto), limit, PAGE_BYTES))
        return [StoredEntry(*row) for row in rows]

    async def find_last_reference(self, universe_id: str, *, after: int, upto: int) -> StoredEntry | None:
        sql = (
            _SELECT_ENTRIES + "universe_id = ? AND version > ? AND version <= ? AND kind = 'reference' "
            "ORDER BY version DESC LIMIT 1"
        )
        rows = await self._query_rows(sql, (universe_id, max(after, 0), _clamp_version(upto)))
        return StoredEntry(*rows[0]) if rows else None

    async def find_change_start(self, universe_id: str, version: int) -> StoredEntry | None:
        # The events of a command are not needed, and behind a large body they are slow to read.
        sql = (
            "SELECT version, kind, x'', CASE WHEN kind IN ('restore', 'reference') THEN CAST(events AS BLOB) "
            "ELSE x'' END, '' FROM log WHERE universe_id = ? AND version <= ? AND kind <> 'continued' "
            "ORDER BY version DESC LIMIT 1"
        )
        rows = await self._query_rows(sql, (universe_id, _clamp_version(version)))
        return StoredEntry(*rows[0]) if rows else None

    async def list_dependent_branches(self, universe_id: str) -> list[str]:
        sql = "SELECT universe_id FROM branches WHERE source_id = ?"
        return [key for (key,) in await self._query_rows(sql, (universe_id,))]

    async def find_key_use(self, universe_id: str, key: str) -> KeyUse | None:
        sql = "SELECT key, request, first, last FROM keys WHERE universe_id = ? AND key = ?"
        rows = await self._query_rows(sql, (universe_id, key))
        return KeyUse(*rows[0]) if rows else None

    async def find_latest_snapshot(self, universe_id: str, upto: int | None = None) -> StoredSnapshot | None:
        sql = (
            "SELECT version, CAST(state AS BLOB), CAST(digest AS BLOB) FROM snapshots "
            "WHERE universe_id = ? AND version <= ? ORDER BY version DESC LIMIT 1"
        )
        rows = await self._query_rows(sql, (universe_id, _clamp_version(upto)))
        return StoredSnapshot(*rows[0]) if rows else None

    async def list_snapshot_versions(self, universe_id: str) -> list[int]:
        sql = "SELECT version FROM snapshots WHERE universe_id = ? ORDER BY version"
        return [version for (version,) in await self._query_rows(sql, (universe_id,))]

    async def put_snapshot(
        self,
        universe_id: str,
        snapshot: StoredSnapshot,
        versions_to_keep: Sequence[int] = (),
        *,
        created_at: str | None = None,
    ) -> None:
        def write_snapshot(connection: sqlite3.Connection) -> None:
            found = connection.execute("SELECT created_at FROM universes WHERE id = ?", (universe_id,)).fetchone()
            if found is None or created_at not in (None, found[0]):
                return
            connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", (universe_id, *snapshot))
            if snapshot.version == 1:
                connection.execute("DELETE FROM branches WHERE universe_id = ?", (universe_id,))
            if versions_to_keep:
                kept_versions = json.dumps([*versions_to_keep, snapshot.version])
                sql = "DELETE FROM snapshots WHERE universe_id = ? AND version NOT IN (SELECT value FROM json_each(?))"
                connection.execute(sql, (universe_id, kept_versions))

        await self._run_in_writer(write_snapshot)

    async def list_log_heads(self) -> list[Head]:
        return [Head(*row) for row in await self._query_rows(HEADS, ())]

    def watch_changes(self) -> AsyncIterator[LogChange]:
        return self._broadcast.watch_changes()

    def _record_losses_and_advance_marks(self, connection: sqlite3.Connection) -> None:
        """Compare the marks with the logs, which are read after them."""
        if self.marks is not None:
            known = self.marks.flush_and_read_marks()
            with translate_read_errors(connection):
                heads = [Head(*row) for row in connection.execute(HEADS)]
            self.marks.record_losses_and_advance_marks(known, heads)

    def _schedule_marks(self, committed: list[Any]) -> None:
        if self.marks is not None:
            self.marks.schedule_marks([one for one in committed if isinstance(one, Head)])

    def _publish(self, change: LogChange) -> None:
        """Publish a change and record its version, so that polling does not publish it again."""
        if change.version is None:
            self._versions.pop(change.universe_id, None)
        else:
            self._versions[change.universe_id] = change.version
        self._broadcast.publish(change)

    async def _poll_and_publish_changes(self, watching: sqlite3.Connection, number: int) -> None:
        """Publish changes of other processes, found by polling; a poll that fails is tried again at the next turn."""
        while True:
            await asyncio.sleep(_POLL_S)
            try:
                number, now = await self._run_in_reader_thread(_read_versions_if_changed, watching, number)
            except (DatabaseUnusable, sqlite3.Error):
                continue  # reads and writes report the same error to their callers
            if now is None:
                continue
            for universe_id in self._versions.keys() - now.keys():
                self._publish(LogChange(universe_id, None))
            for universe_id, version in now.items():
                if self._versions.get(universe_id) != version:
                    self._publish(LogChange(universe_id, version))

    def _check_file_unchanged(self) -> None:
        """Raise DatabaseUnusable if the file was removed or replaced, because writes to it would be lost."""
        if _identify_file(self._path) != self._file:
            raise DatabaseUnusable(
                f"The database '{self._path.name}' was removed or replaced while it was in use.",
                hint="Restore the file, or restart the program.",
            )

    async def _run_in_writer(self, work: Callable[[sqlite3.Connection], Value]) -> Value:
        """Return the result of the work, done in the writing thread. Raise StoreUnavailable."""
        if self._writer is None:
            raise make_closed_error()
        try:
            return await self._writer.submit(work)
        except DatabaseUnusable as exc:
            raise _make_unavailable_error(exc) from exc

    async def _query_rows(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows of a query, run in a reading thread. Raise StoreUnavailable."""
        try:
            return await self._run_in_reader_thread(self._query_rows_in_this_thread, sql, values)
        except DatabaseUnusable as exc:
            raise _make_unavailable_error(exc) from exc
        except OverflowError:
            return []  # no universe has such a version

    def _query_rows_in_this_thread(self, sql: str, values: Sequence[Any]) -> list[Any]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect_and_migrate()
        with translate_read_errors(connection):
            return connection.execute(sql, values).fetchall()

    def _connect_and_migrate(self) -> sqlite3.Connection:
        make_own_folder_private(self._path.parent)
        connection = connect_or_read(self._path, durable=True)
        migrate(connection, MIGRATIONS)
        self._open_connections.append(connection)
        return connection

    async def _run_in_reader_thread(self, function: Callable[..., Value], *arguments: Any) -> Value:
        if self._threads is None:
            raise make_closed_error()
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, bind_context(partial(function, *arguments))
        )


def _clamp_version(version: int | None) -> int:
    return _LARGEST_VERSION if version is None else min(version, _LARGEST_VERSION)


def _identify_file(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of the file; None if it does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _read_versions_if_changed(connection: sqlite3.Connection, seen: int | None) -> tuple[int, dict[str, int] | None]:
    """Return a number that changes with every commit of another connection and, if it changed, all versions."""
    with translate_read_errors(connection):
        (number,) = connection.execute("PRAGMA data_version").fetchone()
        return number, None if number == seen else dict(connection.execute("SELECT id, version FROM universes"))


def _make_unavailable_error(exc: DatabaseUnusable) -> StoreUnavailable:
    return StoreUnavailable(exc.message, hint=exc.hint)
