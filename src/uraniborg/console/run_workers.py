"""The runs that the console has started: each in a process of its own, resumed when a person has approved."""

import asyncio
import json
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, cast

from uraniborg.kernel.errors import InternalError, Unavailable
from uraniborg.kernel.inbox import Entry, Inbox
from uraniborg.kernel.logging import get_logger

_MAX_RUNS: Final = 16
_MAX_WAITING: Final = 1_000
_LINE_BYTES: Final = 64_000_000
_STOP_S: Final = 10.0

_log = get_logger(__name__)


class TooManyRuns(Unavailable):
    code = "too_many_runs"


@dataclass(eq=False)
class _Worker:
    process: asyncio.subprocess.Process
    request: dict[str, Any]
    first_line: "asyncio.Future[dict[str, Any]]"
    run_id: str | None = None


@dataclass
class RunWorkers:
    """The processes of runs, and the runs that wait for an approval."""

    inbox: Inbox
    _workers: set[_Worker] = field(default_factory=set[_Worker])
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    _waiting: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    """The requests of runs that wait, by the id of their approval."""

    async def start_run(self, name: str, inputs: dict[str, Any] | None, *, fresh: bool = False) -> dict[str, Any]:
        """Start a run and return its id, or the refusal of a workflow that cannot run. Raise TooManyRuns."""
        if len(self._workers) >= _MAX_RUNS:
            raise TooManyRuns(f"{len(self._workers)} runs are active, which is the limit.", hint="Wait for one to end.")
        worker = await self._start_worker({"name": name, "inputs": inputs, "fresh": fresh})
        return await worker.first_line

    async def resume_decided(self, entry: Entry) -> None:
        """Run a workflow again that waited for this decision, if the console had started it."""
        request = self._waiting.pop(entry.id, None)
        if request is not None:
            await self._start_worker({**request, "fresh": False})

    async def stop(self) -> None:
        """Cancel all runs; they can be resumed."""
        for worker in self._workers:
            with suppress(ProcessLookupError):
                worker.process.send_signal(signal.SIGINT)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_STOP_S)
        for worker in self._workers:
            with suppress(ProcessLookupError):
                worker.process.kill()

    async def _start_worker(self, request: dict[str, Any]) -> _Worker:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "pflow.run_worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE_BYTES,
            start_new_session=True,  # Ctrl-C at the server cancels the runs through `stop`
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.close()
        worker = _Worker(process, request, asyncio.get_running_loop().create_future())
        self._workers.add(worker)
        task = asyncio.create_task(self._follow_worker(worker))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return worker

    async def _follow_worker(self, worker: _Worker) -> None:
        """Read what the worker writes until it ends."""
        last: dict[str, Any] = {}
        stream = worker.process.stdout
        assert stream is not None
        try:
            async for line in stream:
                last = json.loads(line)
                if not worker.first_line.done():
                    worker.first_line.set_result(last)
            await worker.process.wait()
        except Exception as exc:
            _log.exception("a run cannot be followed", exc=exc)
        finally:
            self._workers.discard(worker)
            if not worker.first_line.done():
                worker.first_line.set_exception(InternalError("The run did not begin.", hint="See the log."))
        approval_id = _find_approval_id(last)
        if approval_id:
            self._waiting[approval_id] = worker.request
            for oldest in list(self._waiting)[:-_MAX_WAITING]:
                del self._waiting[oldest]
            entry = await asyncio.to_thread(self.inbox.get, approval_id)
            if entry.state == "decided":  # before the worker had ended
                await self.resume_decided(entry)


def _find_approval_id(reply: dict[str, Any]) -> str | None:
    """Return the id of the approval that the run of this reply waits for, or None."""
    error = cast("dict[str, Any]", reply.get("error") or {})
    return error.get("approval_id")
