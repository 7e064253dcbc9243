"""Messages of a stdio client, a line each: requests go to the protocol, and each gets one answer.

Lines that are not messages are answered with a JSON-RPC error, under the id of the request or null. At the end of
input the requests received so far are answered before the protocol ends.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, cast

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    LATEST_PROTOCOL_VERSION,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from uraniborg.kernel.errors import InvalidInput, Unavailable
from uraniborg.kernel.ids import begin_request, start_request
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.mcp.call_context import parse_response
from uraniborg.kernel.mcp.jsonrpc import (
    RequestId,
    RpcAnswer,
    RpcRequest,
    answer_invalid_message,
    answer_unreadable,
    encode_refusal,
    find_batch_problem,
    find_outermost_id,
    parse_body,
    parse_request,
)
from uraniborg.kernel.mcp.protocol import InvalidMessage
from uraniborg.kernel.mcp.protocol import Protocol as Engine
from uraniborg.kernel.mcp.session import ClientConnection
from uraniborg.kernel.processes.reserved_stdio import LINE_LIMIT

_END: Final = object()

_log = get_logger(__name__)


class LineTooLong(InvalidInput):
    code = "line_too_long"

    def __init__(self) -> None:
        super().__init__(
            f"The line is longer than {LINE_LIMIT:,} bytes.", hint="Send less in one message.", limit=LINE_LIMIT
        )


class InputEnded(Unavailable):
    code = "input_ended"

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"Input ended {seconds:g} seconds ago and the server ends before it has answered this request.",
            hint="Keep stdin open until the answer arrives.",
        )


class Lines(Protocol):
    """A client that sends and receives lines of bytes; see `uraniborg.kernel.processes.reserved_stdio.Client`."""

    def listen(self, deliver: Any, on_left: Any) -> None: ...
    def write(self, line: bytes) -> None: ...


@dataclass
class _Batch:
    """The answers to a batch so far, and the number of answers that it still waits for."""

    waiting: int = 0
    answers: list[bytes] = field(default_factory=list[bytes])


class Exchange:
    """The messages between one client and the protocol engine of a server."""

    def __init__(self, engine: Engine, client: Lines, patience: float) -> None:
        """Answer received requests for at most `patience` seconds after the end of input."""
        self.over = anyio.Event()
        """Set when no more requests are answered; cancelled calls may still run."""
        self._engine = engine
        self._client = client
        self._patience = patience
        self._received: asyncio.Queue[Any] = asyncio.Queue()
        self._unanswered: defaultdict[RequestId, deque[_Batch | None]] = defaultdict(deque)
        self._lines_owed = 0
        self._settled = anyio.Event()
        self._one_at_a_time = anyio.CapacityLimiter(1)
        self._connection = ClientConnection()
        self._version: str | None = None

    async def run(self) -> None:
        """Exchange messages until the input has ended or the client has left, and every call has ended."""
        self._to_engine, received = anyio.create_memory_object_stream[SessionMessage | Exception](float("inf"))
        outgoing, to_write = anyio.create_memory_object_stream[SessionMessage](0)
        with self._to_engine, received, outgoing, to_write:
            async with anyio.create_task_group() as tasks:
                self._scope = tasks.cancel_scope
                self._start_reading()
                tasks.start_soon(self._run_until_left, self._receive_lines)
                tasks.start_soon(self._run_until_left, self._send_replies, to_write)
                options = self._engine.create_initialization_options()
                await self._engine.run(received, outgoing, options, connection=self._connection)

    def _start_reading(self) -> None:
        loop = asyncio.get_running_loop()

        def deliver(line: bytes | None) -> None:
            message = _END if line is None else _parse_line(line)
            with suppress(RuntimeError):  # the loop is closed already
                loop.call_soon_threadsafe(self._received.put_nowait, message)

        def report_left() -> None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._mark_client_left)

        self._client.listen(deliver, report_left)

    def _mark_client_left(self) -> None:
        self.over.set()
        self._scope.cancel()

    async def _run_until_left(self, step: Callable[..., Awaitable[None]], *arguments: Any) -> None:
        """Run `step`. If stdout cannot be written to, mark the client as left."""
        try:
            await step(*arguments)
        except OSError as exc:
            if not isinstance(exc, BrokenPipeError):
                _log.warning("stdout cannot be written to", error=str(exc))
            self._mark_client_left()

    async def _receive_lines(self) -> None:
        while (message := await self._received.get()) is not _END:
            begin_request()
            if isinstance(message, dict):
                await self._handle_message(cast("JsonObject", message), None)
            elif isinstance(message, list):
                await self._handle_batch(cast("list[Any]", message))
            else:
                await self._write_line(
                    message.body if isinstance(message, RpcAnswer) else answer_invalid_message().body
                )
        self._connection.requests.close()  # no response can follow
        with anyio.move_on_after(self._patience):
            while self._lines_owed:
                self._settled = anyio.Event()
                await self._settled.wait()
        self.over.set()
        await self._refuse_unanswered()
        self._to_engine.close()

    async def _handle_batch(self, messages: list[Any]) -> None:
        if self._version is None:
            problem = InvalidMessage("The connection is not initialized yet.", hint="Send initialize first.")
        else:
            problem = find_batch_problem(messages, self._version)
        if problem:
            await self._write_line(answer_invalid_message(error=problem).body)
            return
        batch = _Batch(waiting=1)
        self._lines_owed += 1
        for message in messages:
            if isinstance(message, dict):
                await self._handle_message(cast("JsonObject", message), batch)
            else:
                batch.answers.append(answer_invalid_message().body)
        await self._finish_member(batch)

    async def _handle_message(self, message: JsonObject, batch: _Batch | None) -> None:
        request = parse_request(message)
        if isinstance(request, RpcRequest) and request.method == "initialize":
            if batch is not None:
                error = InvalidMessage("initialize cannot be part of a batch.", hint="Send it alone.")
                request = answer_invalid_message(request.id, error)
            else:
                self._version = _negotiate_version(request)
        if isinstance(request, RpcRequest):
            self._unanswered[request.id].append(batch)
            if batch is None:
                self._lines_owed += 1
            else:
                batch.waiting += 1
            self._pass_to_protocol(
                JSONRPCRequest(jsonrpc="2.0", id=request.id, method=request.method, params=request.params)
            )
        elif request.body and batch is not None:
            batch.answers.append(request.body)
        elif request.body:
            await self._write_line(request.body)
        elif "method" in message:
            self._pass_to_protocol(
                JSONRPCNotification.model_validate(
                    {"jsonrpc": "2.0", "method": message["method"], "params": message.get("params")}
                )
            )
        elif (response := parse_response(message)) is not None:
            self._pass_to_protocol(response)

    def _pass_to_protocol(self, message: JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._to_engine.send_nowait(SessionMessage(JSONRPCMessage(message)))

    async def _send_replies(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with messages:
            async for message in messages:
                line = message.message.model_dump_json(by_alias=True, exclude_none=True).encode()
                root = message.message.root
                if isinstance(root, JSONRPCResponse | JSONRPCError):
                    await self._answer_request(root.id, line)
                else:
                    await self._write_line(line)

    async def _answer_request(self, request_id: RequestId, answer: bytes) -> None:
        """Write the answer to a request, or add it to those of its batch. A second answer is dropped."""
        if not self._unanswered[request_id]:
            del self._unanswered[request_id]
            return
        batch = self._unanswered[request_id].popleft()
        if not self._unanswered[request_id]:
            del self._unanswered[request_id]
        if batch is None:
            await self._write_line(answer)
            self._release_line()
        else:
            batch.answers.append(answer)
            await self._finish_member(batch)

    async def _finish_member(self, batch: _Batch) -> None:
        batch.waiting -= 1
        if not batch.waiting:
            if batch.answers:
                await self._write_line(b"[%b]" % b",".join(batch.answers))
            self._release_line()

    def _release_line(self) -> None:
        self._lines_owed -= 1
        if not self._lines_owed:
            self._settled.set()

    async def _refuse_unanswered(self) -> None:
        left = [request_id for request_id, batches in self._unanswered.items() for _ in batches]
        for request_id in left:
            begin_request()
            _log.warning("input has ended and the call is cancelled", id=str(request_id)[:80])
            await self._answer_request(
                request_id, encode_refusal(request_id, InputEnded(self._patience), INTERNAL_ERROR)
            )

    async def _write_line(self, answer: bytes) -> None:
        line = answer + b"\n"
        await anyio.to_thread.run_sync(self._client.write, line, abandon_on_cancel=True, limiter=self._one_at_a_time)


def _parse_line(line: bytes) -> Any:
    """Return the JSON value in a line, or the Answer to a line that cannot be read."""
    with start_request():
        if len(line) > LINE_LIMIT:
            given = find_outermost_id(line[:LINE_LIMIT].decode("utf-8", "replace"))
            return RpcAnswer(400, encode_refusal(given, LineTooLong(), INVALID_REQUEST))
        try:
            return parse_body(line)
        except ValueError:
            return answer_unreadable(line)


def _negotiate_version(initialize: RpcRequest) -> str:
    asked = (initialize.params or {}).get("protocolVersion")
    return str(asked) if asked in SUPPORTED_PROTOCOL_VERSIONS else LATEST_PROTOCOL_VERSION
