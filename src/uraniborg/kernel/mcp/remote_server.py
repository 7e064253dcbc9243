"""A client of other MCP servers, over stdio or HTTP.

    server = await RemoteServer.open(StdioServer("uvx", ("some-server",)), name="some")
    tools = await server.list_tools()
    reply = await server.call_tool("find", {"query": "stars"}, timeout_s=30)
    await server.close()

A server may be opened, used and closed from different tasks of one loop. A started process reads nothing from our
stdin and writes nothing to our stdout or stderr; if it fails, the error has the last lines of its stderr.
"""

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import AsyncGenerator, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TextIO, TypeVar, cast

import anyio
import httpx
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import BaseModel, ValidationError

from uraniborg.kernel.errors import InvalidInput, Unavailable
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import make_printable, redact
from uraniborg.kernel.processes.child_processes import build_child_environment

_TAIL_BYTES: Final = 4_096
_LINES: Final = 5
_PATIENCE: Final = 0.5


class Tail:
    """A reader of the stderr of a process that stores the last lines. The process never waits for it."""

    def __init__(self) -> None:
        self._bytes = b""
        self._ended = asyncio.Event()
        self._ended.set()

    @contextlib.asynccontextmanager
    async def open_pipe(self) -> AsyncGenerator[TextIO]:
        """Yield the file that the process writes to. Close the file after the process has started."""
        reading, writing = os.pipe()
        self._ended.clear()
        with os.fdopen(reading, "rb", buffering=0) as source, os.fdopen(writing, "w") as target:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: _Listener(self), source)
            try:
                yield target
            finally:
                target.close()
                await self._wait_for_end()
                transport.close()
                self.mark_ended()

    async def read_last_lines(self) -> str:
        """Return the last lines joined, after the process has closed its stderr or after half a second."""
        await self._wait_for_end()
        lines = self._bytes.decode("utf-8", "replace").split("\n")
        return " / ".join([line.strip() for line in lines if line.strip()][-_LINES:])

    async def _wait_for_end(self) -> None:
        # Children of the process may hold its stderr open for longer.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._ended.wait()

    def append(self, data: bytes) -> None:
        self._bytes = (self._bytes + data)[-_TAIL_BYTES:]

    def mark_ended(self) -> None:
        self._ended.set()


class _Listener(asyncio.Protocol):
    def __init__(self, tail: Tail) -> None:
        self._tail = tail

    def data_received(self, data: bytes) -> None:
        self._tail.append(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._tail.mark_ended()


_MOST_PAGES: Final = 1_000
_CLOSING_S: Final = 10.0
_CONNECTING_S: Final = 30.0
_SHOWN: Final = 500

Result = TypeVar("Result")
Answer = TypeVar("Answer", bound=BaseModel)


class ServerUnavailable(Unavailable):
    code = "mcp_server_unavailable"


class ServerTimedOut(Unavailable):
    code = "mcp_server_timed_out"


class CallRefused(InvalidInput):
    code = "mcp_call_refused"


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server that `command` starts. `env` is added to the few variables that every program needs."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None


@dataclass(frozen=True, slots=True)
class HttpServer:
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True, slots=True)
class ToolReply:
    """The reply of a tool: its content blocks as plain objects, and the structured content if there is any."""

    content: list[JsonObject]
    structured: JsonObject | None
    is_error: bool


class RemoteServer:
    """An initialized session with a server; `open` creates it."""

    def __init__(self, server: StdioServer | HttpServer, name: str) -> None:
        self.name = name
        self.server_version = ""
        self._tail = Tail()
        self._session: ClientSession | None = None
        self._is_lost = False
        self._asked_to_close = asyncio.Event()
        self._ready = asyncio.Event()
        self._owner = asyncio.create_task(self._hold_transport(server))

    @classmethod
    async def open(
        cls, server: StdioServer | HttpServer, *, name: str = "the server", timeout_s: float = 30.0
    ) -> "RemoteServer":
        """Connect, and wait until the server is ready. Raise ServerUnavailable or ServerTimedOut."""
        if logging.getLogger("mcp.client").level == logging.NOTSET:
            # The SDK logs, with a traceback, each line of a server's output that is not a message.
            logging.getLogger("mcp.client").setLevel(logging.CRITICAL)
        connection = cls(server, name)
        try:
            await connection._wait_unless_lost(connection._ready.wait(), timeout_s, "was not ready")
        except BaseException:
            await connection.close()
            raise
        return connection

    @property
    def is_open(self) -> bool:
        """Return True unless the connection to the server is known to be lost."""
        return not self._owner.done() and not self._is_lost

    async def list_tools(self, timeout_s: float = 30.0) -> list[JsonObject]:
        """Return all tools as the server describes them. Raise as `call_tool` does."""
        found: list[JsonObject] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor)
            page = await self._send_request(types.ListToolsRequest(params=params), types.ListToolsResult, timeout_s)
            found += map(_to_plain, page.tools)
            if page.nextCursor is None or page.nextCursor == cursor:
                break
            cursor = page.nextCursor
        return found

    async def call_tool(self, name: str, arguments: Mapping[str, Any], timeout_s: float = 300.0) -> ToolReply:
        """Return the reply of the tool, also if it is marked as an error.

        Raise ServerUnavailable if there is no reply, ServerTimedOut if there is none within `timeout_s` seconds, and
        CallRefused if the server does not know the tool or refuses the arguments.
        """
        try:
            json.dumps(arguments, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as exc:
            raise CallRefused(
                f"The arguments for '{name}' of MCP server '{self.name}' are not JSON: {exc}",
                hint="Give text, numbers, true, false, null, lists and objects.",
                server=self.name,
            ) from None
        params = types.CallToolRequestParams(name=name, arguments=dict(arguments))
        result = await self._send_request(types.CallToolRequest(params=params), types.CallToolResult, timeout_s)
        return ToolReply(list(map(_to_plain, result.content)), result.structuredContent, result.isError)

    async def close(self) -> None:
        """Disconnect, and end the started process, also if cancelled. Do nothing if closed."""
        self._asked_to_close.set()
        if not self._ready.is_set():
            self._owner.cancel()
        try:
            await asyncio.wait({self._owner}, timeout=_CLOSING_S)
        finally:
            if not self._owner.done():
                self._owner.cancel()
                await asyncio.wait({self._owner}, timeout=_CLOSING_S)
            if self._owner.done() and not self._owner.cancelled():
                self._owner.exception()  # retrieved, so that asyncio logs no warning

    async def _hold_transport(self, server: StdioServer | HttpServer) -> None:
        """Open the session and hold it until `close`: one task must enter and exit its contexts."""
        async with (
            _open_transport(server, self._tail) as (read, write),
            ClientSession(read, write) as session,
        ):
            initialized = await session.initialize()
            self._session, self.server_version = session, initialized.serverInfo.version
            self._ready.set()
            await self._asked_to_close.wait()

    async def _send_request(self, request: Any, kind: type[Answer], timeout_s: float) -> Answer:
        if self._session is None or not self.is_open:
            raise await self._make_lost_error()
        asking = self._session.send_request(types.ClientRequest(request), kind)
        try:
            return await self._wait_unless_lost(asking, timeout_s, "did not answer")
        except McpError as refusal:
            if refusal.error.code == types.CONNECTION_CLOSED:
                raise await self._make_lost_error() from None
            raise self._make_refusal(refusal.error) from None
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise await self._make_lost_error() from None
        except ValidationError:
            message = f"MCP server '{self.name}' sent a reply that is not a valid {kind.__name__}."
            raise ServerUnavailable(
                message, hint="Report this to the authors of the server.", server=self.name
            ) from None

    async def _wait_unless_lost(self, asking: Coroutine[Any, Any, Result], timeout_s: float, failing: str) -> Result:
        """Return the result of `asking`, unless the owner of the transport ends first. Raise ServerTimedOut."""
        asked = asyncio.ensure_future(asking)
        try:
            await asyncio.wait({asked, self._owner}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if asked.done():
                return asked.result()
            if self._owner.done():
                raise await self._make_lost_error()
            raise ServerTimedOut(
                f"MCP server '{self.name}' {failing} within {plural(timeout_s, 'second')}.",
                hint="Try again, or allow it more time.",
                server=self.name,
            )
        finally:
            asked.cancel()
            await asyncio.wait({asked})

    async def _make_lost_error(self) -> ServerUnavailable:
        """Return the error of a server that has ended, with the last lines of its stderr."""
        self._is_lost = True
        has_failed = self._owner.done() and not self._owner.cancelled()
        problem = _describe_problem(_find_cause(self._owner.exception())) if has_failed else ""
        last_lines = await self._tail.read_last_lines()
        parts = [f"MCP server '{self.name}' is not running", problem, last_lines and f"its last output: {last_lines}"]
        return ServerUnavailable(
            make_printable(redact("; ".join(filter(None, parts)))) + ".",
            hint="Check how the server is started or reached.",
            server=self.name,
        )

    def _make_refusal(self, error: types.ErrorData) -> CallRefused:
        return CallRefused(
            f"MCP server '{self.name}' refused: {make_printable(redact(error.message)[:_SHOWN])}",
            hint="Check the name of the tool and its arguments.",
            server=self.name,
            rpc_code=error.code,
        )


@contextlib.asynccontextmanager
async def _open_transport(server: StdioServer | HttpServer, tail: Tail) -> AsyncGenerator[tuple[Any, Any]]:
    if isinstance(server, HttpServer):
        # The caller of each request sets its timeout.
        patience = httpx.Timeout(_CONNECTING_S, read=None)
        async with (
            httpx.AsyncClient(headers=dict(server.headers), timeout=patience) as client,
            streamable_http_client(server.url, http_client=client) as (read, write, _),
        ):
            yield read, write
    else:
        parameters = StdioServerParameters(
            command=server.command,
            args=list(server.args),
            env={**build_child_environment(), **server.env},
            cwd=server.cwd,
        )
        async with tail.open_pipe() as stderr, stdio_client(parameters, errlog=stderr) as (read, write):
            stderr.close()  # the process has its own copy; the end of the file must be noticed
            yield read, write


def _find_cause(problem: BaseException | None) -> BaseException | None:
    while isinstance(problem, BaseExceptionGroup):
        problem = cast("BaseExceptionGroup[BaseException]", problem).exceptions[0]
    return problem


def _describe_problem(problem: BaseException | None) -> str:
    if isinstance(problem, httpx.HTTPStatusError):
        return f"it answered {problem.response.status_code}"
    if isinstance(problem, httpx.TransportError | httpx.InvalidURL):
        return f"it cannot be reached ({type(problem).__name__})"
    if isinstance(problem, FileNotFoundError):
        return "its command, or the folder to start it in, does not exist"
    if isinstance(problem, McpError):
        return redact(problem.error.message)[:_SHOWN]
    return "" if problem is None else type(problem).__name__


def _to_plain(model: BaseModel) -> JsonObject:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
