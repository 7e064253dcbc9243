"""Start, find and end the sessions of an HTTP app: by their client, after a time without use, or for a new one."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.types import INVALID_PARAMS, INVALID_REQUEST, InitializeRequest
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.mcp.jsonrpc import (
    BATCHING_VERSION,
    InvalidJson,
    RpcAnswer,
    RpcRequest,
    answer_invalid_message,
    answer_unreadable,
    encode_refusal,
    find_batch_problem,
    parse_body,
    parse_request,
)
from uraniborg.kernel.mcp.protocol import InvalidMessage, Protocol, validate_message
from uraniborg.kernel.mcp.session import SINGLE_REPLY, Heartbeat, IdInUse, Session

SESSION_HEADER: Final = "mcp-session-id"

_log = get_logger(__name__)


class Sessions:
    """An ASGI app that passes requests to their sessions of `protocol`.

    The session manager of the SDK refuses new clients once there are enough sessions, also unused ones, and starts a
    session for any request without one.
    """

    def __init__(
        self, protocol: Protocol, *, idle_seconds: float, most: int, json_answers: bool, heartbeat_s: float
    ) -> None:
        self._protocol = protocol
        self._idle_seconds = idle_seconds
        self._most = most
        self._json_answers = json_answers
        self._heartbeat_s = heartbeat_s
        self._open: dict[str, Session] = {}
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def accept_sessions(self) -> AsyncGenerator[None]:
        """Allow sessions within the block; all of them end with it."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    def end_streams(self) -> None:
        """End the event streams of all sessions, which clients keep open and a server that shuts down waits for."""
        for session in self._open.values():
            session.transport.close_standalone_sse_stream()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._tasks is None:
            raise RuntimeError("The lifespan of the MCP app was not entered.")
        heartbeat = Heartbeat(send, self._heartbeat_s)
        try:
            await self._answer_message(self._tasks, scope, receive, heartbeat)
        finally:
            heartbeat.stop()

    async def _answer_message(self, tasks: TaskGroup, scope: Scope, receive: Receive, send: Send) -> None:
        named = Headers(scope=scope).get(SESSION_HEADER)
        message: Any = None
        if scope["method"] == "POST":
            # The middleware that limits the body has joined it into one message.
            first = await receive()
            if first["type"] != "http.request" or first.get("more_body"):
                return  # the client left before the body was complete
            receive = _replay_first(first, receive)
            try:
                message = parse_body(first.get("body", b""))
            except ValueError:
                await _answer_unreadable(first.get("body", b""), self._open.get(named or ""))(scope, receive, send)
                return
        request = parse_request(cast("JsonObject", message)) if isinstance(message, dict) else None
        if isinstance(request, RpcRequest) and request.method == "initialize":
            await self._begin_session(tasks, request, scope, receive, send)
        elif not named:
            await self._refuse_without_session(scope, receive, send)
        elif named not in self._open:
            await Response(status_code=404)(scope, receive, send)
        elif isinstance(message, list):
            await answer_batch(self._open[named], cast("list[Any]", message), scope, send)
        elif isinstance(request, RpcAnswer) and request.body:
            raise InvalidMessage
        else:
            request_id = request.id if isinstance(request, RpcRequest) else None
            await self._open[named].handle(request_id, scope, receive, send)

    async def _begin_session(
        self, tasks: TaskGroup, request: RpcRequest, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answer an initialize request with a new session, also if it names a session, which may have ended."""
        try:
            validate_message(InitializeRequest, request.method, request.params)
        except InvalidInput as error:
            body = encode_refusal(request.id, error, INVALID_PARAMS)
            await Response(body, media_type="application/json")(scope, receive, send)
            return
        session = await self._make_session()
        if session is None:
            await Response(status_code=503)(scope, receive, send)
            return
        has_begun = False

        async def watch(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = message["status"] < 400
            await send(message)

        del MutableHeaders(scope=scope)[SESSION_HEADER]
        try:
            await tasks.start(self._serve_session, session)
            await session.handle(request.id, scope, receive, watch)
        finally:
            if not has_begun:
                await self._end_session(session)

    async def _make_session(self) -> Session | None:
        """Return a new session, if necessary in place of the one unused for longest; None if all are in use."""
        while len(self._open) >= self._most:
            unused = [session for session in self._open.values() if session.unused_until is not None]
            if not unused:
                return None
            await self._end_session(min(unused, key=lambda session: session.unused_until or 0))
        session = Session(idle_seconds=self._idle_seconds, json_answers=self._json_answers)
        self._open[session.id] = session
        return session

    async def _serve_session(self, session: Session, *, task_status: TaskStatus[None]) -> None:
        transport = session.transport
        async with transport.connect() as (incoming, outgoing):
            task_status.started()
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._end_when_unused, session)
                    options = self._protocol.create_initialization_options()
                    await self._protocol.run(incoming, outgoing, options, connection=session)
                    tasks.cancel_scope.cancel()
            except Exception as exc:
                _log.exception("a session failed", exc=exc)
            finally:
                await self._end_session(session)

    async def _end_when_unused(self, session: Session) -> None:
        assert session.transport.idle_scope is not None
        with session.transport.idle_scope:
            await anyio.sleep_forever()
        await self._end_session(session)

    async def _end_session(self, session: Session) -> None:
        """Forget `session` at once, and close its streams even if the caller is cancelled."""
        self._open.pop(session.id, None)
        with anyio.CancelScope(shield=True):
            await session.transport.terminate()

    async def _refuse_without_session(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a transport refuse a request that has no session and starts none."""
        transport = StreamableHTTPServerTransport("none", self._json_answers)
        async with transport.connect() as (incoming, _):
            incoming.close()
            try:
                await transport.handle_request(scope, receive, send)
            finally:
                await transport.terminate()


def _answer_unreadable(body: bytes, session: Session | None) -> Response:
    """Return the reply, within a session, to a body that cannot be parsed. Raise InvalidJson without a session."""
    answer = answer_unreadable(body)
    if session is None or answer.status != 200:
        raise InvalidJson
    return Response(answer.body, headers={SESSION_HEADER: session.id}, media_type="application/json")


def _replay_first(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that returns `first` again, and then the following messages."""
    waiting = [first]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


_DATA: Final = b"data: "


class _Failed(Exception):
    """A member of a batch was refused for a reason that holds for all of them."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.response = Response(body, status)


async def answer_batch(session: Session, messages: list[Any], scope: Scope, send: Send) -> None:
    """Answer a batch with a JSON array, or with an empty body if it has only notifications.

    Progress is not reported: it would have to be in the array. Raise InvalidMessage for a batch that may not be sent.
    """
    version = Headers(scope=scope).get("mcp-protocol-version", BATCHING_VERSION)
    if problem := find_batch_problem(messages, version):
        raise problem
    scope = {**scope, SINGLE_REPLY: True}
    try:
        answers = await asyncio.gather(*(_answer_message(session, message, scope) for message in messages))
    except _Failed as failed:
        response = failed.response
    else:
        bodies = [answer for answer in answers if answer]
        headers = {"mcp-session-id": session.id}
        body = b"[%b]" % b",".join(bodies) if bodies else None
        response = Response(body, 200 if bodies else 202, headers, "application/json" if bodies else None)
    await response(scope, _wait_forever, send)


async def _answer_message(session: Session, message: Any, scope: Scope) -> bytes:
    """Return the reply to one message, empty for a notification. Raise _Failed."""
    if not isinstance(message, dict):
        return answer_invalid_message().body
    member = cast("JsonObject", message)
    request = parse_request(member)
    if not isinstance(request, RpcRequest):
        return request.body or await _post_message(session, None, member, scope)
    if request.method == "initialize":
        error = InvalidMessage("initialize cannot be part of a batch.", hint="Send it alone.")
        return answer_invalid_message(request.id, error).body
    try:
        return await _post_message(session, request.id, member, scope)
    except IdInUse as error:
        return encode_refusal(request.id, error, INVALID_REQUEST)


async def _post_message(session: Session, request_id: str | int | None, message: JsonObject, scope: Scope) -> bytes:
    sent: list[Message] = []

    async def collect(part: Message) -> None:
        sent.append(part)

    await session.handle(request_id, scope, _make_receive(json.dumps(message).encode()), collect)
    body = b"".join(part.get("body", b"") for part in sent[1:])
    if sent[0]["status"] >= 400:
        raise _Failed(sent[0]["status"], body)
    return body if body.startswith(b"{") else next(iterate_replies(body), b"")


def _make_receive(body: bytes) -> Receive:
    waiting = [body]

    async def receive() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await _wait_forever()

    return receive


async def _wait_forever() -> Message:
    """Wait forever: a client that leaves after it sent a batch cancels none of its calls."""
    await asyncio.Event().wait()
    raise AssertionError


def iterate_replies(events: bytes) -> Iterator[bytes]:
    """Yield the JSON of each answer in an event stream, without the notifications between them."""
    for line in events.split(b"\r\n"):
        data = line.removeprefix(_DATA)
        if data != line and "method" not in json.loads(data):
            yield data
