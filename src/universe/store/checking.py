"""Reading a whole log again: is every entry what was written, and do they lead to what is served?"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from universe.domain.state import Plain
from universe.errors import LogDamaged, UniverseNotFound
from universe.store.port import Entry, Store
from universe.store.rebuilding import Replica, offloaded, pages, rebuild

Progress = Callable[[int, int], None]
"""How many entries of how many have been read."""


@dataclass
class Verdict:
    """What was found in the log of one universe."""

    universe_id: str
    entries: int = 0
    snapshots: int = 0
    problems: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def is_whole(self) -> bool:
        return not self.problems

    def as_dict(self) -> dict[str, Any]:
        return {
            "universeId": self.universe_id,
            "ok": self.is_whole,
            "entries": self.entries,
            "snapshots": self.snapshots,
            "problems": self.problems,
        }

    def add(self, sequence: int, problem: str) -> None:
        self.problems.append({"sequence": sequence, "problem": problem})


async def verify(store: Store, universe_id: str, progress: Progress | None = None) -> Verdict:
    """Replay the whole log and compare it with every snapshot and what would be served. Raises UniverseNotFound."""
    record = await store.record(universe_id)
    if record is None:
        raise UniverseNotFound(universe_id)
    verdict = Verdict(universe_id)
    waiting = [version for version in await store.snapshot_versions(universe_id) if version <= record.version]
    replica: Replica | None = Replica(universe_id)
    last = 0
    async for entries in pages(store, universe_id, upto=record.version):
        for entry in entries:
            replica = await _follow(verdict, replica, entry, last)
            last = entry.version
            while waiting and waiting[0] <= last:
                replica = await _compare(store, verdict, replica, waiting.pop(0))
        verdict.entries = last
        if progress is not None:
            progress(last, record.version)
    if beyond := await store.entries(universe_id, after=record.version, limit=1):
        now = await store.record(universe_id)
        if now is not None and now.version == record.version:
            verdict.add(beyond[0].version, f"the log goes on, but the universe is at {record.version}")
    if last != record.version:
        verdict.add(last + 1, f"the log ends at {last}, the universe is at {record.version}")
    if replica is not None and verdict.is_whole:
        served = await rebuild(store, universe_id)
        if served.version == replica.version and served.mirror.plain() != replica.mirror.plain():
            verdict.add(served.version, "the state served differs from the one the log leads to")
    return verdict


async def _follow(verdict: Verdict, replica: Replica | None, entry: Entry, last: int) -> Replica | None:
    """The replica after the entry; None from damage on until a snapshot helps."""
    for missing in range(last + 1, entry.version):
        verdict.add(missing, "the entry is missing")
    if not entry.is_whole(verdict.universe_id):
        verdict.add(entry.version, "the entry is not what was written")
        return None
    if replica is None or entry.version != replica.version + 1:
        return None
    try:
        await offloaded(len(entry.body), replica.take, [entry])
    except LogDamaged as exc:
        verdict.add(entry.version, exc.message)
        return None
    return replica


async def _compare(store: Store, verdict: Verdict, replica: Replica | None, version: int) -> Replica | None:
    snapshot = await store.snapshot(verdict.universe_id, version)
    if snapshot is None or snapshot.version != version:
        return replica  # dropped meanwhile
    verdict.snapshots += 1
    if not snapshot.is_whole(verdict.universe_id):
        verdict.add(version, "the snapshot is not what was written")
        return replica
    plain: Plain = await offloaded(len(snapshot.state), orjson.loads, snapshot.state)
    if replica is None:
        return (await rebuild(store, verdict.universe_id, version)) if version else None
    if plain != replica.mirror.plain():
        verdict.add(version, "the snapshot differs from the state the log leads to")
    return replica
