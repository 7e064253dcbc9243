"""MCP sessions in raw JSON-RPC over HTTP, for messages that the official client never sends."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import httpx

from tests.universe.mcp.served_universes import SOON_S
from tests.universe.mcp.stream_listener import Listener, NoStream, open_listener

SESSION: Final = "mcp-session-id"
NEWEST: Final = "2025-11-25"
VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
INITIALIZED: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}


_IDS = count(1)
_POLL_S: Final = 0.01


def request(method: str, params: Any = None, *, id: Any = None) -> dict[str, Any]:  # noqa: A002 - its name in JSON-RPC
    """Return a request, with a unique id unless an id is given."""
    named = next(_IDS) if id is None else id
    return {"jsonrpc": "2.0", "id": named, "method": method, **({} if params is None else {"params": params})}


def initialize(version: str = NEWEST) -> dict[str, Any]:
    client = {"name": "wire", "version": "1"}
    return request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": tool, "arguments": arguments})


def message_in(response: httpx.Response) -> dict[str, Any]:
    """Return the one JSON-RPC message in a response, which is JSON or an event stream."""
    if response.headers["content-type"].startswith("application/json"):
        return response.json()
    (message,) = [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: {")]
    return message


def answer_in(result: dict[str, Any]) -> Any:
    """Return the JSON in the result of a successful call."""
    assert not result.get("isError"), result
    (block,) = result["content"]
    return json.loads(block["text"])


def refusal_in(response: httpx.Response) -> dict[str, Any]:
    """Return the error of an HTTP refusal, which has the common error shape and no session id."""
    assert response.status_code >= 400
    assert response.headers["content-type"] == "application/json"
    assert SESSION not in response.headers
    body = response.json()
    assert body.keys() == {"error"}
    assert body["error"].keys() >= {"code", "message", "hint"}
    return body["error"]


class Wire:
    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def send(
        self, method: str, message: Any = None, session: str | None = None, path: str = "/mcp", **headers: str
    ) -> httpx.Response:
        content = message if isinstance(message, bytes) else b"" if message is None else json.dumps(message).encode()
        sent = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        if session is not None:
            sent[SESSION] = session
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.request(method, path, content=content, headers=sent)

    async def post(self, message: Any, session: str | None = None, **headers: str) -> httpx.Response:
        return await self.send("POST", message, session, **headers)

    async def begin(self, version: str = NEWEST, **headers: str) -> "Session":
        """Start a session and return it, ready for use."""
        begun = await self.post(initialize(version), **headers)
        assert begun.status_code == 200, begun.text
        assert message_in(begun)["result"]["protocolVersion"] == version
        session = Session(self, begun.headers[SESSION], version)
        assert (await session.post(INITIALIZED)).status_code == 202
        return session


@dataclass(frozen=True)
class Session:
    wire: Wire
    id: str
    version: str = NEWEST

    async def post(self, message: Any, **headers: str) -> httpx.Response:
        return await self.wire.post(message, self.id, **{"mcp_protocol_version": self.version, **headers})

    async def ask(self, method: str, params: Any = None) -> dict[str, Any]:
        """Send a request and return its JSON-RPC response."""
        message = request(method, params)
        response = await self.post(message)
        assert response.status_code == 200, response.text
        answer = message_in(response)
        assert answer["id"] == message["id"]
        return answer

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its result, which may be an error."""
        return (await self.ask("tools/call", {"name": tool, "arguments": arguments}))["result"]

    def open_listener(self) -> AbstractAsyncContextManager[Listener]:
        return open_listener(self.wire.http, "/mcp", **{SESSION: self.id, "mcp-protocol-version": self.version})

    @asynccontextmanager
    async def listening_again(self) -> AsyncGenerator[Listener]:
        """Open the stream again, as soon as the server has noticed that the previous stream is closed."""
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(SOON_S):
                listener = None
                while listener is None:
                    try:
                        listener = await stack.enter_async_context(self.open_listener())
                    except NoStream as refused:
                        if refused.status != 409:
                            raise
                        await asyncio.sleep(_POLL_S)
            yield listener

    async def end(self) -> httpx.Response:
        return await self.wire.send("DELETE", session=self.id, mcp_protocol_version=self.version)
