"""A universe in memory: applies changes one batch after another, and publishes each after it is on disk."""

import asyncio
from collections.abc import Sequence
from typing import Final

from universe.errors import TooBusy, UniverseNotFound
from universe.service.batch import (
    ChangeBatch,
    ChangeRequest,
    ChangeResult,
    DeferredReturn,
    PendingChange,
    RequestRepeated,
    check_same_request,
)
from universe.service.universe_feed import Feed
from universe.store.interface import Store, StoredEntry, StoredSnapshot, Superseded
from universe.store.log_encoding import encode_state
from universe.store.recent_changes import EarlierState
from universe.store.replica import Replica, apply_entries_from_store, read_entry_pages
from uraniborg.kernel.clock import Clock, format_iso
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.change_feed import Publisher

BATCH_SIZE: Final = 256
QUEUE_SIZE: Final = 10_000
_RETRIES: Final = 50
_MANY_ENTITIES: Final = 20_000
_MANY_ORBITS: Final = 200
"""The number of derived orbits above which a change of one mass takes long, because all may depend on it."""
_MANY_COMMANDS: Final = 50
_QUICK_COMMANDS: Final = frozenset({"tick", "updateStar", "updateRing", "removeRing", "updateGroup"})
"""Commands that take the same time in a universe of any size."""
_ORBIT_FIELDS: Final = frozenset({"mass", "parentId", "kepler"})
"""Fields on which derived orbits depend."""
_SNAPSHOTS_PER_KEPT: Final = 10
"""One of this many older snapshots is kept."""

_log = get_logger(__name__)


class LiveUniverse:
    """The current state of a universe, and the queue of requests to change it."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        feed: Publisher,
        replica: Replica,
        *,
        created_at: str,
        snapshot_every: int,
    ) -> None:
        self.id = replica.id
        self.created_at = created_at
        self.replica = replica
        self.subscribers = 0
        self.is_deleted = False
        self._feed: Feed | None = None
        self._store = store
        self._clock = clock
        self._change_feed = feed
        self._every = snapshot_every
        self._snapshot_at = replica.version - replica.version % snapshot_every
        self._snapshotting: asyncio.Task[None] | None = None
        self._jobs: list[PendingChange] = []
        self._working: asyncio.Task[None] | None = None
        self._apply_lock = asyncio.Lock()

    @property
    def is_idle(self) -> bool:
        """True if the universe has no waiting requests and no subscribers."""
        return not self._jobs and self._working is None and self.subscribers == 0

    def submit(self, request: ChangeRequest) -> asyncio.Future[ChangeResult]:
        """Return a future with the result of a change once it is on disk; it may raise CommandRefused."""
        if len(self._jobs) >= QUEUE_SIZE:
            raise TooBusy(f"{QUEUE_SIZE:,} changes of this universe are waiting.", hint="Try again in a moment.")
        future: asyncio.Future[ChangeResult] = asyncio.get_running_loop().create_future()
        self._jobs.append((request, future))
        if self._working is None:
            self._working = asyncio.create_task(self._process_jobs())
        return future

    async def apply_missed_entries(self) -> None:
        """Apply the entries that other processes have written."""
        async with self._apply_lock:
            await self._apply_new_store_entries()

    def get_or_open_feed(self) -> Feed:
        """Return the feed of all changes from now on."""
        if self._feed is None:
            self._feed = Feed(self.replica.version)
        if self.is_deleted:
            self._feed.close()
        return self._feed

    def wake_feed_or_drop_unused(self) -> None:
        """Wake the listeners for a heartbeat; drop the feed if there are none."""
        if self.subscribers == 0:
            self._feed = None
        elif self._feed is not None:
            self._feed.wake_for_heartbeat()

    def mark_deleted_and_close_feed(self) -> None:
        self.is_deleted = True
        if self._feed is not None:
            self._feed.close()

    async def wait_for_running_tasks(self) -> None:
        """Wait for running changes and snapshots."""
        for task in (self._working, self._snapshotting):
            if task is not None:
                await asyncio.gather(task, return_exceptions=True)

    async def _process_jobs(self) -> None:
        try:
            while self._jobs:
                jobs = self._dequeue_batch()
                try:
                    async with self._apply_lock:
                        await self._apply_and_write_jobs(jobs)
                except (Exception, asyncio.CancelledError) as exc:
                    for _, future in jobs:
                        _set_outcome(future, exc)
                    if isinstance(exc, asyncio.CancelledError):
                        raise
        finally:
            self._working = None

    def _dequeue_batch(self) -> list[PendingChange]:
        """Remove the next requests to write together from the queue. A deferred restore is alone in its batch."""
        count = next(
            (
                index
                for index, (request, _) in enumerate(self._jobs[:BATCH_SIZE])
                if isinstance(request.change, DeferredReturn)
            ),
            BATCH_SIZE,
        )
        jobs, self._jobs = self._jobs[: max(count, 1)], self._jobs[max(count, 1) :]
        return jobs

    async def _apply_and_write_jobs(self, jobs: Sequence[PendingChange]) -> None:
        for _ in range(_RETRIES):
            batch = await self._compute_batch(jobs)
            if not batch.entries or await self._write_and_publish_batch(batch):
                for future, outcome in batch.outcomes:
                    _set_outcome(future, outcome)
                return
            await self._apply_new_store_entries()
        raise TooBusy("Other processes change this universe all the time.", hint="Try again in a moment.")

    async def _write_and_publish_batch(self, batch: ChangeBatch) -> bool:
        """Write the batch. Return False if another process has appended to the log first."""
        try:
            uses = list(batch.uses.values())
            await self._store.append(self.id, self.replica.version, batch.entries, uses, created_at=self.created_at)
        except Superseded:
            return False
        except UniverseNotFound:
            self.mark_deleted_and_close_feed()
            raise
        self._change_feed.publish("universe", self.id, version=batch.entries[-1].version)
        batch.apply_to(self.replica)
        self._publish_and_start_snapshot(batch.entries)
        return True

    async def _compute_batch(self, jobs: Sequence[PendingChange]) -> ChangeBatch:
        batch = ChangeBatch(self.replica, format_iso(self._clock.now()))
        state = self.replica.state
        is_large = len(state.stars) + len(state.groups) > _MANY_ENTITIES
        has_many_orbits = len(state.derivedOrbits) > _MANY_ORBITS
        for request, future in jobs:
            try:
                outcome = None
                if request.key is not None:
                    outcome = await self._find_result_in_batch_or_raise_repeated(request, batch)
                if outcome is None and _is_quick(request, is_large, has_many_orbits):
                    outcome = batch.add_request(request)
                elif outcome is None:
                    outcome = await self._add_request_in_thread(batch, request)
            except Exception as exc:  # the error belongs to this request alone, which logs it under its id
                outcome = exc
            batch.outcomes.append((future, outcome))
        return batch

    async def _add_request_in_thread(self, batch: ChangeBatch, request: ChangeRequest) -> ChangeResult:
        """Add a request that takes long, such as one for a large universe, to the batch in a thread."""
        if isinstance(request.change, DeferredReturn):
            returning = await request.change.find(self.replica.version)
            request = request._replace(change=returning)
            if isinstance(returning.earlier, EarlierState):
                return batch.add_request(request)
        return await asyncio.to_thread(batch.add_request, request)

    async def _find_result_in_batch_or_raise_repeated(
        self, request: ChangeRequest, batch: ChangeBatch
    ) -> ChangeResult | None:
        """Return the result of an earlier request of this batch with this key. Raise RequestRepeated or KeyReused."""
        assert request.key is not None
        if known := batch.find_earlier_result(request):
            return known
        if use := await self._store.find_key_use(self.id, request.key):
            check_same_request(use, request)
            raise RequestRepeated(use)
        return None

    async def _apply_new_store_entries(self) -> None:
        async for entries in read_entry_pages(self._store, self.id, after=self.replica.version):
            before = self.replica.version
            try:
                await apply_entries_from_store(self._store, self.replica, entries)
            finally:
                self._publish_and_start_snapshot(entries[: self.replica.version - before])

    def _publish_and_start_snapshot(self, entries: list[StoredEntry]) -> None:
        if self._feed is not None and entries:
            self._feed.publish(entries)
        if self.replica.version - self._snapshot_at >= self._every and self._snapshotting is None:
            self._snapshot_at = self.replica.version
            self._snapshotting = asyncio.create_task(self._write_snapshot())

    async def _write_snapshot(self) -> None:
        """Write a snapshot, which makes the next start faster; a failure is only logged."""
        version, plain = self.replica.version, self.replica.mirror.to_plain()
        try:
            state = await asyncio.to_thread(encode_state, plain)
            versions = await self._store.list_snapshot_versions(self.id)
            older = [one for one in versions[:-2] if one == 1 or one // self._every % _SNAPSHOTS_PER_KEPT == 0]
            snapshot = StoredSnapshot.make_with_digest(self.id, version, state)
            await self._store.put_snapshot(self.id, snapshot, older + versions[-2:], created_at=self.created_at)
        except UraniborgError as exc:
            _log.warning("snapshot not written", universe=self.id, version=version, code=exc.code)
        finally:
            self._snapshotting = None


def _set_outcome(future: asyncio.Future[ChangeResult], outcome: ChangeResult | BaseException) -> None:
    """Set the result or the error, unless the caller has cancelled."""
    if future.done():
        return
    if isinstance(outcome, BaseException):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def _is_quick(request: ChangeRequest, is_large: bool, has_many_orbits: bool) -> bool:
    """Return True for commands that the event loop can reduce; False for those that need a thread."""
    commands = request.change
    if not isinstance(commands, list) or len(commands) >= _MANY_COMMANDS:
        return False
    if not is_large and not has_many_orbits:
        return True
    return all(
        command["type"] in _QUICK_COMMANDS
        and not (has_many_orbits and command["type"] == "updateStar" and _ORBIT_FIELDS & command["payload"].keys())
        and "parentId" not in command.get("payload", ())
        for command in commands
    )
