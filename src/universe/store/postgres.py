"""Store universes in PostgreSQL, which any number of processes may use at once."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final

from universe.errors import MalformedRequest, StoreUnavailable, UniverseNotFound
from universe.store.high_water_mark_file import MarkFile
from universe.store.high_water_marks import Head
from universe.store.interface import (
    PAGE_BYTES,
    BranchesDepend,
    BranchSource,
    Deletion,
    KeyUse,
    LogChange,
    StoredEntry,
    StoredSnapshot,
    Superseded,
    UniverseRecord,
    make_exists_error,
)
from universe.store.postgres_database import Database, migrate
from universe.store.postgres_listener import Listener

_TIMEOUT_S: Final = 30.0
_MAX_ID_BYTES: Final = 2_000
"""An index and a notification allow little more."""
_LARGEST_VERSION: Final = 2**63 - 1

# Each change is one statement: one round trip and one transaction.
_PING: Final = "SELECT current_setting('transaction_read_only') = 'on', (SELECT 1 FROM universes LIMIT 1)"

_CREATE: Final = """
    WITH source AS (
      SELECT id FROM universes WHERE id = $16::text AND created_at = $17::text FOR KEY SHARE
    ), made AS (
      INSERT INTO universes (id, name, version, created_at, updated_at, created_by, renamed_by)
      SELECT $1, $2, $3, $4, $5, $6, $7 WHERE $16::text IS NULL OR EXISTS (SELECT FROM source)
      ON CONFLICT DO NOTHING RETURNING id, version, serial
    ), linked AS (
      INSERT INTO universe_branches SELECT made.id, source.id FROM made, source
    ), logged AS (
      INSERT INTO universe_log SELECT made.id, entry.* FROM made,
      unnest(
        $8::bigint[], $9::text[], $10::bytea[], $11::bytea[], $12::text[], $13::bytea[], $14::text[], $15::text[]
      ) AS entry
    )
    SELECT pg_notify('universes_' || 'universes'::regclass::oid, concat_ws(' ', version, serial, id)) FROM made
"""

_RENAME: Final = """
    WITH named AS (
      UPDATE universes SET name = $2, updated_at = $3, renamed_by = $4 WHERE id = $1 RETURNING id, version, serial
    )
    SELECT pg_notify('universes_' || 'universes'::regclass::oid, concat_ws(' ', version, serial, id)) FROM named
"""

_DELETE: Final = """
    WITH gone AS (
      DELETE FROM universes WHERE id = $1 RETURNING id, serial, created_at, name, version
    ), recorded AS (
      INSERT INTO universe_deletions SELECT id, created_at, name, version, $2::text, $3::text FROM gone
      WHERE $3::text IS NOT NULL
      ON CONFLICT (universe_id, created_at) DO UPDATE
      SET name = excluded.name, version = excluded.version, deleted_at = excluded.deleted_at,
        deleted_by = excluded.deleted_by
    )
    SELECT pg_notify('universes_' || 'universes'::regclass::oid, concat_ws(' ', '-', serial, id)) FROM gone
"""

_APPEND: Final = """
    WITH moved AS (
      UPDATE universes SET version = $3, updated_at = $4
      WHERE id = $1 AND version = $2 AND created_at = coalesce($17, created_at)
      RETURNING id, version, serial, created_at
    ), logged AS (
      INSERT INTO universe_log SELECT moved.id, entry.* FROM moved,
      unnest(
        $5::bigint[], $6::text[], $7::bytea[], $8::bytea[], $9::text[], $10::bytea[], $11::text[], $12::text[]
      ) AS entry
    ), used AS (
      INSERT INTO universe_keys SELECT moved.id, use.* FROM moved,
      unnest($13::bytea[], $14::bytea[], $15::bigint[], $16::bigint[]) AS use
      ON CONFLICT (universe_id, key_digest)
      DO UPDATE SET request = excluded.request, first = excluded.first, last = excluded.last
    )
    SELECT created_at, pg_notify('universes_' || 'universes'::regclass::oid, concat_ws(' ', version, serial, id))
    FROM moved
"""

_PUT_SNAPSHOT: Final = """
    WITH there AS (
      SELECT id FROM universes WHERE id = $1 AND created_at = coalesce($6, created_at) FOR KEY SHARE
    ), put AS (
      INSERT INTO universe_snapshots SELECT id, $2::bigint, $3::bytea, $4::bytea FROM there
      ON CONFLICT (universe_id, version) DO UPDATE SET state = excluded.state, digest = excluded.digest
    ), freed AS (
      DELETE FROM universe_branches WHERE universe_id = (SELECT id FROM there) AND $2::bigint = 1
    )
    DELETE FROM universe_snapshots WHERE universe_id = $1 AND cardinality($5::bigint[]) > 0 AND version <> ALL ($5)
"""

_RECORD: Final = """
    SELECT id, name, version, created_at, updated_at, created_by, renamed_by FROM universes WHERE id = $1
"""

_RECORDS: Final = """
    SELECT id, name, version, created_at, updated_at, created_by, renamed_by FROM universes
    ORDER BY created_at DESC, id DESC LIMIT $1
"""

_RECORDS_BEFORE: Final = """
    SELECT id, name, version, created_at, updated_at, created_by, renamed_by FROM universes
    WHERE (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $1
"""

_DELETIONS: Final = """
    SELECT universe_id, created_at, name, version, deleted_at, deleted_by FROM universe_deletions
    ORDER BY deleted_at DESC, universe_id LIMIT $1
"""

_HEADS: Final = """
    SELECT id, created_at, universes.version, coalesce(digest, '') FROM universes
    LEFT JOIN universe_log ON universe_id = id AND universe_log.version = universes.version
"""

_ENTRIES: Final = """
    SELECT version, kind, body, events, at, digest, author, identity FROM universe_log
    WHERE universe_id = $1 AND version IN (
      SELECT version FROM (
        SELECT version, octet_length(body) AS size, sum(octet_length(body)) OVER (ORDER BY version) AS total
        FROM universe_log WHERE universe_id = $1 AND version > $2 AND version <= $3 ORDER BY version LIMIT $4
      ) AS sizes WHERE total - size < $5
    ) ORDER BY version
"""

_LAST_REFERENCE: Final = """
    SELECT version, kind, body, events, at, digest, author, identity FROM universe_log
    WHERE universe_id = $1 AND version > $2 AND version <= $3 AND kind = 'reference' ORDER BY version DESC LIMIT 1
"""

_CHANGE_START: Final = """
    SELECT version, kind, ''::bytea, events, at FROM universe_log
    WHERE universe_id = $1 AND version <= $2 AND kind <> 'continued' ORDER BY version DESC LIMIT 1
"""

_DEPENDENT_BRANCHES: Final = "SELECT universe_id FROM universe_branches WHERE source_id = $1"
_FOREIGN_KEY_VIOLATION: Final = "23503"

_KEY: Final = "SELECT request, first, last FROM universe_keys WHERE universe_id = $1 AND key_digest = $2"

_SNAPSHOT: Final = """
    SELECT version, state, digest FROM universe_snapshots WHERE universe_id = $1 AND version <= $2
    ORDER BY version DESC LIMIT 1
"""

_SNAPSHOT_VERSIONS: Final = "SELECT version FROM universe_snapshots WHERE universe_id = $1 ORDER BY version"


class PostgresStore:
    """A `Store` in the database at `dsn`, whose tables are created if they do not exist.

    `marks` is a file on this machine, because a database cannot know that it was replaced by an older copy. The import
    of this module raises MissingExtra without the extra `postgres`.
    """

    def __init__(self, dsn: str, *, timeout_s: float = _TIMEOUT_S, marks: Path | None = None) -> None:
        self.marks = None if marks is None else MarkFile(marks)
        self._database = Database(dsn, timeout_s)
        self._listener = Listener(self._database)

    async def open(self) -> None:
        """Open the store. Raise StoreUnavailable, DatabaseNewer, or MalformedRequest for a malformed address."""
        await self._database.open()
        try:
            async with self._database.borrow_connection() as connection:
                await migrate(connection)
            if self.marks is not None:
                known = await asyncio.to_thread(self.marks.flush_and_read_marks)
                await asyncio.to_thread(self.marks.record_losses_and_advance_marks, known, await self.list_log_heads())
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
        ((is_read_only, _),) = await self._execute_and_fetch(_PING)
        if is_read_only:
            raise StoreUnavailable("The PostgreSQL database is read-only.", hint="Name the primary server.")

    async def create(
        self, record: UniverseRecord, entries: Sequence[StoredEntry] = (), *, source: BranchSource | None = None
    ) -> None:
        """Add a universe. Raise Conflict, or MalformedRequest for an id or a name that PostgreSQL cannot store.

        Raise UniverseNotFound if the source of a branch does not exist.
        """
        if _to_storable_text(record.id) is None or len(record.id.encode()) > _MAX_ID_BYTES:
            raise MalformedRequest(
                "PostgreSQL cannot store this id.",
                hint=f"Use up to {_MAX_ID_BYTES} bytes without a NUL character.",
            )
        _check_storable_name(record.name)
        linked = (None, None) if source is None else (source.universe_id, source.created_at)
        if not await self._execute_and_fetch(_CREATE, *record, *_transpose_to_columns(entries), *linked):
            there = None if source is None else await self.read_record(source.universe_id)
            if source is not None and (there is None or there.created_at != source.created_at):
                raise UniverseNotFound(source.universe_id)
            raise make_exists_error(record.id)
        self._schedule_mark(Head(record.id, record.created_at, record.version, entries[-1].digest if entries else b""))

    async def rename(self, universe_id: str, name: str, at: str, by: str | None = None) -> bool:
        _check_storable_name(name)
        return bool(await self._execute_and_fetch(_RENAME, _to_storable_text(universe_id), name, at, by))

    async def delete(self, universe_id: str, at: str = "", by: str | None = None) -> bool:
        if await self.list_dependent_branches(universe_id):
            raise BranchesDepend
        record = await self.read_record(universe_id) if self.marks is not None else None
        if record is not None and self.marks is not None:
            self.marks.mark_deleted(universe_id, record.created_at)
        try:
            return bool(await self._execute_and_fetch(_DELETE, _to_storable_text(universe_id), at, by))
        except Exception as exc:
            if getattr(exc, "sqlstate", None) == _FOREIGN_KEY_VIOLATION:  # a branch was made meanwhile
                raise BranchesDepend from exc
            raise

    async def read_record(self, universe_id: str) -> UniverseRecord | None:
        rows = await self._execute_and_fetch(_RECORD, _to_storable_text(universe_id))
        return UniverseRecord(*rows[0]) if rows else None

    async def list_deletions(self, *, limit: int) -> list[Deletion]:
        rows = await self._execute_and_fetch(_DELETIONS, min(limit, _LARGEST_VERSION))
        return [Deletion(*row) for row in rows]

    async def list_records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[UniverseRecord]:
        statement = _RECORDS if before is None else _RECORDS_BEFORE
        rows = await self._execute_and_fetch(
            statement, min(limit, _LARGEST_VERSION), *map(_to_storable_text, before or ())
        )
        return [UniverseRecord(*row) for row in rows]

    async def append(
        self,
        universe_id: str,
        expected_version: int,
        entries: Sequence[StoredEntry],
        key_uses: Sequence[KeyUse] = (),
        *,
        created_at: str | None = None,
    ) -> None:
        uses = {_hash_key(use.key): use for use in key_uses}
        moved = await self._execute_and_fetch(
            _APPEND,
            _to_storable_text(universe_id),
            expected_version,
            entries[-1].version,
            entries[-1].at,
            *_transpose_to_columns(entries),
            list(uses),
            [use.request for use in uses.values()],
            [use.first for use in uses.values()],
            [use.last for use in uses.values()],
            created_at,
        )
        if not moved:
            record = await self.read_record(universe_id)
            is_there = record is not None and created_at in (None, record.created_at)
            raise Superseded(record.version) if record and is_there else UniverseNotFound(universe_id)
        self._schedule_mark(Head(universe_id, moved[0][0], entries[-1].version, entries[-1].digest))

    async def read_entries(
        self, universe_id: str, *, after: int, limit: int, upto: int | None = None
    ) -> list[StoredEntry]:
        last = _LARGEST_VERSION if upto is None else min(upto, _LARGEST_VERSION)
        most = min(limit, _LARGEST_VERSION)
        rows = await self._execute_and_fetch(
            _ENTRIES, _to_storable_text(universe_id), min(after, _LARGEST_VERSION), last, most, PAGE_BYTES
        )
        return [StoredEntry(*row) for row in rows]

    async def find_last_reference(self, universe_id: str, *, after: int, upto: int) -> StoredEntry | None:
        last = min(upto, _LARGEST_VERSION)
        rows = await self._execute_and_fetch(_LAST_REFERENCE, _to_storable_text(universe_id), after, last)
        return StoredEntry(*rows[0]) if rows else None

    async def find_change_start(self, universe_id: str, version: int) -> StoredEntry | None:
        rows = await self._execute_and_fetch(_CHANGE_START, _to_storable_text(universe_id), version)
        return StoredEntry(*rows[0]) if rows else None

    async def list_dependent_branches(self, universe_id: str) -> list[str]:
        rows = await self._execute_and_fetch(_DEPENDENT_BRANCHES, _to_storable_text(universe_id))
        return [key for (key,) in rows]

    async def find_key_use(self, universe_id: str, key: str) -> KeyUse | None:
        rows = await self._execute_and_fetch(_KEY, _to_storable_text(universe_id), _hash_key(key))
        return KeyUse(key, *rows[0]) if rows else None

    async def find_latest_snapshot(self, universe_id: str, upto: int | None = None) -> StoredSnapshot | None:
        rows = await self._execute_and_fetch(
            _SNAPSHOT, _to_storable_text(universe_id), _LARGEST_VERSION if upto is None else min(upto, _LARGEST_VERSION)
        )
        return StoredSnapshot(*rows[0]) if rows else None

    async def list_snapshot_versions(self, universe_id: str) -> list[int]:
        return [
            version for (version,) in await self._execute_and_fetch(_SNAPSHOT_VERSIONS, _to_storable_text(universe_id))
        ]

    async def put_snapshot(
        self,
        universe_id: str,
        snapshot: StoredSnapshot,
        versions_to_keep: Sequence[int] = (),
        *,
        created_at: str | None = None,
    ) -> None:
        kept_versions = [*versions_to_keep, snapshot.version] if versions_to_keep else []
        await self._execute_and_fetch(
            _PUT_SNAPSHOT, _to_storable_text(universe_id), *snapshot, kept_versions, created_at
        )

    async def list_log_heads(self) -> list[Head]:
        return [Head(*row) for row in await self._execute_and_fetch(_HEADS)]

    def watch_changes(self) -> AsyncIterator[LogChange]:
        return self._listener.watch_changes()

    def _schedule_mark(self, head: Head) -> None:
        if self.marks is not None:
            self.marks.schedule_marks([head])

    async def _execute_and_fetch(self, statement: str, *values: Any) -> list[Any]:
        async with self._database.borrow_connection() as connection:
            return await connection.fetch(statement, *values)


def _to_storable_text(text: str) -> str | None:
    """Return the text, or None, which matches no row, for a text with NUL, which PostgreSQL cannot store."""
    return None if "\0" in text else text


def _check_storable_name(name: str) -> None:
    if _to_storable_text(name) is None:
        raise MalformedRequest("name must not have a NUL character.", hint="Leave it out.", path="name")


def _transpose_to_columns(entries: Sequence[StoredEntry]) -> tuple[list[Any], ...]:
    return (
        [entry.version for entry in entries],
        [entry.kind for entry in entries],
        [entry.body for entry in entries],
        [entry.events for entry in entries],
        [entry.at for entry in entries],
        [entry.digest for entry in entries],
        [entry.author for entry in entries],
        [entry.identity for entry in entries],
    )


def _hash_key(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=32).digest()
