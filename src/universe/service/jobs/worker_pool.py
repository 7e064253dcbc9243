"""Run jobs in worker processes of one server: a bounded number at once, further jobs wait in order."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final, cast

import orjson

from universe.domain.state import Plain
from universe.service.jobs.job_store import JobStore, StoredJob
from universe.service.jobs.options_and_replies import JobError
from uraniborg.kernel.clock import format_now
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.processes.worker_dialogue import RequestFailed, WorkerEnded, WorkerProcess, start_worker

if TYPE_CHECKING:
    from universe.service.jobs.worker import JobEnd, JobRequest

STOPPED: Final[JobError] = {
    "code": "server_stopped",
    "message": "The job did not end: the server stopped.",
    "hint": "Start the job again.",
}
_STOP_S: Final = 10.0
_RECORD_S: Final = 1.0
"""The interval at which progress is stored and announced."""

_log = get_logger(__name__)


@dataclass
class _Work:
    job: StoredJob
    state: Plain | None
    """None once its process has it."""
    title: str
    worker: "WorkerProcess[JobRequest, float, JobEnd] | None" = None
    progress: float = 0.0
    recorded_at: float = 0.0


class WorkerProcesses:
    """Computes the jobs of one server. `on_change` is called with a job after each change of its state."""

    def __init__(self, store: JobStore, *, max_running: int, on_change: Callable[[StoredJob], None]) -> None:
        self._store = store
        self._on_change = on_change
        self._slots = asyncio.Semaphore(max_running)
        self._work: dict[str, _Work] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    @property
    def count(self) -> int:
        """Return the number of jobs that have not ended."""
        return len(self._work)

    def enqueue(self, job: StoredJob, state: Plain, title: str) -> None:
        """Compute a job for the state of a universe as soon as a worker is free."""
        work = _Work(job, state, title)
        self._work[job.id] = work
        task = asyncio.create_task(self._compute_in_turn(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def get_progress(self, job_id: str) -> float | None:
        """Return the fraction of a job that is done, or None for a job of another process."""
        work = self._work.get(job_id)
        return None if work is None else work.progress

    async def kill(self, job_id: str) -> None:
        """End the process of a job that was cancelled."""
        work = self._work.get(job_id)
        if work is not None and work.worker is not None:
            work.worker.kill()

    async def stop(self) -> None:
        """End all processes; their jobs fail."""
        self._is_stopping = True
        for job_id in list(self._work):
            await self.kill(job_id)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_STOP_S)

    async def _compute_in_turn(self, work: _Work) -> None:
        try:
            async with self._slots:
                if not self._is_stopping and await asyncio.to_thread(self._store.start, work.job.id, format_now()):
                    self._on_change(replace(work.job, state="running"))
                    await self._compute(work)
            if self._is_stopping and not await self._fail_job(work, STOPPED):
                job = await asyncio.to_thread(self._store.get, work.job.id)  # its worker was faster
                self._on_change(job or work.job)
        except Exception as exc:
            _log.exception("a job cannot be computed", exc=exc, job=work.job.id)
            error: JobError = {
                "code": "internal_error",
                "message": "The job could not be computed.",
                "hint": "The log of the server has the details.",
            }
            with suppress(Exception):  # the disk may be full; a later start of the server fails the job
                await self._fail_job(work, error)
        finally:
            self._work.pop(work.job.id, None)

    async def _compute(self, work: _Work) -> None:
        job, worker, error = work.job, await start_worker("universe.service.jobs.worker"), None
        work.worker = worker
        request: JobRequest = {"path": str(self._store.path.absolute()), "id": job.id, "title": work.title}
        try:
            state = await asyncio.to_thread(orjson.dumps, work.state)
            work.state = None
            reply = await worker.request(request, state, on_progress=partial(self._record_progress, work))
            if reply.result == "done" and not self._is_stopping:
                self._on_change(replace(job, state="done", progress=1.0))
        except RequestFailed as exc:
            error = cast(JobError, exc.body()["error"])
        except WorkerEnded:
            error = _make_process_error(await worker.wait())
        finally:
            await worker.end(within_s=_STOP_S)
        if error is not None and not self._is_stopping:
            await self._fail_job(work, error)

    async def _record_progress(self, work: _Work, progress: float) -> None:
        """Store and announce the progress of a job from time to time; kill its worker if the job was cancelled."""
        work.progress = progress
        if monotonic() - work.recorded_at < _RECORD_S:
            return
        work.recorded_at = monotonic()
        if await asyncio.to_thread(self._store.record_progress, work.job.id, progress):
            self._on_change(replace(work.job, state="running", progress=progress))
        elif work.worker is not None:
            work.worker.kill()  # another process has cancelled the job

    async def _fail_job(self, work: _Work, error: JobError) -> bool:
        """Fail a job. Return False if it has ended already."""
        is_ended = await asyncio.to_thread(self._store.fail, work.job.id, format_now(), error)
        if is_ended:
            self._on_change(replace(work.job, state="failed", progress=work.progress, error=error))
        return is_ended


def _make_process_error(status: int) -> JobError:
    cause = f"signal {-status}" if status < 0 else f"exit code {status}"
    return {
        "code": "worker_ended",
        "message": f"The process of the job ended with {cause} before it had a result.",
        "hint": "The machine may be out of memory: choose fewer bodies or a shorter time.",
    }
