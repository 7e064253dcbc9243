"""Universes in a SQLite file: one thread writes, others read beside it, and other processes may do both."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import local
from typing import Any, Final, TypeVar

from universe.errors import StoreUnavailable, UniverseNotFound
from universe.store.port import Change, Entry, KeyUse, Record, Snapshot, Superseded
from universe.store.writing import GroupWriter
from uraniborg.kernel.errors import Conflict
from uraniborg.kernel.sqlite import DatabaseUnusable, connect, migrate, reading

Value = TypeVar("Value")

_READERS: Final = 4
_POLL_S: Final = 0.2
"""How often to look whether another process has written. Within one process nothing waits for it."""

_LATEST: Final = ("~", "")
"""After any time."""

_MIGRATIONS: Final = [
    (
        "0001 universes",
        """
        CREATE TABLE universes (
          id TEXT PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL,
          created_at TEXT NOT NULL, updated_at TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX universes_by_age ON universes (created_at DESC, id DESC);
        CREATE TABLE log (
          universe_id TEXT NOT NULL REFERENCES universes (id) ON DELETE CASCADE,
          version INTEGER NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL, events BLOB NOT NULL,
          at TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (universe_id, version)
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
    )
]


class SqliteStore:
    """A `Store` in the file at `path`, which is made if it is not there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = ThreadPoolExecutor(_READERS, thread_name_prefix="universe-reader")
        self._local = local()
        self._open_connections: list[sqlite3.Connection] = []
        self._writer: GroupWriter | None = None
        self._watchers: set[asyncio.Queue[Change]] = set()

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        connection = await self._in_thread(self._connect)
        self._writer = GroupWriter(connection, loop)

    async def close(self) -> None:
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)
            self._writer = None
        await asyncio.to_thread(self._threads.shutdown)
        for connection in self._open_connections:
            connection.close()
        self._open_connections.clear()

    async def ping(self) -> None:
        await self._write(lambda connection: connection.execute("SELECT 1 FROM universes LIMIT 1").fetchone())

    async def create(self, record: Record, entries: Sequence[Entry] = ()) -> None:
        await self._write(partial(_create, record=record, entries=entries))
        self._tell(Change(record.id, record.version))

    async def rename(self, universe_id: str, name: str, at: str) -> bool:
        sql = "UPDATE universes SET name = ?, updated_at = ? WHERE id = ?"
        return await self._write(lambda connection: connection.execute(sql, (name, at, universe_id)).rowcount == 1)

    async def delete(self, universe_id: str) -> bool:
        sql = "DELETE FROM universes WHERE id = ?"
        deleted = await self._write(lambda connection: connection.execute(sql, (universe_id,)).rowcount == 1)
        if deleted:
            self._tell(Change(universe_id, None))
        return deleted

    async def record(self, universe_id: str) -> Record | None:
        rows = await self._read("SELECT * FROM universes WHERE id = ?", (universe_id,))
        return Record(*rows[0]) if rows else None

    async def records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[Record]:
        sql = "SELECT * FROM universes WHERE (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?"
        return [Record(*row) for row in await self._read(sql, (*(before or _LATEST), limit))]

    async def append(
        self, universe_id: str, expected: int, entries: Sequence[Entry], keys: Sequence[KeyUse] = ()
    ) -> None:
        rows = [
            (universe_id, entry.version, entry.kind, entry.body, entry.events, entry.at, entry.digest)
            for entry in entries
        ]
        uses = [(universe_id, *use) for use in keys]
        await self._write(partial(_append, universe_id=universe_id, expected=expected, rows=rows, uses=uses))
        self._tell(Change(universe_id, entries[-1].version))

    async def entries(self, universe_id: str, *, after: int, limit: int, upto: int | None = None) -> list[Entry]:
        sql = (
            "SELECT version, kind, body, events, at, digest FROM log "
            "WHERE universe_id = ? AND version > ? AND version <= ? ORDER BY version LIMIT ?"
        )
        rows = await self._read(sql, (universe_id, after, after + limit if upto is None else upto, limit))
        return [Entry(*row) for row in rows]

    async def key(self, universe_id: str, key: str) -> KeyUse | None:
        sql = "SELECT key, request, first, last FROM keys WHERE universe_id = ? AND key = ?"
        rows = await self._read(sql, (universe_id, key))
        return KeyUse(*rows[0]) if rows else None

    async def snapshot(self, universe_id: str, upto: int | None = None) -> Snapshot | None:
        sql = (
            "SELECT version, state, digest FROM snapshots WHERE universe_id = ? AND version <= ? "
            "ORDER BY version DESC LIMIT 1"
        )
        rows = await self._read(sql, (universe_id, 2**62 if upto is None else upto))
        return Snapshot(*rows[0]) if rows else None

    async def snapshot_versions(self, universe_id: str) -> list[int]:
        sql = "SELECT version FROM snapshots WHERE universe_id = ? ORDER BY version"
        return [version for (version,) in await self._read(sql, (universe_id,))]

    async def put_snapshot(self, universe_id: str, snapshot: Snapshot, keep: Sequence[int] = ()) -> None:
        def work(connection: sqlite3.Connection) -> None:
            there = connection.execute("SELECT 1 FROM universes WHERE id = ?", (universe_id,)).fetchone()
            if there is None:
                return
            connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", (universe_id, *snapshot))
            if keep:
                kept = json.dumps([*keep, snapshot.version])
                sql = "DELETE FROM snapshots WHERE universe_id = ? AND version NOT IN (SELECT value FROM json_each(?))"
                connection.execute(sql, (universe_id, kept))

        await self._write(work)

    async def changes(self) -> AsyncIterator[Change]:
        told: asyncio.Queue[Change] = asyncio.Queue()
        self._watchers.add(told)
        polling = asyncio.create_task(self._poll())
        try:
            while True:
                yield await told.get()
        finally:
            self._watchers.discard(told)
            polling.cancel()

    async def _poll(self) -> None:
        """Tells of what other processes wrote, which only leaves a number behind that can be looked at."""
        seen, versions = -1, {}
        connection = await self._in_thread(self._connect)  # the number is counted for each connection
        while True:
            try:
                number, now = await self._in_thread(_versions, connection, seen)
            except DatabaseUnusable:
                number, now = seen, None  # whoever asks for something is told
            if now is not None:
                for universe_id in versions.keys() - now.keys():
                    self._tell(Change(universe_id, None))
                for universe_id, version in now.items():
                    if seen != -1 and versions.get(universe_id) != version:
                        self._tell(Change(universe_id, version))
                versions = now
            seen = number
            await asyncio.sleep(_POLL_S)

    def _tell(self, change: Change) -> None:
        for told in self._watchers:
            told.put_nowait(change)

    async def _write(self, work: Callable[[sqlite3.Connection], Value]) -> Value:
        if self._writer is None:
            raise StoreUnavailable("The store is closed.", hint="Open it first.")
        try:
            return await self._writer.submit(work)
        except DatabaseUnusable as exc:
            raise _unavailable(exc) from exc

    async def _read(self, sql: str, values: Sequence[Any]) -> list[Any]:
        try:
            return await self._in_thread(self._fetch, sql, values)
        except DatabaseUnusable as exc:
            raise _unavailable(exc) from exc

    def _fetch(self, sql: str, values: Sequence[Any]) -> list[Any]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        with reading(connection):
            return connection.execute(sql, values).fetchall()

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self._path, durable=True)
        migrate(connection, _MIGRATIONS)
        self._open_connections.append(connection)
        return connection

    async def _in_thread(self, function: Callable[..., Value], *arguments: Any) -> Value:
        return await asyncio.get_running_loop().run_in_executor(self._threads, partial(function, *arguments))


def _versions(connection: sqlite3.Connection, seen: int) -> tuple[int, dict[str, int] | None]:
    """A number that changes with every commit of another connection and, if it has, all versions."""
    with reading(connection):
        (number,) = connection.execute("PRAGMA data_version").fetchone()
        return number, None if number == seen else dict(connection.execute("SELECT id, version FROM universes"))


def _create(connection: sqlite3.Connection, record: Record, entries: Sequence[Entry]) -> None:
    taken = connection.execute("SELECT 1 FROM universes WHERE id = ?", (record.id,)).fetchone()
    if taken is not None:
        raise Conflict(f"There is a universe '{record.id}' already.", hint="Choose another id.", universeId=record.id)
    connection.execute("INSERT INTO universes VALUES (?, ?, ?, ?, ?)", record)
    _insert(connection, [(record.id, e.version, e.kind, e.body, e.events, e.at, e.digest) for e in entries])


def _append(
    connection: sqlite3.Connection, universe_id: str, expected: int, rows: list[tuple[Any, ...]], uses: list[Any]
) -> None:
    sql = "UPDATE universes SET version = ?, updated_at = ? WHERE id = ? AND version = ?"
    if connection.execute(sql, (expected + len(rows), rows[-1][5], universe_id, expected)).rowcount == 0:
        found = connection.execute("SELECT version FROM universes WHERE id = ?", (universe_id,)).fetchone()
        raise Superseded(found[0]) if found else UniverseNotFound(universe_id)
    _insert(connection, rows)
    if uses:
        connection.executemany("INSERT INTO keys VALUES (?, ?, ?, ?, ?)", uses)


def _insert(connection: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
    connection.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?)", rows)


def _unavailable(exc: DatabaseUnusable) -> StoreUnavailable:
    return StoreUnavailable(exc.message, hint=exc.hint)
