"""A conversation with a server in raw JSON, for what the official client would never send."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from uraniborg.kernel.mcp import Server
from uraniborg.kernel.mcp.stdio_exchange import Exchange

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
    """A client in memory: lines of bytes to the server and back, as over stdin and stdout."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self.exchange: asyncio.Task[None]

    def listen(self, deliver: Callable[[bytes | None], None], on_left: Callable[[], None]) -> None:
        self._deliver = deliver
        self.leave = on_left

    def write(self, line: bytes) -> None:
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    async def send(self, message: Any) -> None:
        line = message if isinstance(message, str | bytes) else json.dumps(message)
        self._deliver(line.encode() if isinstance(line, str) else line)
        await asyncio.sleep(0)

    def end(self) -> None:
        """End the input."""
        self._deliver(None)

    async def over(self) -> None:
        """Wait until the server has ended."""
        async with asyncio.timeout(20):
            await asyncio.wait([self.exchange])
        await asyncio.sleep(0)

    async def receive(self) -> Any:
        async with asyncio.timeout(20):
            line = await self._lines.get()
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        return json.loads(line)

    async def ask(self, message: Any) -> Any:
        """Send it, and expect the very next thing the server says."""
        await self.send(message)
        return await self.receive()

    @property
    def has_more(self) -> bool:
        return not self._lines.empty()


@asynccontextmanager
async def wire_to(server: Server, *, initialized: bool = True, patience: float = 20) -> AsyncGenerator[Wire]:
    wire = Wire()
    wire.exchange = exchange = asyncio.create_task(Exchange(server.protocol, wire, patience).run())
    await asyncio.sleep(0)
    try:
        if initialized:
            await wire.ask(INITIALIZE)
            await wire.send(INITIALIZED)
        yield wire
    finally:
        exchange.cancel()
        with suppress(asyncio.CancelledError):
            await exchange
