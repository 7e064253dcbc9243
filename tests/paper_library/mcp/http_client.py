"""A shelf served on a real port, and a client that sends raw JSON-RPC over HTTP."""

import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import httpx
import uvloop

from paper_library.api.app import make_app
from paper_library.config import LibraryConfig
from uraniborg.kernel.mcp.testing import serve_app

VERSION = "mcp-protocol-version"
SESSION = "mcp-session-id"
NEWEST = "2025-11-25"
_PATIENCE_S = 30


def make_request(method: str, params: Any = None, *, id: Any = 1) -> dict[str, Any]:  # noqa: A002 - its name in JSON-RPC
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def make_initialize_request(version: str = NEWEST) -> dict[str, Any]:
    client = {"name": "raw", "version": "1"}
    return make_request("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})


class Caller:
    """A client of one server that checks the common rules for every reply."""

    def __init__(self, url: str, **headers: str) -> None:
        self.url = url
        self.http = httpx.Client(base_url=url, timeout=_PATIENCE_S, headers=headers)

    def post(self, message: Any, path: str = "/mcp", **headers: str) -> httpx.Response:
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        sent = {"content-type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
        response = self.http.post(path, content=content, headers=sent)
        assert SESSION not in response.headers
        assert not response.is_redirect
        assert response.headers.get("content-type", "application/json") == "application/json"
        return response

    def request(self, method: str, params: Any = None) -> Any:
        """Return the result of a request that must succeed."""
        response = self.post(make_request(method, params), mcp_protocol_version=NEWEST)
        assert response.status_code == 200
        assert "error" not in response.json(), response.text
        return response.json()["result"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def call_structured(self, tool: str, **arguments: Any) -> Any:
        """Return the structured output of a tool, which must equal its text."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        (block,) = result["content"]
        assert block["type"] == "text"
        assert json.loads(block["text"]) == result["structuredContent"]
        assert "\n" not in block["text"], "replies are not indented"
        return result["structuredContent"]

    def call_text(self, tool: str, **arguments: Any) -> str:
        """Return the text of a reading tool, which must be one content block."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        (block,) = result["content"]
        assert block["type"] == "text"
        return block["text"]

    def call_error(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the error of a call that must fail, in the common error shape."""
        result = self.call(tool, **arguments)
        assert result.get("isError") is True, result
        (block,) = result["content"]
        body = json.loads(block["text"])
        assert body.keys() == {"error"}
        error = body["error"]
        assert error["code"]
        assert error["message"]
        assert isinstance(error["hint"], str)
        return error

    def read_resource(self, uri: str) -> dict[str, Any]:
        (content,) = self.request("resources/read", {"uri": uri})["contents"]
        return content

    def read_resource_error(self, uri: str) -> dict[str, Any]:
        """Return the error of a read that must fail: a JSON-RPC error whose data has the common error shape."""
        response = self.post(make_request("resources/read", {"uri": uri}))
        assert response.status_code == 200
        error = response.json()["error"]
        assert isinstance(error["code"], int)
        assert error["message"]
        assert error["data"].keys() == {"error"}
        assert error["data"]["error"]["message"]
        return error["data"]["error"]

    def find_paper_id(self, paper: str) -> str:
        return self.call_structured("get_paper_metadata", paper_id=paper)["paper_id"]


@contextmanager
def serve_library(config: LibraryConfig) -> Generator[Caller]:
    """Yield a client of the app for `config`, which runs on its own port until the block ends."""
    ready: list[str] = []
    started = threading.Event()
    loop = uvloop.new_event_loop()
    leaving = asyncio.Event()

    async def serve() -> None:
        async with serve_app(make_app(config)) as url:
            ready.append(url)
            started.set()
            await leaving.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            started.set()
            loop.close()

    thread = threading.Thread(target=run, name="served library")
    thread.start()
    assert started.wait(_PATIENCE_S)
    assert ready, "the app could not be served"
    caller = Caller(ready[0])
    try:
        with caller.http:
            yield caller
    finally:
        loop.call_soon_threadsafe(leaving.set)
        thread.join(_PATIENCE_S)
        assert not thread.is_alive()
