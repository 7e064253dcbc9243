"""Store universes in memory, for trials and tests."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from universe.errors import UniverseNotFound
from universe.store.high_water_mark_file import MarkFile
from universe.store.high_water_marks import Head
from universe.store.interface import (
    BranchesDepend,
    BranchSource,
    ChangeBroadcast,
    Deletion,
    KeyUse,
    LogChange,
    StoredEntry,
    StoredSnapshot,
    Superseded,
    UniverseRecord,
    make_exists_error,
)


@dataclass
class _StoredUniverse:
    """A universe with its log, snapshots and idempotency keys."""

    record: UniverseRecord
    log: list[StoredEntry]
    snapshots: dict[int, StoredSnapshot] = field(default_factory=dict[int, StoredSnapshot])
    keys: dict[str, KeyUse] = field(default_factory=dict[str, KeyUse])
    source: BranchSource | None = None
    """The source of a branch that needs its log."""


class MemoryStore:
    """A `Store` without a disk."""

    def __init__(self) -> None:
        self.marks: MarkFile | None = None
        self._universes: dict[str, _StoredUniverse] = {}
        self._deletions: list[Deletion] = []
        self._broadcast = ChangeBroadcast()

    async def open(self) -> None: ...

    async def close(self) -> None:
        self._broadcast.close()

    async def ping(self) -> None: ...

    async def create(
        self, record: UniverseRecord, entries: Sequence[StoredEntry] = (), *, source: BranchSource | None = None
    ) -> None:
        if record.id in self._universes:
            raise make_exists_error(record.id)
        if source is not None:
            there = self._universes.get(source.universe_id)
            if there is None or there.record.created_at != source.created_at:
                raise UniverseNotFound(source.universe_id)
        self._universes[record.id] = _StoredUniverse(record, list(entries), source=source)
        self._broadcast.publish(LogChange(record.id, record.version))

    async def rename(self, universe_id: str, name: str, at: str, by: str | None = None) -> bool:
        if stored := self._universes.get(universe_id):
            stored.record = stored.record._replace(name=name, updated_at=at, renamed_by=by)
            self._broadcast.publish(LogChange(universe_id, stored.record.version))
        return stored is not None

    async def delete(self, universe_id: str, at: str = "", by: str | None = None) -> bool:
        if await self.list_dependent_branches(universe_id):
            raise BranchesDepend
        deleted = self._universes.pop(universe_id, None)
        if deleted is None:
            return False
        record = deleted.record
        if by is not None:
            self._deletions.append(Deletion(record.id, record.created_at, record.name, record.version, at, by))
        self._broadcast.publish(LogChange(universe_id, None))
        return True

    async def read_record(self, universe_id: str) -> UniverseRecord | None:
        stored = self._universes.get(universe_id)
        return stored.record if stored else None

    async def list_deletions(self, *, limit: int) -> list[Deletion]:
        return sorted(self._deletions, key=lambda one: one.deleted_at, reverse=True)[:limit]

    async def list_records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[UniverseRecord]:
        newest = sorted((stored.record for stored in self._universes.values()), key=_get_sort_key, reverse=True)
        return [record for record in newest if before is None or _get_sort_key(record) < before][:limit]

    async def append(
        self,
        universe_id: str,
        expected_version: int,
        entries: Sequence[StoredEntry],
        key_uses: Sequence[KeyUse] = (),
        *,
        created_at: str | None = None,
    ) -> None:
        stored = self._universes.get(universe_id)
        if stored is None or created_at not in (None, stored.record.created_at):
            raise UniverseNotFound(universe_id)
        if stored.record.version != expected_version:
            raise Superseded(stored.record.version)
        stored.log.extend(entries)
        stored.keys.update({use.key: use for use in key_uses})
        stored.record = stored.record._replace(version=entries[-1].version, updated_at=entries[-1].at)
        self._broadcast.publish(LogChange(universe_id, entries[-1].version))

    async def read_entries(
        self, universe_id: str, *, after: int, limit: int, upto: int | None = None
    ) -> list[StoredEntry]:
        stored = self._universes.get(universe_id)
        first = max(after, 0)
        last = first + limit if upto is None else min(upto, first + limit)
        return stored.log[first:last] if stored else []

    async def find_last_reference(self, universe_id: str, *, after: int, upto: int) -> StoredEntry | None:
        stored = self._universes.get(universe_id)
        entries = stored.log[max(after, 0) : upto] if stored else []
        return next((entry for entry in reversed(entries) if entry.kind == "reference"), None)

    async def find_change_start(self, universe_id: str, version: int) -> StoredEntry | None:
        stored = self._universes.get(universe_id)
        entries = stored.log[:version] if stored else []
        return next((entry for entry in reversed(entries) if entry.kind != "continued"), None)

    async def list_dependent_branches(self, universe_id: str) -> list[str]:
        return [key for key, one in self._universes.items() if one.source and one.source.universe_id == universe_id]

    async def find_key_use(self, universe_id: str, key: str) -> KeyUse | None:
        stored = self._universes.get(universe_id)
        return stored.keys.get(key) if stored else None

    async def find_latest_snapshot(self, universe_id: str, upto: int | None = None) -> StoredSnapshot | None:
        stored = self._universes.get(universe_id)
        versions = [version for version in (stored.snapshots if stored else ()) if upto is None or version <= upto]
        return stored.snapshots[max(versions)] if stored and versions else None

    async def list_snapshot_versions(self, universe_id: str) -> list[int]:
        stored = self._universes.get(universe_id)
        return sorted(stored.snapshots) if stored else []

    async def put_snapshot(
        self,
        universe_id: str,
        snapshot: StoredSnapshot,
        versions_to_keep: Sequence[int] = (),
        *,
        created_at: str | None = None,
    ) -> None:
        stored = self._universes.get(universe_id)
        if stored is not None and created_at in (None, stored.record.created_at):
            stored.snapshots[snapshot.version] = snapshot
            if snapshot.version == 1:
                stored.source = None
            if versions_to_keep:
                stored.snapshots = {
                    version: one
                    for version, one in stored.snapshots.items()
                    if version in (*versions_to_keep, snapshot.version)
                }

    async def list_log_heads(self) -> list[Head]:
        return [
            Head(key, stored.record.created_at, stored.record.version, stored.log[-1].digest if stored.log else b"")
            for key, stored in self._universes.items()
        ]

    def watch_changes(self) -> AsyncIterator[LogChange]:
        return self._broadcast.watch_changes()


def _get_sort_key(record: UniverseRecord) -> tuple[str, str]:
    return record.created_at, record.id
