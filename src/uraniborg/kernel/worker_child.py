"""The dialogue of a worker with the process that started it; see `uraniborg.kernel.workers` for the messages."""

import json
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Generic, TypeVar

from uraniborg.kernel.errors import InternalError, as_error
from uraniborg.kernel.logging import configure_logging, get_logger
from uraniborg.kernel.standard_streams import Client

RequestT = TypeVar("RequestT")
ProgressT = TypeVar("ProgressT")
ResultT = TypeVar("ResultT")

_log: Final = get_logger(__name__)


class Request(Generic[RequestT, ProgressT, ResultT]):
    """A request of the parent, to be answered once, from any thread. If the parent has ended, answers are discarded."""

    def __init__(self, content: RequestT, body: bytes, send: Callable[..., None]) -> None:
        self.content = content
        self.body = body
        self._send = send

    def report_progress(self, progress: ProgressT) -> None:
        self._send(progress=progress)

    def send_result(self, result: ResultT, body: bytes = b"") -> None:
        self._send(body, result=result, size=len(body))

    def send_error(self, exc: Exception) -> None:
        """Answer with the code, message and hint of an exception; log an exception that is a bug."""
        error = as_error(exc)
        if isinstance(error, InternalError):
            _log.exception("a request failed", exc=exc)
        self._send(error=error.body()["error"], status=error.status)


class Parent:
    """The process that started this one, and has stdin and stdout for itself.

    The other output of this process and of its children goes to stderr; children read nothing from stdin.
    """

    def __init__(self) -> None:
        self._client = Client()
        self._lock = threading.Lock()

    def listen(self, deliver: Callable[[Request[Any, Any, Any] | None], None]) -> None:
        """Call `deliver` in a thread with each request, and with None once the parent has ended or needs no more."""

        def read() -> None:
            try:
                with self._client.open_input() as source:
                    while (line := source.readline()).endswith(b"\n"):  # not if the parent was killed amid a message
                        head: dict[str, Any] = json.loads(line)
                        size: int = head.get("size", 0)
                        if len(body := source.read(size)) == size:
                            deliver(Request(head["request"], body, partial(self._send, id=head["id"])))
            finally:
                deliver(None)

        # A daemon: a thread that waits for input cannot be stopped.
        threading.Thread(target=read, name="requests", daemon=True).start()

    def report_ready(self, facts: object) -> None:
        """Tell the parent that requests are answered from now on."""
        self._send(ready=facts)

    def _send(self, body: bytes = b"", **head: object) -> None:
        message = json.dumps(head, default=str).encode() + b"\n" + body
        with self._lock, suppress(BrokenPipeError):  # the parent has ended
            self._client.write(message)


def exit_at_once() -> None:
    """End this process in the middle of its work."""
    os._exit(1)


def answer_requests(
    answer: Callable[[Request[RequestT, ProgressT, ResultT]], ResultT],
    *,
    on_parent_ended: Callable[[], object] = exit_at_once,
) -> None:
    """Answer requests one after the other with what `answer` returns or raises. Return when the parent has ended.

    `on_parent_ended` is called in a thread if requests are not answered then.
    """
    parent = Parent()
    configure_logging()
    requests: SimpleQueue[Request[RequestT, ProgressT, ResultT] | None] = SimpleQueue()
    received = answered = 0

    def deliver(request: Request[RequestT, ProgressT, ResultT] | None) -> None:
        nonlocal received
        if request is not None:
            received += 1
        elif received > answered:
            on_parent_ended()
        requests.put(request)

    parent.listen(deliver)
    while (request := requests.get()) is not None:
        try:
            send = partial(request.send_result, answer(request))
        except Exception as exc:
            send = partial(request.send_error, exc)
        answered += 1  # before the answer, after which the parent may end this process
        send()
