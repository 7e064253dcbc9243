"""Start, follow, read, cancel and delete jobs, for REST, MCP, workflow nodes and the command line."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, Final, TypeVar

import orjson

from universe.domain.nbody.measurement_replies import RunComparison, RunReply
from universe.domain.state import Plain
from universe.errors import JobActive, JobEnded, JobNotDone, JobNotFound, TooManyJobs
from universe.service.jobs.job_store import NUMBERS, JobStore, StoredJob, make_owner_id
from universe.service.jobs.options_and_replies import JobOptions, JobState, TrajectoryPage, parse_job_options
from universe.service.jobs.worker_pool import STOPPED, WorkerProcesses
from universe.service.universes import UniverseService
from universe.store.interface import LogChange
from universe.store.log_encoding import make_author
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.clock import format_now
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.language.messages import find_nearest_ids
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.batched_change_feed import QueuedChangeFeed
from uraniborg.kernel.store.change_feed import NullPublisher, Publisher
from uraniborg.kernel.store.files import Lease

FEED_KIND: Final = "nbody-job"
MAX_RUNNING: Final = 2
MAX_QUEUED: Final = 100
_MOST_COMPARED: Final = 1_000
"""The most ids that are compared with an unknown one."""
_POLL_S: Final = 0.5
"""The interval at which the jobs of other processes are read."""

Value = TypeVar("Value")


class JobService:
    """Jobs of universes. Use it inside `async with jobs.running()`, inside that of the universes.

    A job is computed by a worker process, at most `max_running` at once; further jobs wait in order. Any process can
    read every job, and cancel it.

    Each method that changes something records its `actor`, or else that of the service of universes.
    """

    def __init__(
        self,
        universes: UniverseService,
        *,
        max_running: int = MAX_RUNNING,
        max_ended: int | None = None,
        store: JobStore | None = None,
        feed: Publisher | None = None,
    ) -> None:
        """Delete the oldest ended jobs beyond `max_ended`; None deletes none."""
        self.universes = universes
        self._max_ended = max_ended
        self._store = store or JobStore.make_for(universes.store)
        self._feed = feed or (NullPublisher() if universes.store.marks is None else QueuedChangeFeed())
        self._owner = make_owner_id()
        self._lease: Lease | None = None
        self._starting = asyncio.Lock()
        self._workers = WorkerProcesses(self._store, max_running=max_running, on_change=self._announce)
        self._news = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["JobService"]:
        """Compute jobs until the block ends; jobs that are active then fail with "the server stopped"."""
        await self._fail_and_announce_orphans()
        await self._delete_and_announce_oldest()
        stop_listening = self.universes.add_change_listener(self._delete_jobs_of_deleted)
        try:
            yield self
        finally:
            stop_listening()
            self.close_streams()
            await self._workers.stop()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            if self._lease is not None:
                await asyncio.to_thread(self._store.release_owner_lock, self._owner, self._lease)
                self._lease = None
            await asyncio.to_thread(self._store.close)
            await asyncio.to_thread(self._feed.close)

    def close_streams(self) -> None:
        """End all iterations over `watch`, so that the server can stop."""
        self._is_closing = True
        self._start_task(self._wake_watchers())

    async def create(
        self,
        universe_id: str,
        options: Any,
        *,
        actor: Actor | None = None,
        job_id: str | None = None,
        is_kept: bool | None = None,
    ) -> StoredJob:
        """Start a job for a universe, now or at the version of the options, and return it.

        With the `job_id` of an earlier job, return that job. A job that `is_kept` is not deleted as an old one; by
        default this is one with a `job_id`, which its caller reads again later.

        Raise MalformedRequest, UniverseNotFound, VersionNotFound, NotFound for an unknown body, or TooManyJobs.
        """
        parsed = options if isinstance(options, JobOptions) else parse_job_options(options)
        view = await self.universes.view(universe_id, parsed.version)
        if job_id is not None and (known := await self._read_live_job(job_id)) is not None:
            return known
        plain = await asyncio.to_thread(view.replica.mirror.to_plain)
        await asyncio.to_thread(_check_bodies, plain, parsed)
        if self._workers.count >= MAX_QUEUED:
            raise TooManyJobs(
                f"{self._workers.count} jobs are active, which is the limit.",
                hint="Wait for one to end, or cancel one.",
            )
        await self._acquire_lease()
        actor = actor or self.universes.actor
        job = StoredJob(
            id=job_id or new_id("job"),
            universe_id=view.record.id,
            version=view.version,
            kind=parsed.kind,
            options=parsed.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"version"}),
            author=make_author(actor).name,
            created_at=format_now(),
            owner=self._owner,
            is_kept=job_id is not None if is_kept is None else is_kept,
            actor=actor,
        )
        if not await asyncio.to_thread(self._store.add, job):
            return await self.get(universe_id, job.id)
        await self._delete_and_announce_oldest()
        self._announce(job)
        self._workers.enqueue(job, plain, view.record.name)
        return job

    async def list_jobs(
        self,
        universe_id: str | None = None,
        *,
        state: JobState | None = None,
        limit: int = 50,
        before: tuple[str, str] | None = None,
    ) -> list[StoredJob]:
        """Return jobs of a universe, or of all, newest first. Raise UniverseNotFound."""
        if universe_id is not None:
            await self.universes.read_record(universe_id)
        if not await asyncio.to_thread(lambda: self._store.exists):
            return []
        await self._fail_and_announce_orphans()
        found = await asyncio.to_thread(self._store.list_jobs, universe_id, state=state, limit=limit, before=before)
        return [self._add_live_progress(job) for job in found]

    async def get(self, universe_id: str, job_id: str) -> StoredJob:
        """Return a job. Raise JobNotFound. A job whose process has ended is failed."""
        job = await self._read_live_job(job_id)
        if job is None or job.universe_id != universe_id:
            raise JobNotFound(universe_id, job_id, await self._find_nearest_ids(universe_id, job_id))
        return job

    async def find(self, text: str) -> StoredJob:
        """Return the job whose id is `text` or begins with it. Raise JobNotFound, or InvalidInput for several jobs."""
        await self._fail_and_announce_orphans()
        exists = await asyncio.to_thread(lambda: self._store.exists)
        found = await asyncio.to_thread(self._store.find_by_prefix, text) if exists and text else []
        if len(found) > 1:
            listed = [job.id for job in found]
            raise InvalidInput(
                f"The ids of several jobs begin with '{text[:40]}'.",
                hint=f"Give more of the id: {', '.join(listed)}.",
                allowed=listed,
            )
        if not found:
            raise JobNotFound(None, text, await self._find_nearest_ids(None, text))
        return found[0]

    async def _find_nearest_ids(self, universe_id: str | None, given: str) -> list[str]:
        if not await asyncio.to_thread(lambda: self._store.exists):
            return []
        jobs = await asyncio.to_thread(self._store.list_jobs, universe_id, limit=_MOST_COMPARED)
        return find_nearest_ids(given, [job.id for job in jobs])

    async def read_result(self, universe_id: str, job_id: str) -> bytes:
        """Return the result of a job as JSON. Raise JobNotFound or JobNotDone."""
        return await self._read_part(universe_id, job_id, self._store.read_reply)

    async def read_plot(self, universe_id: str, job_id: str) -> bytes:
        """Return the chart of a job as SVG. Raise JobNotFound or JobNotDone."""
        return await self._read_part(universe_id, job_id, self._store.read_plot)

    async def read_series(self, universe_id: str, job_id: str) -> bytes:
        """Return the values of the chart of a job as JSON. Raise JobNotFound or JobNotDone."""
        return await self._read_part(universe_id, job_id, self._store.read_series)

    async def read_trajectory(
        self, universe_id: str, job_id: str, *, first: int, limit: int
    ) -> tuple[TrajectoryPage, bytes]:
        """Return the layout of a trajectory, with `first` and the number of times, and these states.

        Raise JobNotFound or JobNotDone, also for a kind of job without trajectory.
        """
        layout = await self._read_part(universe_id, job_id, self._store.read_trajectory_layout)
        size = 4 * NUMBERS * len(layout["ids"])
        states = await asyncio.to_thread(self._store.read_trajectory_states, job_id, first * size, limit * size)
        returned = len(states) // size
        following = first + returned if returned and first + returned < layout["count"] else None
        return {**layout, "first": first, "returned": returned, "next": following}, states

    async def compare(self, universe_id: str, job_id: str, other_id: str, other_universe_id: str) -> RunComparison:
        """Return the differences of two N-body runs. Raise JobNotFound, JobNotDone, or InvalidInput for other kinds."""
        replies: list[RunReply] = []
        for owner, one in ((universe_id, job_id), (other_universe_id, other_id)):
            job = await self.get(owner, one)
            if job.kind != "nbody":
                raise InvalidInput(
                    f"Job {one[:100]} is of the kind {job.kind}; only N-body runs can be compared.",
                    hint="Choose two jobs of the kind nbody.",
                    argument="with",
                )
            replies.append(orjson.loads(await self.read_result(owner, one)))
        return await asyncio.to_thread(_compare_replies, *replies)

    async def cancel(self, universe_id: str, job_id: str, *, actor: Actor | None = None) -> StoredJob:
        """Cancel an active job of any process. Raise JobNotFound or JobEnded."""
        job = await self.get(universe_id, job_id)
        by = actor or self.universes.actor
        if not job.is_active or not await asyncio.to_thread(self._store.cancel, job_id, format_now(), by):
            job = await self.get(universe_id, job_id)
            raise JobEnded(
                f"Job {job_id[:100]} has ended: {job.state}.",
                hint="Only an active job can be cancelled.",
                state=job.state,
            )
        await self._workers.kill(job_id)
        job = await self.get(universe_id, job_id)
        self._announce(job)
        return job

    async def delete(self, universe_id: str, job_id: str, *, actor: Actor | None = None) -> None:
        """Delete a job that has ended, with its result; the log of changes says who did so.

        Raise JobNotFound or JobActive.
        """
        job = await self.get(universe_id, job_id)
        if job.is_active:
            raise JobActive(f"Job {job_id[:100]} is {job.state}.", hint="Cancel it first.", state=job.state)
        await asyncio.to_thread(self._store.delete, job_id)
        by = actor or self.universes.actor
        await asyncio.to_thread(record_change, "job deleted", job_id, by, universe=universe_id)
        self._feed.publish(FEED_KIND, job_id, universeId=universe_id, deleted=True)

    async def watch(
        self, universe_id: str, job_id: str, *, heartbeat_s: float = 15.0
    ) -> AsyncIterator[StoredJob | None]:
        """Yield a job at once and after each change until it has ended; None after `heartbeat_s` without a change.

        Raise JobNotFound.
        """
        last: StoredJob | None = None
        waited = 0.0
        while not self._is_closing:
            job = await self.get(universe_id, job_id)
            if job != last:
                yield job
                last, waited = job, 0.0
            if not job.is_active:
                return
            if waited >= heartbeat_s:
                yield None
                waited = 0.0
            waited += _POLL_S
            async with self._news:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), _POLL_S)

    async def wait(self, universe_id: str, job_id: str) -> StoredJob:
        """Return a job when it has ended. Raise JobNotFound."""
        async for job in self.watch(universe_id, job_id):
            if job is not None and not job.is_active:
                return job
        return await self.get(universe_id, job_id)

    async def _read_live_job(self, job_id: str) -> StoredJob | None:
        if not await asyncio.to_thread(lambda: self._store.exists):
            return None
        job = await asyncio.to_thread(self._store.get, job_id)
        if job is not None and job.is_active and job.owner != self._owner:
            await self._fail_and_announce_orphans()
            job = await asyncio.to_thread(self._store.get, job_id)
        return None if job is None else self._add_live_progress(job)

    async def _read_part(self, universe_id: str, job_id: str, read: Callable[[str], Value | None]) -> Value:
        job = await self.get(universe_id, job_id)
        found = await asyncio.to_thread(read, job_id)
        if found is None:
            raise JobNotDone(
                f"Job {job_id[:100]} is {job.state} and has no such result."
                if job.state != "done"
                else f"A job of the kind {job.kind} has no such result.",
                hint="Read the job: it has the state, the progress and the error.",
                state=job.state,
                jobId=job_id[:100],
            )
        return found

    async def _fail_and_announce_orphans(self) -> None:
        if await asyncio.to_thread(lambda: self._store.exists):
            for job in await asyncio.to_thread(self._fail_orphans):
                self._announce(job)

    def _fail_orphans(self) -> list[StoredJob]:
        ended: list[StoredJob] = []
        for owner in self._store.list_active_owners():
            if owner == self._owner or self._store.is_owner_alive(owner):
                continue
            ended += [
                replace(job, state="failed", error=STOPPED)
                for job in self._store.list_active_of_owner(owner)
                if self._store.fail(job.id, format_now(), STOPPED)
            ]
        return ended

    async def _delete_and_announce_oldest(self) -> None:
        """Delete the jobs beyond the number of ended jobs that are stored."""
        if self._max_ended is None or not await asyncio.to_thread(lambda: self._store.exists):
            return
        for job in await asyncio.to_thread(self._store.delete_oldest, self._max_ended):
            await asyncio.to_thread(
                *(record_change, "job deleted", job.id, None), universe=job.universe_id, reason="one of the oldest"
            )
            self._feed.publish(FEED_KIND, job.id, universeId=job.universe_id, deleted=True)

    async def _acquire_lease(self) -> None:
        async with self._starting:
            if self._lease is None:
                self._lease = await asyncio.to_thread(self._store.acquire_owner_lock, self._owner)

    def _add_live_progress(self, job: StoredJob) -> StoredJob:
        live = self._workers.get_progress(job.id)
        return replace(job, progress=live) if live is not None and job.state == "running" else job

    def _announce(self, job: StoredJob) -> None:
        """Announce the state of a job in the change feed, and wake the streams of this process."""
        self._feed.publish(
            FEED_KIND,
            job.id,
            universeId=job.universe_id,
            version=job.version,
            job=job.kind,
            state=job.state,
            progress=round(job.progress, 4),
        )
        self._start_task(self._wake_watchers())

    async def _wake_watchers(self) -> None:
        async with self._news:
            self._news.notify_all()

    def _delete_jobs_of_deleted(self, change: LogChange) -> None:
        if change.version is None:
            self._start_task(self._cancel_and_delete_all(change.universe_id))

    async def _cancel_and_delete_all(self, universe_id: str) -> None:
        if not await asyncio.to_thread(lambda: self._store.exists):
            return
        for job in await asyncio.to_thread(self._store.list_jobs, universe_id, limit=MAX_QUEUED):
            if job.is_active:
                with suppress(JobEnded, JobNotFound):
                    await self.cancel(universe_id, job.id)
        await asyncio.to_thread(self._store.delete_of_universe, universe_id)

    def _start_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _check_bodies(plain: Plain, options: JobOptions) -> None:
    from universe.service.jobs.measurement import check_job_bodies  # imports numpy

    check_job_bodies(plain, options)


def _compare_replies(one: RunReply, other: RunReply) -> RunComparison:
    from universe.domain.nbody.analysis import compare_run_analyses  # imports numpy

    labels = [f"{reply['id']} version {reply['version']}" for reply in (one, other)]
    return {"labels": labels, "differences": compare_run_analyses(one, other, labels)}
