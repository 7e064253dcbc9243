"""Limits of HTTP connections for which uvicorn has no setting: sizes, times, and the number of connections.

A connection waits for its client while a request is incomplete and between requests. Waiting ends after a time that
depends on the missing part, and earlier where there are too many connections: the one that has been silent for longest
is closed for a new one. Connections whose request is being answered, event streams among them, are never closed for
others and have no time limit; a client that does not read its response is disconnected.
"""

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Literal

import orjson
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from uraniborg.kernel.errors import InvalidInput, Unavailable, UraniborgError
from uraniborg.kernel.http.header_checks import RequestIds, make_error_response
from uraniborg.kernel.ids import get_request_id, identify_error, start_request
from uraniborg.kernel.logging import get_logger

if TYPE_CHECKING:
    import asyncio

_RESERVED_SHARE: Final = 8
_RESERVED_FILES: Final = 64

_log = get_logger(__name__)


class HeadersTooLarge(InvalidInput):
    code = "headers_too_large"
    status = 431


class RequestTimeout(InvalidInput):
    code = "request_timeout"
    status = 408


class MalformedHttp(InvalidInput):
    code = "malformed_http"
    status = 400


class TooManyConnections(Unavailable):
    code = "too_many_connections"


@dataclass(frozen=True)
class Limits:
    """Limits of one client, and of all clients together."""

    header_bytes: int = 32_768
    """Of the request line and all headers of a request, and of its trailers."""
    headers: int = 100
    header_s: float = 10.0
    """From the first byte of a request, or from connecting, to the end of the headers."""
    body_s: float = 30.0
    """From the end of the headers to the end of the body, and one second more for every `body_bytes_per_s`."""
    body_bytes_per_s: int = 10_000
    idle_s: float = 15.0
    """Between two requests of a connection."""
    stall_s: float = 60.0
    """For a client to read the bytes that are buffered for it."""
    connections: int = 10_000
    """In all, or fewer where the process may not open as many files."""


def raise_file_limit() -> None:
    """Raise the number of files that this process may open to the maximum that the system allows."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _limit_connections(wanted: int) -> int:
    """Return how many of the `wanted` connections fit beside the other files of the process."""
    try:
        import resource
    except ImportError:  # not on Windows
        return wanted
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, files - max(_RESERVED_FILES, files // _RESERVED_SHARE)))


@dataclass
class Connections:
    """The connections of a server that wait for their clients, the one silent for longest first."""

    limits: Limits
    waiting: dict["LimitedProtocol", None] = field(default_factory=dict)
    most: int = 0

    def make_room(self, open_now: int) -> bool:
        """Close a waiting connection if `open_now`, the new one included, are too many; return False if none waits."""
        self.most = self.most or _limit_connections(self.limits.connections)
        if open_now <= self.most:
            return True
        if not self.waiting:
            return False
        next(iter(self.waiting)).drop()
        return True


def make_protocol(limits: Limits) -> Callable[..., "LimitedProtocol"]:
    """Return the `http` setting of a server with these limits. It can be pickled for worker processes."""
    return partial(LimitedProtocol, table=Connections(limits))


class LimitedProtocol(HttpToolsProtocol):
    """A connection of the HTTP server within limits."""

    def __init__(self, *args: Any, table: Connections, **options: Any) -> None:
        super().__init__(*args, **options)
        self._table = table
        self._limits = table.limits
        self.headers = []
        self._served_app: Any = self.app  # pyright: ignore[reportUnknownMemberType]
        self.app: Any
        self.cycle: Any
        self._timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None
        self._missing: Literal["headers", "body", "nothing"] = "headers"
        """The part of its request, or of its next one, that the client has not sent yet."""
        self._missing_since = self.loop.time()
        self._has_begun = False
        self._body_bytes = 0
        self._unparsed = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        accepted = transport.get_extra_info("socket")
        if hasattr(socket, "TCP_USER_TIMEOUT") and accepted.family in (socket.AF_INET, socket.AF_INET6):
            timeout_ms = int(self._limits.stall_s * 1_000)  # for bytes in the buffers of the system
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, timeout_ms)
        if self._table.make_room(len(self.connections)):
            self._wait_for_client()
            return
        with start_request():
            _log.warning("no connection left", connections=self._table.most)
            self._refuse_request(
                TooManyConnections("All connections of this server are in use.", hint="Try again later.")
            )

    def connection_lost(self, exc: Exception | None) -> None:
        self._table.waiting.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
        self._stop_stall_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._unparsed += len(data)
        with start_request():
            super().data_received(data)
            if self._missing != "nothing" and (
                self._unparsed > self._limits.header_bytes or len(self.headers) > self._limits.headers
            ):
                self._refuse_request(self._make_head_error())
        self._wait_for_client()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_begun = True
        self._set_missing("headers")

    def on_headers_complete(self) -> None:
        self._unparsed = 0
        self._body_bytes = 0
        self._set_missing("body")
        head_bytes = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        too_large = head_bytes > self._limits.header_bytes or len(self.headers) > self._limits.headers
        self.app = _make_refusal(self._make_head_error()) if too_large else self._served_app
        super().on_headers_complete()
        self.headers = []  # trailers are not headers of the request

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unparsed = 0
        self._has_begun = False
        self._set_missing("nothing")
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._missing == "nothing":
            self._set_missing("nothing")
        self._wait_for_client()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._stall_timer is None:
            self._stall_timer = self.loop.call_later(self._limits.stall_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_stall_timer()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._refuse_request(
            MalformedHttp("The request is not HTTP/1.1.", hint="Send a request line, headers and a body.")
        )

    def drop(self) -> None:
        """Close the connection; bytes that the client does not read are lost."""
        self._table.waiting.pop(self, None)
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _stop_stall_timer(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _set_missing(self, missing: Literal["headers", "body", "nothing"]) -> None:
        self._missing = missing
        self._missing_since = self.loop.time()

    @property
    def _deadline(self) -> float:
        match self._missing:
            case "headers":
                allowed = self._limits.header_s
            case "body":
                allowed = self._limits.body_s + self._body_bytes / self._limits.body_bytes_per_s
            case "nothing":
                allowed = self._limits.idle_s
        return self._missing_since + allowed

    def _wait_for_client(self) -> None:
        """Wait for the client if it is the client's turn."""
        self._table.waiting.pop(self, None)
        is_answered = self.cycle is None or self.cycle.response_complete
        if self.transport.is_closing() or not (is_answered or self._missing == "body"):
            return
        self._table.waiting[self] = None
        # A timer is left to run while a request is answered, which is cheaper than a new one for each request.
        if self._timer is not None and self._timer.when() > self._deadline:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self.loop.call_at(self._deadline, self._end_wait)

    def _end_wait(self) -> None:
        self._timer = None
        if self not in self._table.waiting or self.transport.is_closing():
            return
        if self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._end_wait)
        elif self.flow.read_paused:
            # The application has not read the received bytes: the client is not late.
            self._timer = self.loop.call_later(self._limits.body_s, self._end_wait)
        elif self._has_begun:
            with start_request():
                self._refuse_request(
                    RequestTimeout(f"The {self._missing} took too long.", hint="Send the whole request without pauses.")
                )
        else:
            self.drop()

    def _refuse_request(self, error: UraniborgError) -> None:
        """Answer with `error`, unless another answer is under way, and close the connection."""
        _log.debug("connection refused", reason=error.code)
        if self._can_answer:
            self.transport.write(_encode_response(error, self.server_state.default_headers))
        self._table.waiting.pop(self, None)
        self.transport.close()

    @property
    def _can_answer(self) -> bool:
        if self.transport.is_closing():
            return False
        if self.cycle is None:
            return True
        if self._missing == "body":
            return not (self.cycle.response_started or self.pipeline)
        return self.cycle.response_complete

    def _make_head_error(self) -> HeadersTooLarge:
        return HeadersTooLarge(
            "The headers of the request are too large.",
            hint=f"Send at most {self._limits.headers} headers in {self._limits.header_bytes:,} bytes.",
            limit=self._limits.header_bytes,
        )


def _make_refusal(error: UraniborgError) -> ASGIApp:
    """Return an app that answers each request with `error` and ends its connection."""

    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        response = make_error_response(error)
        response.headers["connection"] = "close"
        await response(scope, receive, send)

    return RequestIds(refuse)


def _encode_response(error: UraniborgError, default_headers: list[tuple[bytes, bytes]]) -> bytes:
    """Return the bytes of a response with `error`, where there is no request to answer yet."""
    body = orjson.dumps(identify_error(error.body()))
    headers = [
        *default_headers,
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"x-request-id", (get_request_id() or "").encode()),
        (b"connection", b"close"),
    ]
    status = b"HTTP/1.1 %d %b" % (error.status, HTTPStatus(error.status).phrase.encode())
    return b"\r\n".join([status, *(name + b": " + value for name, value in headers), b"", body])
