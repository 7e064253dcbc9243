"""The child's side of the dialogue with workers; `uraniborg.kernel.workers` describes the messages."""

import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Generic, NotRequired, TypeVar

from typing_extensions import TypedDict

from uraniborg.kernel.errors import ErrorFacts, InternalError, as_error
from uraniborg.kernel.logging import configure_logging, get_logger
from uraniborg.kernel.standard_streams import Client

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
class Request(Generic[RequestT, ProgressT, ResultT]):
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

    def listen(self, deliver: Callable[[Request[Any, Any, Any] | None], object]) -> None:
        """Call `deliver` in a thread with each request, and with None once the parent has ended or needs no more."""

        def read() -> None:
            try:
                with self._client.open_input() as source:
                    while (line := source.readline()).endswith(b"\n"):  # not if the parent was killed amid a message
                        head: RequestHead = json.loads(line)
                        size = head.get("size", 0)
                        body = source.read(size)
                        if len(body) == size:
                            deliver(Request(head["request"], body, partial(self.send, id=head["id"])))
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
    answer: Callable[[Request[RequestT, ProgressT, ResultT]], ResultT],
    *,
    on_parent_ended: Callable[[], object] = _EXIT_AT_ONCE,
) -> None:
    """Answer requests one after the other with what `answer` returns or raises. Return when the parent has ended.

    If requests are not answered then, `on_parent_ended` is called in a thread; by default this process ends at once.
    """
    requests: SimpleQueue[Request[RequestT, ProgressT, ResultT] | None] = SimpleQueue()
    received = answered = 0

    def deliver(request: Request[RequestT, ProgressT, ResultT] | None) -> None:
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
