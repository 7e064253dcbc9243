"""The dialogue with workers: child processes that answer requests, the side of the parent and the side of the child.

A message is a line of JSON, followed by `size` bytes. To the worker go requests: `{"id": 1, "request": …, "size": 0}`.
From the worker come `{"ready": …}`, and with the id of a request any number of `{"progress": …}`, then
`{"result": …}` or `{"error": {…}, "status": 404}`.

A worker ends when its stdin does, which also happens if its parent is killed. To cancel a request, end its worker.
"""

import asyncio
import itertools
import json
import os
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Generic, NamedTuple, NotRequired, TypeAlias, TypeVar

from typing_extensions import TypedDict

from uraniborg.kernel.errors import ErrorFacts, InternalError, Unavailable, UraniborgError, as_error
from uraniborg.kernel.logging import configure_logging, get_logger
from uraniborg.kernel.processes.child_processes import end_process
from uraniborg.kernel.processes.reserved_stdio import LINE_LIMIT, Client

RequestT = TypeVar("RequestT")
ProgressT = TypeVar("ProgressT")
ResultT = TypeVar("ResultT")
_EXIT_AT_ONCE: Final = partial(os._exit, 1)


class RequestHead(TypedDict):
    """The line before the body of a request."""

    id: int
    request: Any
    size: NotRequired[int]


class MessageHead(TypedDict, total=False):
    """The line before the body of a message of a worker: it is ready, or progress, the result or the error."""

    ready: Any
    id: int
    progress: Any
    result: Any
    size: int
    error: ErrorFacts
    status: int


@dataclass(frozen=True)
class WorkerRequest(Generic[RequestT, ProgressT, ResultT]):
    """A request, to be answered once, from any thread. Answers are discarded if the parent has ended."""

    content: RequestT
    body: bytes
    _send: Callable[..., None]

    def report_progress(self, progress: ProgressT) -> None:
        self._send(progress=progress)

    def send_result(self, result: ResultT, body: bytes = b"") -> None:
        self._send(body, result=result, size=len(body))

    def send_error(self, exc: Exception) -> None:
        """Answer with the code, message and hint of an exception; log an exception that is a bug."""
        error = as_error(exc)
        if isinstance(error, InternalError):
            get_logger(__name__).exception("a request failed", exc=exc)
        self._send(error=error.body()["error"], status=error.status)


class Parent:
    """The process that started this one, and has stdin and stdout for itself, as a `Client` has."""

    def __init__(self) -> None:
        self._client = Client()
        self._lock = threading.Lock()

    def listen(self, deliver: Callable[[WorkerRequest[Any, Any, Any] | None], object]) -> None:
        """Call `deliver` in a thread with each request, and with None once the parent has ended or needs no more."""

        def read() -> None:
            try:
                with self._client.open_input() as source:
                    while (line := source.readline()).endswith(b"\n"):  # not if the parent was killed amid a message
                        head: RequestHead = json.loads(line)
                        size = head.get("size", 0)
                        body = source.read(size)
                        if len(body) == size:
                            deliver(WorkerRequest(head["request"], body, partial(self.send, id=head["id"])))
            finally:
                deliver(None)

        # A daemon: a thread that waits for input cannot be stopped.
        threading.Thread(target=read, name="requests", daemon=True).start()

    def send(self, body: bytes = b"", **head: object) -> None:
        """Send a message, such as `ready`."""
        message = json.dumps(head, default=str).encode() + b"\n" + body
        with self._lock, suppress(BrokenPipeError):  # the parent has ended
            self._client.write(message)


def answer_requests(
    answer: Callable[[WorkerRequest[RequestT, ProgressT, ResultT]], ResultT],
    *,
    on_parent_ended: Callable[[], object] = _EXIT_AT_ONCE,
) -> None:
    """Answer requests one after the other with what `answer` returns or raises. Return when the parent has ended.

    If requests are not answered then, `on_parent_ended` is called in a thread; by default this process ends at once.
    """
    requests: SimpleQueue[WorkerRequest[RequestT, ProgressT, ResultT] | None] = SimpleQueue()
    received = answered = 0

    def deliver(request: WorkerRequest[RequestT, ProgressT, ResultT] | None) -> None:
        nonlocal received
        if request is not None:
            received += 1
        elif received > answered:
            on_parent_ended()
        requests.put(request)

    Parent().listen(deliver)
    configure_logging()
    while (request := requests.get()) is not None:
        try:
            send = partial(request.send_result, answer(request))
        except Exception as exc:
            send = partial(request.send_error, exc)
        answered += 1  # before the answer, after which the parent may end this process
        send()


_Messages: TypeAlias = asyncio.Queue[tuple[MessageHead, bytes] | None]
"""The messages about one request, and None when the worker has ended."""
_log = get_logger(__name__)


class WorkerEnded(Unavailable):
    """The worker has ended before it had answered a request."""

    code = "worker_ended"


class RequestFailed(UraniborgError):
    """The error of a request, as the worker reported it, with the code and status of that error."""

    def __init__(self, body: Mapping[str, Any], status: int) -> None:
        error = dict(body)
        self.code = str(error.pop("code"))  # pyright: ignore[reportAttributeAccessIssue] - that of the worker's error
        self.status = status  # pyright: ignore[reportAttributeAccessIssue]
        super().__init__(str(error.pop("message")), hint=str(error.pop("hint", "")), **error)


class RequestReply(NamedTuple, Generic[ResultT]):
    result: ResultT
    body: bytes


class WorkerProcess(Generic[RequestT, ProgressT, ResultT]):
    """A worker, whose requests, progress and results have these types."""

    def __init__(self, process: Process, on_ready: Callable[[Any], object] | None) -> None:
        self.process = process
        self._on_ready = on_ready
        self._numbers = itertools.count()
        self._replies: dict[int, _Messages] = {}
        self._reading = asyncio.create_task(self._read_messages())

    async def request(
        self,
        request: RequestT,
        body: bytes = b"",
        *,
        on_progress: Callable[[ProgressT], Awaitable[None]] | None = None,
    ) -> RequestReply[ResultT]:
        """Return the reply of the worker. Raise RequestFailed, WorkerEnded, or the exception of `on_progress`.

        If this call is cancelled, the worker continues, and its reply is discarded.
        """
        assert self.process.stdin is not None
        number, replies = next(self._numbers), _Messages()
        head: RequestHead = {"id": number, "request": request, "size": len(body)}
        self._replies[number] = replies
        try:
            if self._reading.done():
                replies.put_nowait(None)
            with suppress(ConnectionError):  # the process has ended, and so does its output
                self.process.stdin.write(json.dumps(head).encode() + b"\n" + body)
                await self.process.stdin.drain()
            while (message := await replies.get()) is not None:
                reply, content = message
                if "error" in reply and "status" in reply:
                    raise RequestFailed(reply["error"], reply["status"])
                if "result" in reply:
                    return RequestReply(reply["result"], content)
                if "progress" in reply and on_progress is not None:
                    await on_progress(reply["progress"])
        finally:
            del self._replies[number]
        raise WorkerEnded("The process of the request has ended.", hint="Try again.")

    def kill(self) -> None:
        """Kill the process; its requests end with WorkerEnded."""
        with suppress(ProcessLookupError):
            self.process.kill()

    async def wait(self) -> int:
        """Return the status of the process once it has ended."""
        await asyncio.wait([self._reading])
        return await self.process.wait()

    async def end(self, *, within_s: float) -> int:
        """Let the process end, kill it if it still runs after `within_s` seconds, and return its status."""
        return await end_process(self.process, within_s=within_s)

    async def _read_messages(self) -> None:
        """Pass the messages of the worker on until it ends."""
        assert self.process.stdout is not None
        try:
            while True:
                head: MessageHead = json.loads(await self.process.stdout.readuntil())
                body = await self.process.stdout.readexactly(head.get("size", 0))
                if "ready" in head and self._on_ready is not None:
                    self._on_ready(head["ready"])
                elif (replies := self._replies.get(head.get("id", -1))) is not None:
                    replies.put_nowait((head, body))
        except asyncio.IncompleteReadError:  # the process has ended, perhaps amid a message
            pass
        except Exception as exc:
            _log.exception("the messages of a worker cannot be read", exc=exc)
            self.kill()
        finally:
            for replies in self._replies.values():
                replies.put_nowait(None)


async def start_worker(
    module: str,
    *arguments: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stderr: int | None = None,
    on_ready: Callable[[Any], object] | None = None,
) -> WorkerProcess[Any, Any, Any]:
    """Start `python -m MODULE`, and call `on_ready` with what it reports when it is ready. Raise OSError.

    Other accounts can read the arguments. By default the folder, the environment and stderr, where the worker logs, are
    those of this process.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments,
        stdin=PIPE, stdout=PIPE, stderr=stderr, cwd=cwd, env=env, limit=LINE_LIMIT,
        start_new_session=True,  # Ctrl-C at this process ends the worker through `end`
    )  # fmt: skip
    return WorkerProcess(process, on_ready)
