"""Universes in a PostgreSQL database, where any number of processes may change them at once."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final

from universe.errors import MalformedRequest, StoreUnavailable, UniverseNotFound
from universe.store import postgres_statements as sql
from universe.store.mark_file import MarkFile
from universe.store.marks import Head
from universe.store.port import PAGE_BYTES, Change, Entry, KeyUse, Record, Snapshot, Superseded
from universe.store.postgres_connecting import Database
from universe.store.postgres_listening import Listener
from universe.store.postgres_schema import migrate
from uraniborg.kernel.errors import Conflict

_PATIENCE_S: Final = 30.0
_LONGEST_ID: Final = 2_000
"""In bytes: an index takes little more, and so does a notification."""
_NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
"""PostgreSQL keeps no NUL in a text, and nothing can send one half of a surrogate pair."""
_HIGHEST: Final = 2**63 - 1


class PostgresStore:
    """A `Store` in the database at `dsn`, whose tables are made if they are not there.

    `marks` is a file on this machine: the database itself cannot tell that an older copy of it was put back. Raises
    MissingExtra without the extra `postgres`.
    """

    def __init__(self, dsn: str, *, patience_s: float = _PATIENCE_S, marks: Path | None = None) -> None:
        self.marks = None if marks is None else MarkFile(marks)
        self._database = Database(dsn, patience_s)
        self._listener = Listener(self._database)

    async def open(self) -> None:
        """Raises StoreUnavailable, DatabaseNewer, or MalformedRequest for an address that is none."""
        await self._database.open()
        try:
            async with self._database.connection() as connection:
                await migrate(connection)
            if self.marks is not None:
                known = await asyncio.to_thread(self.marks.read)
                await asyncio.to_thread(self.marks.reconcile, known, await self.heads())
            await self._listener.start()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        await self._listener.stop()
        await self._database.close()
        if self.marks is not None:
            await asyncio.to_thread(self.marks.close)

    async def ping(self) -> None:
        ((is_read_only, _),) = await self._fetch(sql.PING)
        if is_read_only:
            raise StoreUnavailable("The PostgreSQL database can only be read.", hint="Name the primary server.")

    async def create(self, record: Record, entries: Sequence[Entry] = ()) -> None:
        """Raises MalformedRequest also for an id or a name that PostgreSQL cannot hold."""
        if _keepable(record.id) is None or len(record.id.encode()) > _LONGEST_ID:
            raise MalformedRequest(
                "PostgreSQL cannot keep an id like this.",
                hint=f"Use up to {_LONGEST_ID} bytes without a NUL character.",
            )
        _check_name(record.name)
        if not await self._fetch(sql.CREATE, *record, *_columns(entries)):
            raise Conflict(
                f"There is a universe '{record.id}' already.", hint="Choose another id.", universeId=record.id
            )
        self._note(Head(record.id, record.created_at, record.version, entries[-1].digest if entries else b""))

    async def rename(self, universe_id: str, name: str, at: str) -> bool:
        _check_name(name)
        return bool(await self._fetch(sql.RENAME, _keepable(universe_id), name, at))

    async def delete(self, universe_id: str) -> bool:
        record = await self.record(universe_id) if self.marks is not None else None
        if record is not None and self.marks is not None:
            self.marks.forget(universe_id, record.created_at)
        return bool(await self._fetch(sql.DELETE, _keepable(universe_id)))

    async def record(self, universe_id: str) -> Record | None:
        rows = await self._fetch(sql.RECORD, _keepable(universe_id))
        return Record(*rows[0]) if rows else None

    async def records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[Record]:
        statement = sql.RECORDS if before is None else sql.RECORDS_BEFORE
        rows = await self._fetch(statement, min(limit, _HIGHEST), *map(_keepable, before or ()))
        return [Record(*row) for row in rows]

    async def append(
        self,
        universe_id: str,
        expected: int,
        entries: Sequence[Entry],
        keys: Sequence[KeyUse] = (),
        *,
        made_at: str | None = None,
    ) -> None:
        uses = {_key_digest(use.key): use for use in keys}
        moved = await self._fetch(
            sql.APPEND,
            _keepable(universe_id),
            expected,
            entries[-1].version,
            entries[-1].at,
            *_columns(entries),
            list(uses),
            [use.request for use in uses.values()],
            [use.first for use in uses.values()],
            [use.last for use in uses.values()],
            made_at,
        )
        if not moved:
            record = await self.record(universe_id)
            is_there = record is not None and made_at in (None, record.created_at)
            raise Superseded(record.version) if record and is_there else UniverseNotFound(universe_id)
        self._note(Head(universe_id, moved[0][0], entries[-1].version, entries[-1].digest))

    async def entries(self, universe_id: str, *, after: int, limit: int, upto: int | None = None) -> list[Entry]:
        last = _HIGHEST if upto is None else min(upto, _HIGHEST)
        most = min(limit, _HIGHEST)
        rows = await self._fetch(sql.ENTRIES, _keepable(universe_id), min(after, _HIGHEST), last, most, PAGE_BYTES)
        return [Entry(*row) for row in rows]

    async def key(self, universe_id: str, key: str) -> KeyUse | None:
        rows = await self._fetch(sql.KEY, _keepable(universe_id), _key_digest(key))
        return KeyUse(key, *rows[0]) if rows else None

    async def snapshot(self, universe_id: str, upto: int | None = None) -> Snapshot | None:
        rows = await self._fetch(
            sql.SNAPSHOT, _keepable(universe_id), _HIGHEST if upto is None else min(upto, _HIGHEST)
        )
        return Snapshot(*rows[0]) if rows else None

    async def snapshot_versions(self, universe_id: str) -> list[int]:
        return [version for (version,) in await self._fetch(sql.SNAPSHOT_VERSIONS, _keepable(universe_id))]

    async def put_snapshot(
        self, universe_id: str, snapshot: Snapshot, keep: Sequence[int] = (), *, made_at: str | None = None
    ) -> None:
        kept = [*keep, snapshot.version] if keep else []
        await self._fetch(sql.PUT_SNAPSHOT, _keepable(universe_id), *snapshot, kept, made_at)

    async def heads(self) -> list[Head]:
        return [Head(*row) for row in await self._fetch(sql.HEADS)]

    def changes(self) -> AsyncIterator[Change]:
        return self._listener.changes()

    def _note(self, head: Head) -> None:
        if self.marks is not None:
            self.marks.note([head])

    async def _fetch(self, statement: str, *values: Any) -> list[Any]:
        async with self._database.connection() as connection:
            return await connection.fetch(statement, *values)


def _keepable(text: str) -> str | None:
    """The text, or what equals nothing in the database: a text that cannot be there is not found."""
    return None if _NO_TEXT.search(text) else text


def _check_name(name: str) -> None:
    if _keepable(name) is None:
        raise MalformedRequest("A name cannot hold a NUL character.", hint="Leave it out.", path="name")


def _columns(entries: Sequence[Entry]) -> tuple[list[Any], ...]:
    return (
        [entry.version for entry in entries],
        [entry.kind for entry in entries],
        [entry.body for entry in entries],
        [entry.events for entry in entries],
        [entry.at for entry in entries],
        [entry.digest for entry in entries],
        [entry.author for entry in entries],
    )


def _key_digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=32).digest()
