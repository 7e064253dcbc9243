"""Clients and servers for tests: the SDK's own client over memory, a real process or a real port."""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TextIO, cast

import anyio.lowlevel
import uvicorn
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.session import ElicitationFnT, MessageHandlerFnT
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.shared.session import RequestResponder
from mcp.types import (
    CallToolResult,
    ClientResult,
    ElicitRequest,
    ResourceUpdatedNotification,
    ServerNotification,
    ServerRequest,
    TextContent,
)
from starlette.types import ASGIApp

from uraniborg.kernel.http.connection_limits import Limits, make_protocol
from uraniborg.kernel.http.uvicorn_server import StoppingServer
from uraniborg.kernel.mcp.server import Server

__all__ = [
    "ClientSession",
    "McpError",
    "OnDialog",
    "connect_client",
    "connect_http_client",
    "connect_stdio_client",
    "get_json",
    "get_text",
    "serve_app",
]


OnUpdated = Callable[[str], object]
"""Called with the URI of each resource for which the client is notified."""
OnDialog = ElicitationFnT
"""Called with the context and the parameters of each form for the person; return an ElicitResult."""


class _Client(ClientSession):
    """The SDK's client, which also receives messages while the person answers a dialog."""

    async def _received_request(self, responder: RequestResponder[ServerRequest, ClientResult]) -> None:
        if isinstance(responder.request.root, ElicitRequest):
            self._task_group.start_soon(self._answer_dialog, responder)
        else:
            await super()._received_request(responder)

    async def _answer_dialog(self, responder: RequestResponder[ServerRequest, ClientResult]) -> None:
        try:
            await super()._received_request(responder)
        except asyncio.CancelledError:
            if not responder.cancelled:  # the SDK lets the cancellation of one request end the session
                raise


@asynccontextmanager
async def connect_client(server: Server, *, on_updated: OnUpdated | None = None) -> AsyncGenerator[ClientSession]:
    """Yield an initialized client of `server`, in memory."""
    async with create_connected_server_and_client_session(server, message_handler=_make_handler(on_updated)) as client:
        yield client


@asynccontextmanager
async def connect_stdio_client(
    command: str,
    args: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    *,
    cwd: str | None = None,
    stderr: TextIO | None = None,
    on_updated: OnUpdated | None = None,
    on_dialog: OnDialog | None = None,
) -> AsyncGenerator[ClientSession]:
    """Yield an initialized client of the server that `command` starts. `env` is added to a minimal environment."""
    parameters = StdioServerParameters(command=command, args=list(args), env=dict(env or {}), cwd=cwd)
    async with (
        stdio_client(parameters, errlog=stderr or sys.stderr) as (read, write),
        _Client(read, write, message_handler=_make_handler(on_updated), elicitation_callback=on_dialog) as client,
    ):
        await client.initialize()
        yield client


@asynccontextmanager
async def connect_http_client(
    url: str, *, token: str = "", on_updated: OnUpdated | None = None, on_dialog: OnDialog | None = None
) -> AsyncGenerator[ClientSession]:
    """Yield an initialized client of the MCP endpoint at `url`, which sends `token` if it is given."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        create_mcp_http_client(headers=headers) as http,
        streamable_http_client(url, http_client=http) as (read, write, _),
        _Client(read, write, message_handler=_make_handler(on_updated), elicitation_callback=on_dialog) as client,
    ):
        await client.initialize()
        yield client


def _make_handler(on_updated: OnUpdated | None) -> MessageHandlerFnT:
    async def handle(message: Any) -> None:
        notification = message.root if isinstance(message, ServerNotification) else None
        if on_updated and isinstance(notification, ResourceUpdatedNotification):
            on_updated(str(notification.params.uri))
        await anyio.lowlevel.checkpoint()

    return handle


@asynccontextmanager
async def serve_app(app: ASGIApp) -> AsyncGenerator[str]:
    """Serve `app` with uvicorn on a free loopback port within the block, and yield its base address."""
    # The protocol is named so that the loop sends small answers at once.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1_024)
        config = uvicorn.Config(
            app, http=cast("Any", make_protocol(Limits())), log_level="warning", ws="none", timeout_graceful_shutdown=1
        )
        server = StoppingServer(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await server.ready.wait()
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


def get_text(result: CallToolResult) -> str:
    """Return the text of a result, which has exactly one block."""
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def get_json(result: CallToolResult) -> Any:
    """Return the parsed JSON of the text of a result."""
    return json.loads(get_text(result))
