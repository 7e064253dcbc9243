"""Reading a whole log again: is every entry what was written, and do they lead to what is served?"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import orjson

from universe.domain.state import Plain
from universe.errors import LogDamaged, UniverseNotFound
from universe.store.marks import Key, Loss, Mark, Marks
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
    head: Mark | None = None
    """The last entry of the log; None for no universe."""
    mark: Mark | None = None
    """The last version that was written, as the file of marks has it; None if it has none."""
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
            "head": self.head and self.head._asdict(),
            "mark": self.mark and self.mark._asdict(),
            "problems": self.problems,
        }

    def add(self, sequence: int, problem: str) -> None:
        self.problems.append({"sequence": sequence, "problem": problem})


async def verify(store: Store, universe_id: str, progress: Progress | None = None) -> Verdict:
    """Replay the whole log and compare it with every snapshot, the state served and the mark outside the database.

    Raises UniverseNotFound for a universe that neither the database nor the marks know.
    """
    known = await marks_of(store)  # before the log, which may grow meanwhile
    record = await store.record(universe_id)
    verdict = Verdict(universe_id)
    if record is None:
        _compare_missing(verdict, known)
        return verdict
    waiting = [version for version in await store.snapshot_versions(universe_id) if version <= record.version]
    replica: Replica | None = Replica(universe_id)
    last, digest = 0, b""
    async for entries in pages(store, universe_id, upto=record.version):
        for entry in entries:
            replica = await _follow(verdict, replica, entry, last)
            last, digest = entry.version, entry.digest
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
    verdict.head = Mark(last, digest.hex())
    await _compare_mark(store, verdict, known, (universe_id, record.created_at))
    if replica is not None and verdict.is_whole:
        served = await rebuild(store, universe_id)
        if served.version == replica.version and served.mirror.plain() != replica.mirror.plain():
            verdict.add(served.version, "the state served differs from the one the log leads to")
    return verdict


async def marks_of(store: Store) -> Marks:
    """Return the marks of a store; none for a store without."""
    return Marks() if store.marks is None else await asyncio.to_thread(store.marks.read)


def lost_universes(known: Marks, present: Collection[str]) -> list[str]:
    """Return the ids that the marks know and the database does not."""
    return sorted({key[0] for key in (*known.marks, *known.losses)} - set(present))


def _compare_missing(verdict: Verdict, known: Marks) -> None:
    verdict.mark = _last_lost(known, verdict.universe_id)
    if verdict.mark is None:
        raise UniverseNotFound(verdict.universe_id)
    verdict.add(0, f"the universe is gone, and was not deleted: version {verdict.mark.version} was written")


def _last_lost(known: Marks, universe_id: str, present: Key | None = None) -> Mark | None:
    """Return the highest mark of the universes of an id that are not in the database; None if there is none."""
    keys = [key for key in {*known.marks, *known.losses} if key[0] == universe_id and key != present]
    marks = [known.marks[key] for key in keys if key in known.marks]
    return max([*marks, *(loss.mark for key in keys for loss in known.losses.get(key, ()))], default=None)


async def _compare_mark(store: Store, verdict: Verdict, known: Marks, key: Key) -> None:
    """Add the versions that were written and are not in the log any more."""
    verdict.mark = known.marks.get(key)
    losses = list(known.losses.get(key, ()))
    assert verdict.head is not None
    if verdict.mark is not None and verdict.mark.version > verdict.head.version:
        losses.append(Loss(verdict.mark, verdict.head.version))
    elif verdict.mark is not None and verdict.mark.version:
        entries = await store.entries(verdict.universe_id, after=verdict.mark.version - 1, limit=1)
        if entries and entries[0].digest.hex() != verdict.mark.digest:
            verdict.add(verdict.mark.version, "the log has another entry than the one that was written")
    if (earlier := _last_lost(known, verdict.universe_id, key)) is not None:
        gone = f"version {earlier.version} was written"
        verdict.add(0, f"an earlier universe of this id is gone, and was not deleted: {gone}")
    for mark, left in losses:
        first = mark.version if left is None or left >= mark.version else left + 1
        verdict.add(first, f"the log lost versions that were written: {_span(first, mark.version)}")


def _span(first: int, last: int) -> str:
    return f"version {last}" if first == last else f"versions {first} to {last}"


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
