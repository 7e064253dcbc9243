"""A conversation with a server in raw JSON, for what the official client would never send."""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from uraniborg.kernel.mcp import Server
from uraniborg.kernel.mcp.stdio import parsed

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": "init",
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "wire", "version": "1"}},
}
_REQUEST_ID = re.compile(r', ?(\\*)"request_id\1": ?\1"[\w.-]+\1"')
INITIALIZED: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(method: str, params: Any = None, *, id: Any = 1) -> dict[str, Any]:  # noqa: A002 - its name in JSON-RPC
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def call(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return request("tools/call", {"name": name, "arguments": arguments, **more})


def without_request_id(answer: Any) -> Any:
    """Return an answer without the id of its request, which no two answers share."""
    return json.loads(_REQUEST_ID.sub("", json.dumps(answer)))


class Wire:
    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def send(self, message: dict[str, Any] | str) -> None:
        line = message if isinstance(message, str) else json.dumps(message)
        await self._incoming.send(parsed(line.encode()))

    async def receive(self) -> dict[str, Any]:
        with anyio.fail_after(20):
            sent = await self._outgoing.receive()
        return json.loads(sent.message.model_dump_json(by_alias=True, exclude_none=True))

    async def ask(self, message: dict[str, Any] | str) -> dict[str, Any]:
        """Send it, and expect the very next thing the server says."""
        await self.send(message)
        return await self.receive()


@asynccontextmanager
async def wire_to(server: Server, *, initialized: bool = True) -> AsyncGenerator[Wire]:
    to_server, incoming = anyio.create_memory_object_stream[Any](100)
    outgoing, from_server = anyio.create_memory_object_stream[Any](100)
    async with anyio.create_task_group() as tasks, to_server, from_server:
        tasks.start_soon(server.protocol.run, incoming, outgoing, server.protocol.create_initialization_options())
        wire = Wire(to_server, from_server)
        if initialized:
            await wire.ask(INITIALIZE)
            await wire.send(INITIALIZED)
        yield wire
        tasks.cancel_scope.cancel()
