"""One universe in memory: changes in one order, each on disk before anybody hears of it."""

import asyncio
from collections.abc import Sequence
from typing import Final

import orjson

from universe.errors import TooBusy, UniverseNotFound
from universe.service.batch import Batch, check_same
from universe.service.feed import Feed
from universe.service.results import Ask, GoBack, Job, Repeated, Result
from universe.store.port import Entry, Snapshot, Store, Superseded
from universe.store.rebuilding import Replica, pages
from uraniborg.kernel.clock import Clock, iso
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import get_logger

BATCH: Final = 256
QUEUE: Final = 10_000
_RETRIES: Final = 50
_LARGE: Final = 20_000
_MANY_ORBITS: Final = 200
"""Orbits by Kepler's third law above which a change of one mass takes long: all of them may follow from it."""
_MANY: Final = 50
_SPARSE: Final = 10
"""Of older snapshots every tenth is kept."""

_log = get_logger(__name__)


class LiveUniverse:
    """The present state of a universe, and the queue of what is to be done to it."""

    def __init__(self, store: Store, clock: Clock, replica: Replica, *, made_at: str, snapshot_every: int) -> None:
        self.id = replica.id
        self.made_at = made_at
        self.replica = replica
        self.subscribers = 0
        self.is_gone = False
        self._feed: Feed | None = None
        self._store = store
        self._clock = clock
        self._every = snapshot_every
        self._snapshot_at = replica.version - replica.version % snapshot_every
        self._snapshotting: asyncio.Task[None] | None = None
        self._jobs: list[Job] = []
        self._working: asyncio.Task[None] | None = None
        self._moving = asyncio.Lock()

    @property
    def is_idle(self) -> bool:
        return not self._jobs and self._working is None and self.subscribers == 0

    def submit(self, ask: Ask) -> asyncio.Future[Result]:
        """The result of a change, once it is on disk. It raises CommandRefused, VersionConflict, StoreUnavailable, …"""
        if len(self._jobs) >= QUEUE:
            raise TooBusy(f"{QUEUE:,} changes of this universe wait already.", hint="Try again in a moment.")
        job = Job(ask, asyncio.get_running_loop().create_future())
        self._jobs.append(job)
        if self._working is None:
            self._working = asyncio.create_task(self._work())
        return job.future

    async def catch_up(self) -> None:
        """Take over what others have written."""
        async with self._moving:
            await self._catch_up()

    def listen(self) -> Feed:
        """The feed of what happens from now on."""
        if self._feed is None:
            self._feed = Feed(self.replica.version)
        if self.is_gone:
            self._feed.close()
        return self._feed

    def beat(self) -> None:
        """Let those who listen know that there is nothing to tell; forget the feed if nobody does."""
        if self.subscribers == 0:
            self._feed = None
        elif self._feed is not None:
            self._feed.beat()

    def gone(self) -> None:
        """The universe was deleted."""
        self.is_gone = True
        if self._feed is not None:
            self._feed.close()

    async def settle(self) -> None:
        """Wait for what is under way."""
        for task in (self._working, self._snapshotting):
            if task is not None:
                await asyncio.gather(task, return_exceptions=True)

    async def _work(self) -> None:
        try:
            while self._jobs:
                jobs = self._next()
                try:
                    async with self._moving:
                        await self._change(jobs)
                except (Exception, asyncio.CancelledError) as exc:
                    for job in jobs:
                        job.answer(exc)
                    if isinstance(exc, asyncio.CancelledError):
                        raise
        finally:
            self._working = None

    def _next(self) -> list[Job]:
        """What is written together. Who goes back goes alone: where to is only known when all before it are written."""
        count = next((at for at, job in enumerate(self._jobs[:BATCH]) if isinstance(job.ask.change, GoBack)), BATCH)
        jobs, self._jobs = self._jobs[: max(count, 1)], self._jobs[max(count, 1) :]
        return jobs

    async def _change(self, jobs: Sequence[Job]) -> None:
        for _ in range(_RETRIES):
            batch = await self._accept(jobs)
            if not batch.entries or await self._write(batch):
                for job, answer in batch.answers:
                    job.answer(answer)
                return
            await self._catch_up()
        raise TooBusy("Others change this universe all the time.", hint="Try again in a moment.")

    async def _write(self, batch: Batch) -> bool:
        """Whether the batch was written; if not, somebody else was faster."""
        try:
            uses = list(batch.uses.values())
            await self._store.append(self.id, self.replica.version, batch.entries, uses, made_at=self.made_at)
        except Superseded:
            return False
        except UniverseNotFound:
            self.gone()
            raise
        batch.take_effect(self.replica)
        self._tell(batch.entries)
        return True

    async def _accept(self, jobs: Sequence[Job]) -> Batch:
        batch = Batch(self.replica, iso(self._clock.now()))
        is_large = self._is_large()
        for job in jobs:
            try:
                answer = await self._known(job.ask, batch) if job.ask.key is not None else None
                if answer is None:
                    is_quick = not is_large and isinstance(job.ask.change, list) and len(job.ask.change) < _MANY
                    answer = batch.add(job.ask) if is_quick else await self._add(batch, job.ask)
            except Exception as exc:  # of one request, which must not be everybody's, and which logs it under its id
                answer = exc
            batch.answers.append((job, answer))
        return batch

    def _is_large(self) -> bool:
        state = self.replica.state
        if len(state.derivedOrbits) > _MANY_ORBITS:
            return True
        return len(state.stars) + len(state.groups) + len(state.rootIds) + len(state.rootGroupIds) > _LARGE

    async def _add(self, batch: Batch, ask: Ask) -> Result:
        """Beside the loop: in large universes, and for many commands at once, it takes long."""
        if isinstance(ask.change, GoBack):
            ask = ask._replace(change=await ask.change.state_at(self.replica.version))
        return await asyncio.to_thread(batch.add, ask)

    async def _known(self, ask: Ask, batch: Batch) -> Result | None:
        """The result of an earlier request of this batch with the same key. Raises Repeated, or KeyReused."""
        assert ask.key is not None
        if known := batch.known(ask):
            return known
        if use := await self._store.key(self.id, ask.key):
            check_same(use, ask)
            raise Repeated(use)
        return None

    async def _catch_up(self) -> None:
        async for entries in pages(self._store, self.id, after=self.replica.version):
            before = self.replica.version
            try:
                self.replica.take(entries)
            finally:
                self._tell(entries[: self.replica.version - before])

    def _tell(self, entries: list[Entry]) -> None:
        if self._feed is not None and entries:
            self._feed.publish(entries)
        if self.replica.version - self._snapshot_at >= self._every and self._snapshotting is None:
            self._snapshot_at = self.replica.version
            self._snapshotting = asyncio.create_task(self._snapshot())

    async def _snapshot(self) -> None:
        """For a quicker start next time; that it fails is no loss."""
        version, plain = self.replica.version, self.replica.mirror.plain()
        try:
            state = await asyncio.to_thread(orjson.dumps, plain)
            versions = await self._store.snapshot_versions(self.id)
            keep = [one for one in versions[:-2] if one // self._every % _SPARSE == 0] + versions[-2:]
            digest = Snapshot.digest_of(self.id, version, state)
            await self._store.put_snapshot(self.id, Snapshot(version, state, digest), keep, made_at=self.made_at)
        except UraniborgError as exc:
            _log.warning("snapshot not written", universe=self.id, version=version, code=exc.code)
        finally:
            self._snapshotting = None
