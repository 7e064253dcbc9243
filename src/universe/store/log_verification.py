"""Verify logs: every entry, every snapshot, the state served and the mark outside the database."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypedDict

from universe.domain.state import Plain
from universe.errors import LogDamaged, UniverseNotFound
from universe.store.high_water_marks import Key, Loss, Mark, Marks
from universe.store.interface import Entry, Store
from universe.store.replica import (
    Replica,
    apply_entries_from_store,
    read_entry_pages,
    rebuild_replica,
    run_in_thread_if_large,
)
from universe.store.state_encoding import decode_state
from uraniborg.kernel.progress import ReportCount


class LogProblem(TypedDict):
    """A problem of an entry, or of a snapshot of its version."""

    sequence: int
    problem: str


class MarkFacts(TypedDict):
    """A version, and the digest of its entry."""

    version: int
    digest: str


class LogVerdict(TypedDict):
    """The result of the verification of one log, as `--json` prints it."""

    universeId: str
    ok: bool
    entries: int
    snapshots: int
    head: MarkFacts | None
    mark: MarkFacts | None
    problems: list[LogProblem]


def _describe_mark(mark: Mark) -> MarkFacts:
    return {"version": mark.version, "digest": mark.digest}


@dataclass
class Verdict:
    """The result of the verification of one log."""

    universe_id: str
    entries: int = 0
    snapshots: int = 0
    head: Mark | None = None
    """The last entry of the log; None if there is no universe."""
    mark: Mark | None = None
    """The last version written according to the mark file; None if it has none."""
    problems: list[LogProblem] = field(default_factory=list[LogProblem])

    @property
    def is_intact(self) -> bool:
        """True if no problem was found."""
        return not self.problems

    def as_dict(self) -> LogVerdict:
        return {
            "universeId": self.universe_id,
            "ok": self.is_intact,
            "entries": self.entries,
            "snapshots": self.snapshots,
            "head": self.head and _describe_mark(self.head),
            "mark": self.mark and _describe_mark(self.mark),
            "problems": self.problems,
        }

    def add_problem(self, sequence: int, problem: str) -> None:
        """Add a problem of the entry with this version."""
        self.problems.append({"sequence": sequence, "problem": problem})


async def verify_log(store: Store, universe_id: str, progress: ReportCount | None = None) -> Verdict:
    """Replay the whole log and compare it with every snapshot, the state served and the mark outside the database.

    Raise UniverseNotFound for a universe that neither the database nor the marks have.
    """
    known = await flush_and_read_store_marks(store)  # before the log, which may grow meanwhile
    record = await store.read_record(universe_id)
    verdict = Verdict(universe_id)
    if record is None:
        _add_missing_universe_problem(verdict, known)
        return verdict
    waiting = [version for version in await store.list_snapshot_versions(universe_id) if version <= record.version]
    replica: Replica | None = Replica(universe_id)
    last, digest = 0, b""
    async for entries in read_entry_pages(store, universe_id, upto=record.version):
        for entry in entries:
            replica = await _check_and_replay_entry(store, verdict, replica, entry, last)
            last, digest = entry.version, entry.digest
            while waiting and waiting[0] <= last:
                replica = await _compare_snapshot(store, verdict, replica, waiting.pop(0))
        verdict.entries = last
        if progress is not None:
            progress(last, record.version)
    if beyond := await store.read_entries(universe_id, after=record.version, limit=1):
        now = await store.read_record(universe_id)
        if now is not None and now.version == record.version:
            verdict.add_problem(
                beyond[0].version, f"the log has more entries, but the universe is at version {record.version}"
            )
    if last != record.version:
        verdict.add_problem(
            last + 1, f"the log ends at version {last}, but the universe is at version {record.version}"
        )
    verdict.head = Mark(last, digest.hex())
    await _add_lost_version_problems(store, verdict, known, (universe_id, record.created_at))
    if replica is not None and verdict.is_intact:
        served = await rebuild_replica(store, universe_id)
        if served.version == replica.version and served.mirror.to_plain() != replica.mirror.to_plain():
            verdict.add_problem(served.version, "the state served differs from the replayed state")
    return verdict


async def flush_and_read_store_marks(store: Store) -> Marks:
    """Return the marks of a store; empty marks for a store without a mark file."""
    return Marks() if store.marks is None else await asyncio.to_thread(store.marks.flush_and_read_marks)


def list_lost_universe_ids(known: Marks, present: Collection[str]) -> list[str]:
    """Return the ids that are in the marks and not in the database."""
    return sorted({key[0] for key in (*known.marks, *known.losses)} - set(present))


def _add_missing_universe_problem(verdict: Verdict, known: Marks) -> None:
    verdict.mark = _find_last_lost_mark(known, verdict.universe_id)
    if verdict.mark is None:
        raise UniverseNotFound(verdict.universe_id)
    verdict.add_problem(0, f"the universe is missing and was not deleted: version {verdict.mark.version} was written")


def _find_last_lost_mark(known: Marks, universe_id: str, present: Key | None = None) -> Mark | None:
    """Return the highest mark of the universes with an id that are not in the database; None if there is none."""
    keys = [key for key in {*known.marks, *known.losses} if key[0] == universe_id and key != present]
    marks = [known.marks[key] for key in keys if key in known.marks]
    return max([*marks, *(loss.mark for key in keys for loss in known.losses.get(key, ()))], default=None)


async def _add_lost_version_problems(store: Store, verdict: Verdict, known: Marks, key: Key) -> None:
    """Report the versions that were written and are not in the log any more."""
    verdict.mark = known.marks.get(key)
    losses = list(known.losses.get(key, ()))
    assert verdict.head is not None
    if verdict.mark is not None and verdict.mark.version > verdict.head.version:
        losses.append(Loss(verdict.mark, verdict.head.version))
    elif verdict.mark is not None and verdict.mark.version:
        entries = await store.read_entries(verdict.universe_id, after=verdict.mark.version - 1, limit=1)
        if entries and entries[0].digest.hex() != verdict.mark.digest:
            verdict.add_problem(verdict.mark.version, "the log has another entry than was written")
    if (earlier := _find_last_lost_mark(known, verdict.universe_id, key)) is not None:
        gone = f"version {earlier.version} was written"
        verdict.add_problem(0, f"an earlier universe with this id is missing and was not deleted: {gone}")
    for mark, left in losses:
        first = mark.version if left is None or left >= mark.version else left + 1
        verdict.add_problem(
            first, f"the log lost versions that were written: {_describe_versions(first, mark.version)}"
        )


def _describe_versions(first: int, last: int) -> str:
    return f"version {last}" if first == last else f"versions {first} to {last}"


async def _check_and_replay_entry(
    store: Store, verdict: Verdict, replica: Replica | None, entry: Entry, last: int
) -> Replica | None:
    """Check an entry and return the replica after it; None after damage, until a snapshot restores the state."""
    for missing in range(last + 1, entry.version):
        verdict.add_problem(missing, "the entry is missing")
    if not entry.is_intact(verdict.universe_id):
        verdict.add_problem(entry.version, "the entry differs from what was written")
        return None
    if replica is None or entry.version != replica.version + 1:
        return None
    try:
        if entry.kind == "reference":
            await apply_entries_from_store(store, replica, [entry])
        else:
            await run_in_thread_if_large(len(entry.body), replica.apply_entries, [entry])
    except LogDamaged as exc:
        verdict.add_problem(entry.version, exc.message)
        return None
    return replica


async def _compare_snapshot(store: Store, verdict: Verdict, replica: Replica | None, version: int) -> Replica | None:
    """Compare a snapshot with the replica; return the replica, or one made from the snapshot after damage."""
    snapshot = await store.find_latest_snapshot(verdict.universe_id, version)
    if snapshot is None or snapshot.version != version:
        return replica  # deleted meanwhile
    verdict.snapshots += 1
    if not snapshot.is_intact(verdict.universe_id):
        verdict.add_problem(version, "the snapshot differs from what was written")
        return replica
    plain: Plain = await run_in_thread_if_large(len(snapshot.state), decode_state, snapshot.state)
    if replica is None:
        return (await rebuild_replica(store, verdict.universe_id, version)) if version else None
    if plain != replica.mirror.to_plain():
        verdict.add_problem(version, "the snapshot differs from the replayed state")
    return replica
