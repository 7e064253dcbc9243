"""Verify universes: every log entry and snapshot, the marks outside the database, and the states a server returns."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from typing import TypedDict
from urllib.parse import quote

from universe.config import load_config
from universe.domain.state import Plain
from universe.errors import LogDamaged, StoreUnavailable, UniverseNotFound
from universe.service.replies import Universe
from universe.service.universes import UniverseService
from universe.store.high_water_marks import Key, Loss, WrittenMark, WrittenMarks
from universe.store.interface import Store, StoredEntry
from universe.store.log_encoding import decode_state
from universe.store.replica import (
    Replica,
    apply_entries_from_store,
    read_entry_pages,
    rebuild_replica,
    run_in_thread_if_large,
)
from uraniborg.kernel.progress_callbacks import ReportCount, ReportPhase


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


def _describe_mark(mark: WrittenMark) -> MarkFacts:
    return {"version": mark.version, "digest": mark.digest}


@dataclass
class LogVerification:
    """The result of the verification of one log."""

    universe_id: str
    entries: int = 0
    snapshots: int = 0
    head: WrittenMark | None = None
    """The last entry of the log; None if there is no universe."""
    mark: WrittenMark | None = None
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


async def verify_log(store: Store, universe_id: str, progress: ReportCount | None = None) -> LogVerification:
    """Replay the whole log and compare it with every snapshot, the state served and the mark outside the database.

    Raise UniverseNotFound for a universe that neither the database nor the marks have.
    """
    known = await flush_and_read_high_water_marks(store)  # before the log, which may grow meanwhile
    record = await store.read_record(universe_id)
    verdict = LogVerification(universe_id)
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
    verdict.head = WrittenMark(last, digest.hex())
    await _add_lost_version_problems(store, verdict, known, (universe_id, record.created_at))
    if replica is not None and verdict.is_intact:
        served = await rebuild_replica(store, universe_id)
        if served.version == replica.version and served.mirror.to_plain() != replica.mirror.to_plain():
            verdict.add_problem(served.version, "the state served differs from the replayed state")
    return verdict


async def flush_and_read_high_water_marks(store: Store) -> WrittenMarks:
    """Return the marks of a store; empty marks for a store without a mark file."""
    return WrittenMarks() if store.marks is None else await asyncio.to_thread(store.marks.flush_and_read_marks)


def list_lost_universe_ids(known: WrittenMarks, present: Collection[str]) -> list[str]:
    """Return the ids that are in the marks and not in the database."""
    return sorted({key[0] for key in (*known.marks, *known.losses)} - set(present))


def _add_missing_universe_problem(verdict: LogVerification, known: WrittenMarks) -> None:
    verdict.mark = _find_last_lost_mark(known, verdict.universe_id)
    if verdict.mark is None:
        raise UniverseNotFound(verdict.universe_id)
    verdict.add_problem(0, f"the universe is missing and was not deleted: version {verdict.mark.version} was written")


def _find_last_lost_mark(known: WrittenMarks, universe_id: str, present: Key | None = None) -> WrittenMark | None:
    """Return the highest mark of the universes with an id that are not in the database; None if there is none."""
    keys = [key for key in {*known.marks, *known.losses} if key[0] == universe_id and key != present]
    marks = [known.marks[key] for key in keys if key in known.marks]
    return max([*marks, *(loss.mark for key in keys for loss in known.losses.get(key, ()))], default=None)


async def _add_lost_version_problems(store: Store, verdict: LogVerification, known: WrittenMarks, key: Key) -> None:
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
    store: Store, verdict: LogVerification, replica: Replica | None, entry: StoredEntry, last: int
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


async def _compare_snapshot(
    store: Store, verdict: LogVerification, replica: Replica | None, version: int
) -> Replica | None:
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


async def verify_universes(
    service: UniverseService, universe_id: str | None, url: str | None, report: ReportPhase | None = None
) -> list[LogVerification]:
    """Return the verdict on one universe, or on all; report each. Raise UniverseNotFound or StoreUnavailable."""
    ids = [universe_id] if universe_id is not None else await list_all_ids(service)
    if universe_id is None:
        ids += list_lost_universe_ids(await flush_and_read_high_water_marks(service.store), ids)
    verdicts: list[LogVerification] = []
    for one in ids:
        verdict = await verify_log(service.store, one, partial(report, one) if report else None)
        if url is not None and verdict.is_intact:
            await _add_problem_if_server_differs(service, verdict, url)
        verdicts.append(verdict)
    return verdicts


async def accept_lost_versions(service: UniverseService, universe_id: str | None) -> None:
    """Accept the logs of one universe, or of all, so that versions lost until now are not reported again."""
    if service.store.marks is not None:
        await asyncio.to_thread(service.store.marks.accept_losses, await service.store.list_log_heads(), universe_id)


async def list_all_ids(service: UniverseService) -> list[str]:
    """Return the ids of all universes, newest first."""
    found: list[str] = []
    before: tuple[str, str] | None = None
    while records := await service.list_records(limit=1_000, before=before):
        found += [record.id for record in records]
        before = (records[-1].created_at, records[-1].id)
    return found


async def _add_problem_if_server_differs(service: UniverseService, verdict: LogVerification, url: str) -> None:
    served = await asyncio.to_thread(_fetch_universe, url, verdict.universe_id)
    then = await rebuild_replica(service.store, verdict.universe_id, served["version"])
    if then.mirror.to_plain() != served["state"]:
        verdict.add_problem(served["version"], "the server returns another state than the replayed one")


def _fetch_universe(url: str, universe_id: str) -> Universe:
    import httpx

    token = load_config().token
    headers = {"Authorization": f"Bearer {token.get_secret_value()}"} if token else {}
    try:
        response = httpx.get(f"{url.rstrip('/')}/universes/{quote(universe_id, safe='')}", timeout=30, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as exc:
        raise StoreUnavailable(
            f"{url} does not answer: {type(exc).__name__}.", hint="Check that the server runs at this address."
        ) from None
    if response.status_code != 200:
        raise StoreUnavailable(
            f"{url} returned status {response.status_code} for the universe {universe_id}.",
            hint="Check that the server uses this database, and set its token in the settings.",
        )
    return response.json()
