"""Universes that last as long as the process: for trying things out, and for tests."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from universe.errors import UniverseNotFound
from universe.store.mark_file import MarkFile
from universe.store.marks import Head
from universe.store.port import Change, Entry, KeyUse, Record, Snapshot, Superseded
from universe.store.telling import Told
from uraniborg.kernel.errors import Conflict


@dataclass
class _Kept:
    record: Record
    log: list[Entry]
    snapshots: dict[int, Snapshot] = field(default_factory=dict[int, Snapshot])
    keys: dict[str, KeyUse] = field(default_factory=dict[str, KeyUse])


class MemoryStore:
    """A `Store` without a disk."""

    def __init__(self) -> None:
        self.marks: MarkFile | None = None
        self._kept: dict[str, _Kept] = {}
        self._told = Told()

    async def open(self) -> None: ...

    async def close(self) -> None:
        self._told.end()

    async def ping(self) -> None: ...

    async def create(self, record: Record, entries: Sequence[Entry] = ()) -> None:
        if record.id in self._kept:
            raise Conflict(
                f"There is a universe '{record.id}' already.", hint="Choose another id.", universeId=record.id
            )
        self._kept[record.id] = _Kept(record, list(entries))
        self._told.tell(Change(record.id, record.version))

    async def rename(self, universe_id: str, name: str, at: str) -> bool:
        if kept := self._kept.get(universe_id):
            kept.record = kept.record._replace(name=name, updated_at=at)
            self._told.tell(Change(universe_id, kept.record.version))
        return kept is not None

    async def delete(self, universe_id: str) -> bool:
        deleted = self._kept.pop(universe_id, None) is not None
        if deleted:
            self._told.tell(Change(universe_id, None))
        return deleted

    async def record(self, universe_id: str) -> Record | None:
        kept = self._kept.get(universe_id)
        return kept.record if kept else None

    async def records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[Record]:
        newest = sorted((kept.record for kept in self._kept.values()), key=_age, reverse=True)
        return [record for record in newest if before is None or _age(record) < before][:limit]

    async def append(
        self,
        universe_id: str,
        expected: int,
        entries: Sequence[Entry],
        keys: Sequence[KeyUse] = (),
        *,
        made_at: str | None = None,
    ) -> None:
        kept = self._kept.get(universe_id)
        if kept is None or made_at not in (None, kept.record.created_at):
            raise UniverseNotFound(universe_id)
        if kept.record.version != expected:
            raise Superseded(kept.record.version)
        kept.log.extend(entries)
        kept.keys.update({use.key: use for use in keys})
        kept.record = kept.record._replace(version=entries[-1].version, updated_at=entries[-1].at)
        self._told.tell(Change(universe_id, entries[-1].version))

    async def entries(self, universe_id: str, *, after: int, limit: int, upto: int | None = None) -> list[Entry]:
        kept = self._kept.get(universe_id)
        first = max(after, 0)
        last = first + limit if upto is None else min(upto, first + limit)
        return kept.log[first:last] if kept else []

    async def key(self, universe_id: str, key: str) -> KeyUse | None:
        kept = self._kept.get(universe_id)
        return kept.keys.get(key) if kept else None

    async def snapshot(self, universe_id: str, upto: int | None = None) -> Snapshot | None:
        kept = self._kept.get(universe_id)
        versions = [version for version in (kept.snapshots if kept else ()) if upto is None or version <= upto]
        return kept.snapshots[max(versions)] if kept and versions else None

    async def snapshot_versions(self, universe_id: str) -> list[int]:
        kept = self._kept.get(universe_id)
        return sorted(kept.snapshots) if kept else []

    async def put_snapshot(
        self, universe_id: str, snapshot: Snapshot, keep: Sequence[int] = (), *, made_at: str | None = None
    ) -> None:
        kept = self._kept.get(universe_id)
        if kept is not None and made_at in (None, kept.record.created_at):
            kept.snapshots[snapshot.version] = snapshot
            if keep:
                kept.snapshots = {
                    version: one for version, one in kept.snapshots.items() if version in (*keep, snapshot.version)
                }

    async def heads(self) -> list[Head]:
        return [
            Head(key, kept.record.created_at, kept.record.version, kept.log[-1].digest if kept.log else b"")
            for key, kept in self._kept.items()
        ]

    def changes(self) -> AsyncIterator[Change]:
        return self._told.changes()


def _age(record: Record) -> tuple[str, str]:
    return record.created_at, record.id
