"""Execute runs that the console started, each in a process of its own; resume them after an approval.

A run that waits for an approval has ended; the process that ran it waits for the decision, so that the run is resumed
at once. The requests of such runs are stored, so that a restarted server resumes them, too. A request with a secret
stays in the memory of this server: after a restart, a person gives the secret again and resumes the run.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pydantic import BaseModel, Field

from pflow.config import load_settings
from pflow.errors import RunNotRecorded
from pflow.service.history import ChangeRecord
from pflow.service.run_replies import EndedRun, RunRequest, StartedRun
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import InternalError, Unavailable, UraniborgError
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.processes.worker_dialogue import RequestFailed, WorkerEnded, WorkerProcess, start_worker
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.store.files import make_private_folder
from uraniborg.kernel.store.inbox import DecisionNotFound, Inbox
from uraniborg.servers.shared_file import SharedFile

_MAX_WAITING: Final = 1_000


class _StoredRuns(BaseModel):
    requests: dict[str, RunRequest] = Field(default_factory=dict[str, RunRequest])


class WaitingRuns:
    """The requests of runs by the id of their approval, in a private file that servers share.

    Its methods block, and raise OSError or Locked.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._file = SharedFile(
            path or secure_own_folder("data") / "console" / "waiting-runs.json", lambda _: _StoredRuns()
        )

    def list_ids(self) -> list[str]:
        """Return the ids of the approvals, the oldest first."""
        return list(self._file.read().requests)

    def add(self, approval_id: str, request: RunRequest) -> None:
        make_private_folder(self._file.path.parent)
        with self._file.change() as stored:
            stored.requests[approval_id] = request
            for oldest in list(stored.requests)[:-_MAX_WAITING]:
                del stored.requests[oldest]

    def take(self, approval_id: str) -> RunRequest | None:
        """Remove a request and return it; None if there is none, or another server has taken it."""
        if approval_id not in self._file.read().requests:
            return None
        with self._file.change() as stored:
            return stored.requests.pop(approval_id, None)


_MAX_RUNS: Final = 16
_MAX_IDLE: Final = 4
"""The number of processes that may wait for an approval; further runs start a new process when they are approved."""
_STOP_S: Final = 10.0

_log = get_logger(__name__)


class TooManyRuns(Unavailable):
    code = "too_many_runs"


@dataclass(eq=False)
class _RunWorker:
    process: WorkerProcess[RunRequest, StartedRun, EndedRun]
    is_idle: bool = False


@dataclass
class RunWorkers:
    """The processes of runs, and the runs that wait for an approval."""

    inbox: Inbox
    path: Path | None = None
    """The file with the runs that wait, by default in the data folder."""
    _workers: set[_RunWorker] = field(default_factory=set[_RunWorker])
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    _holders: dict[str, _RunWorker] = field(default_factory=dict[str, _RunWorker])
    """The processes that wait for a decision, by the id of their approval."""
    _unstored_requests: dict[str, RunRequest] = field(default_factory=dict[str, RunRequest])
    """The requests of waiting runs with secrets, and those that could not be stored, by the id of their approval."""
    _followed: set[str] = field(default_factory=set[str])
    """The ids of the runs that are active, or have ended and are not among the waiting runs yet."""
    _resuming: list[str] = field(default_factory=list[str])
    """The ids of the approvals whose runs are being resumed, once for each attempt."""

    def __post_init__(self) -> None:
        self._waiting = WaitingRuns(self.path)

    async def resume_decided_runs(self) -> None:
        """Resume the runs of an earlier server that were approved while no server ran."""
        try:
            approval_ids = await asyncio.to_thread(self._waiting.list_ids)
        except (OSError, UraniborgError) as exc:
            _log.exception("the runs that wait cannot be read", exc=exc)
            return
        for approval_id in approval_ids:
            try:
                await self.resume_decided(approval_id)
            except (OSError, UraniborgError) as exc:
                _log.exception("a run cannot be resumed", exc=exc, approval_id=approval_id)

    async def start_run(
        self, name: str, inputs: JsonObject | None, *, actor: Actor, fresh: bool = False
    ) -> StartedRun | EndedRun:
        """Start a run and return its id, or the refusal of a workflow that cannot run. `actor` is who starts it.

        Raise TooManyRuns, or RunNotRecorded if nobody could find the run again.
        """
        active = sum(not worker.is_idle for worker in self._workers)
        if active >= _MAX_RUNS:
            raise TooManyRuns(
                f"{active} runs are active, which is the limit.", hint="Wait until a run ends, or cancel one."
            )
        request: RunRequest = {"name": name, "inputs": inputs, "fresh": fresh, "actor": actor.model_dump()}
        reply = await self._run(await self._start_worker(), request)
        refusal = reply.get("error")
        if refusal and refusal["code"] == RunNotRecorded.code:
            raise RunNotRecorded(refusal["message"], hint=refusal.get("hint", ""))
        return reply

    async def resumes_when_decided(self, run_id: str, approval_id: str) -> bool:
        """Return True if the console resumes the run that waits for this approval, as soon as it is decided."""
        # In the order in which a run passes through them, so that a run on its way is not missed.
        return (
            run_id in self._followed
            or approval_id in self._unstored_requests
            or approval_id in await asyncio.to_thread(self._waiting.list_ids)
            or approval_id in self._resuming
        )

    async def resume_decided(self, approval_id: str) -> None:
        """Run a workflow again that waited for this decision, if the console had started it.

        Drop the request if the question was deleted, or if another run has used and archived the decision. Raise
        OSError or UraniborgError if the run does not begin; then the request waits for the next attempt.
        """
        self._resuming.append(approval_id)
        try:
            await self._resume_decided(approval_id)
        finally:
            self._resuming.remove(approval_id)

    async def _resume_decided(self, approval_id: str) -> None:
        try:
            entry = await asyncio.to_thread(self.inbox.get, approval_id)
        except DecisionNotFound:
            entry = None
        if entry is not None and entry.state != "decided":
            return
        holder = self._holders.pop(approval_id, None)
        in_memory = approval_id in self._unstored_requests
        taking = asyncio.create_task(self._take_request(approval_id))
        try:
            request = await asyncio.shield(taking)
            if request is None or entry is None or entry.id != approval_id:
                if holder is not None:
                    await self._end_worker(holder)
                return
            if entry.actor is not None and (waiting := request.get("run_id")):
                await asyncio.to_thread(self._record_resumption, str(waiting), entry.actor)
            await self._resume_run(holder, {**request, "fresh": False})
        except BaseException:  # also if the server stops meanwhile
            if holder is not None and holder.is_idle:
                self._holders[approval_id] = holder
            if (request := await taking) is not None:
                await self._store_request(approval_id, request, in_memory=in_memory)
            raise

    def _record_resumption(self, run_id: str, actor: Actor) -> None:
        """Record who resumes the run: the decision resumes it, and its starter stays who started it."""
        ChangeRecord(load_settings().home).add("resume", run_id, actor)

    async def _take_request(self, approval_id: str) -> RunRequest | None:
        request = self._unstored_requests.pop(approval_id, None)
        return request or await asyncio.to_thread(self._waiting.take, approval_id)

    async def _resume_run(self, holder: _RunWorker | None, request: RunRequest) -> None:
        """Let the process that waits for the decision run the workflow, or a new one if it has ended."""
        if holder is not None:
            with suppress(InternalError):
                await self._run(holder, request)
                return
        await self._run(await self._start_worker(), request)

    async def _store_request(self, approval_id: str, request: RunRequest, *, in_memory: bool) -> None:
        """Store the request of a run that waits, in memory or in the file; in memory if the file cannot be written."""
        if not in_memory:
            try:
                await asyncio.to_thread(self._waiting.add, approval_id, request)
            except (OSError, UraniborgError) as exc:
                _log.exception("the request of a run cannot be stored", exc=exc, approval_id=approval_id)
            else:
                return
        self._unstored_requests[approval_id] = request

    async def stop(self) -> None:
        """Interrupt all runs; they can be resumed. Runs that wait for an approval still wait."""
        await asyncio.gather(*(worker.process.end(within_s=_STOP_S) for worker in self._workers))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_STOP_S)

    async def _start_worker(self) -> _RunWorker:
        worker = _RunWorker(await start_worker("pflow.api.run_worker"))
        self._workers.add(worker)
        return worker

    async def _run(self, worker: _RunWorker, request: RunRequest) -> StartedRun | EndedRun:
        """Let the worker run the workflow, follow it in a task, and return the run or the reply, which comes first."""
        worker.is_idle = False
        first: asyncio.Future[StartedRun | EndedRun] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._follow_run(worker, request, first))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await first

    async def _follow_run(
        self, worker: _RunWorker, request: RunRequest, first: "asyncio.Future[StartedRun | EndedRun]"
    ) -> None:
        """Wait until the run of the worker has ended."""
        reply: EndedRun | None = None
        run_id = ""

        async def note_start(run: StartedRun | EndedRun) -> None:
            nonlocal run_id
            run_id = str(run["run_id"])
            self._followed.add(run_id)
            if not first.done():
                first.set_result(run)

        try:
            reply = (await worker.process.request(request, on_progress=note_start)).result
            await note_start(reply)
        except (RequestFailed, WorkerEnded) as exc:
            _log.warning("a run did not end by itself", reason=exc.message)
        except Exception as exc:
            _log.exception("a run cannot be followed", exc=exc)
        finally:
            if not first.done():
                hint = "Read the terminal in which `uraniborg serve` runs, then try again."
                first.set_exception(InternalError("The run did not begin.", hint=hint))
        error = reply.get("error") if reply else None
        approval_id = error.get("approval_id") if error else None
        try:
            if approval_id is None:
                await self._end_worker(worker)
            else:
                has_secret = bool(reply and reply.get("secret_inputs"))
                waiting: RunRequest = {**request, "run_id": run_id}
                await self._store_request(approval_id, waiting, in_memory=has_secret)
                await self._hold_until_decided(worker, approval_id)
        except Exception as exc:
            _log.exception("a run cannot be resumed", exc=exc, approval_id=approval_id)
        finally:
            self._followed.discard(run_id)

    async def _hold_until_decided(self, worker: _RunWorker, approval_id: str) -> None:
        if len(self._holders) < _MAX_IDLE:
            worker.is_idle = True
            self._holders[approval_id] = worker
        else:
            await self._end_worker(worker)
        await self.resume_decided(approval_id)  # the decision may have come before the run was among the waiting ones

    async def _end_worker(self, worker: _RunWorker) -> None:
        await worker.process.end(within_s=_STOP_S)
        self._workers.discard(worker)
