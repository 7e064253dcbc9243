"""Connections of clients, and sessions over HTTP with the SDK's transport behind checks."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from typing import Final
from uuid import uuid4

import anyio
from mcp.server.streamable_http import GET_STREAM_KEY, StreamableHTTPServerTransport
from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.errors import Conflict, InvalidInput
from uraniborg.kernel.mcp.call_context import ClientRequests

SINGLE_REPLY: Final = "uraniborg.single_reply"
"""The key, in the scope of an HTTP request, of a reply that cannot be preceded by other messages."""


class ClientConnection:
    """A client from its first message until it leaves. This base class can always receive messages."""

    on_listening: Callable[[], None] | None = None
    """A function to call when the client listens again."""

    def __init__(self) -> None:
        self._over = ExitStack()
        self.requests = ClientRequests()
        """The requests to the client that have no response yet."""

    @property
    def is_listening(self) -> bool:
        """True if notifications can reach the client."""
        return True

    @property
    def has_room(self) -> bool:
        """True if another notification can be sent without delaying other messages."""
        return True

    def streams_reply(self, request_id: str | int) -> bool:
        """Return True if messages that are sent before the reply to this request reach the client with it."""
        return True

    def note_request(self, request_id: str | int) -> None:
        """Record that this request is being answered."""

    def awaits_answer(self, request_id: str | int) -> bool:
        """Return True if the client still waits for the answer to this request."""
        return True

    def note_answer(self, request_id: str | int) -> None:
        """Record that the reply to this request is being sent, or that nobody waits for it."""

    def call_when_over(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the client has left."""
        self._over.callback(callback)

    @contextmanager
    def make_current(self) -> Generator[None]:
        """Make this the current connection within the block and in all tasks started there. End it after the block."""
        reset = _current.set(self)
        try:
            with self._over:
                yield
        finally:
            self.requests.close()
            _current.reset(reset)


_current: ContextVar[ClientConnection | None] = ContextVar("MCP connection", default=None)


def get_current_connection() -> ClientConnection | None:
    """Return the connection of the request being handled; None without sessions."""
    return _current.get()


_COMMENT: Final[Message] = {"type": "http.response.body", "body": b": heartbeat\r\n\r\n", "more_body": True}


class Heartbeat:
    """A `send` that adds a comment to an event stream whenever nothing was sent for `period` seconds.

    The comments of the SDK's transport are dropped.
    """

    def __init__(self, send: Send, period: float) -> None:
        self._send = send
        self._period = period
        self._sending = asyncio.Lock()
        self._sent_at = 0.0
        self._beating: asyncio.Task[None] | None = None

    async def __call__(self, message: Message) -> None:
        if self._beating is not None and message.get("body", b"").startswith(b": ping"):
            return
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.stop()
        async with self._sending:
            await self._send(message)
        self._sent_at = asyncio.get_running_loop().time()
        if message["type"] == "http.response.start" and _is_event_stream(message):
            self._beating = asyncio.create_task(self._send_comments())

    def stop(self) -> None:
        """Send no more comments."""
        if self._beating is not None:
            self._beating.cancel()

    async def _send_comments(self) -> None:
        clock = asyncio.get_running_loop().time
        with suppress(OSError):
            while True:
                if (quiet := clock() - self._sent_at) < self._period:
                    await asyncio.sleep(self._period - quiet)
                    continue
                async with self._sending:
                    await self._send(_COMMENT)
                self._sent_at = clock()


def _is_event_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in start["headers"]
    )


ROOM_TAKEN_AT_MOST: Final = 8


class StreamAlreadyOpen(Conflict):
    code = "stream_already_open"

    def __init__(self) -> None:
        super().__init__("This session has an open stream already.", hint="Close it before opening another.")


class IdInUse(InvalidInput):
    code = "id_in_use"
    status = 400

    def __init__(self) -> None:
        super().__init__(
            "A request of this session with this id has no answer yet.",
            hint="Give each request of a session its own id.",
        )


class Session(ClientConnection):
    """A session with an unguessable id. It listens while its event stream is open."""

    def __init__(self, *, idle_seconds: float, json_answers: bool) -> None:
        super().__init__()
        self.id = uuid4().hex
        self.transport = StreamableHTTPServerTransport(self.id, json_answers, idle_timeout=idle_seconds)
        # The transport would confuse a request that has this id with the event stream.
        self._unanswered: dict[str, object] = {GET_STREAM_KEY: self}
        self._noted: set[str] = set()
        self._in_transport: dict[str, anyio.Event] = {}
        self._streamed: set[str] = set()
        self._json_answers = json_answers
        self._streaming = False

    @property
    def is_listening(self) -> bool:
        return self._streaming

    @property
    def has_room(self) -> bool:
        # The transport sends all messages of a session one by one, and none, replies included, while the event
        # stream is full. Only the transport's table of streams shows how full it is.
        streams = self.transport._request_streams.get(GET_STREAM_KEY)  # pyright: ignore[reportPrivateUsage]
        return streams is not None and streams[0].statistics().current_buffer_used < ROOM_TAKEN_AT_MOST

    @property
    def unused_until(self) -> float | None:
        """The time at which the session ends unless it is used again, by the clock of the loop; None while in use."""
        scope = self.transport.idle_scope
        return None if scope is None or scope.deadline == float("inf") else scope.deadline

    async def handle(self, request_id: str | int | None, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of this session. Raise IdInUse and StreamAlreadyOpen."""

        async def send_unless_ended(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 500 and self.transport.is_terminated:
                message = {**message, "status": 404}
            await send(message)

        try:
            if scope["method"] == "GET":
                await self._open_stream(scope, receive, send)
            elif request_id is None:
                await self.transport.handle_request(scope, receive, send_unless_ended)
            else:
                await self._call_once(str(request_id), scope, receive, send_unless_ended)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            # A session that is ended during a request fails in the same way, which is not an error.
            if not self.transport.is_terminated:
                raise

    def streams_reply(self, request_id: str | int) -> bool:
        return str(request_id) in self._streamed

    def note_request(self, request_id: str | int) -> None:
        self._noted.add(str(request_id))

    def awaits_answer(self, request_id: str | int) -> bool:
        return str(request_id) in self._in_transport

    def note_answer(self, request_id: str | int) -> None:
        self._noted.discard(str(request_id))
        self._unanswered.pop(str(request_id), None)

    async def _call_once(self, request_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request, unless another with its id has no answer yet.

        The transport would send both replies to the second of two requests with the same id, and none to the first,
        also if the first caller has left. An id is free when its reply is being sent, but the transport, which cleans
        up by id, must finish the request before it receives another.
        """
        if request_id in self._unanswered or request_id in self._noted:
            raise IdInUse
        this = self._unanswered[request_id] = object()
        try:
            while (earlier := self._in_transport.get(request_id)) is not None:
                await earlier.wait()
            await self._pass_to_transport(request_id, scope, receive, send)
        finally:
            # A request that the transport refused is never answered.
            if self._unanswered.get(request_id) is this and request_id not in self._noted:
                del self._unanswered[request_id]

    async def _pass_to_transport(self, request_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        finished = self._in_transport[request_id] = anyio.Event()
        if not (self._json_answers or scope.get(SINGLE_REPLY)):
            self._streamed.add(request_id)
        try:
            await self.transport.handle_request(scope, receive, send)
        finally:
            self._streamed.discard(request_id)
            del self._in_transport[request_id]
            finished.set()

    async def _open_stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raise StreamAlreadyOpen. The transport itself notices an open stream only after its first event."""
        if self._streaming:
            raise StreamAlreadyOpen
        # Events have no ids to resume from, and the transport would not answer at all.
        del MutableHeaders(scope=scope)["last-event-id"]
        self._streaming = True
        try:
            await self.transport.handle_request(scope, receive, self._report_listening(send))
        finally:
            self._streaming = False

    def _report_listening(self, send: Send) -> Send:
        async def send_and_report(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start" and message["status"] == 200 and self.on_listening:
                self.on_listening()

        return send_and_report
