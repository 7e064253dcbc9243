"""Requests of version 2026-07-28, and the first messages of clients that try it before they initialize."""

from base64 import b64encode
from typing import Any, Final, NamedTuple

VERSION: Final = "2026-07-28"
PREFIX: Final = "io.modelcontextprotocol/"
META: Final[dict[str, Any]] = {
    f"{PREFIX}protocolVersion": VERSION,
    f"{PREFIX}clientInfo": {"name": "raw", "version": "1"},
    f"{PREFIX}clientCapabilities": {},
}
NAMES: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def make_message(method: str, params: dict[str, Any] | None = None, *, id: Any = 1) -> dict[str, Any]:  # noqa: A002
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": META}}


def make_headers(message: dict[str, Any]) -> dict[str, str]:
    """Return the headers that repeat the version, the method and the name of a message."""
    headers = {"mcp-protocol-version": VERSION, "mcp-method": message["method"]}
    params: dict[str, Any] = message.get("params") or {}
    value = params.get(NAMES.get(message["method"], ""))
    if isinstance(value, str):
        plain = value.isascii() and value.isprintable()
        headers["mcp-name"] = value if plain else f"=?base64?{b64encode(value.encode()).decode()}?="
    return headers


class Probe(NamedTuple):
    """The first messages of a client that supports both kinds of versions, exactly as it sends them."""

    discover: bytes
    initialize: bytes
    headers: dict[str, str]
    """The headers of `discover` over HTTP."""


_PROBE_HEADERS: Final = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-protocol-version": VERSION,
    "mcp-method": "server/discover",
}
PROBES: Final = {
    "Python SDK 2.3.0": Probe(
        b'{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{'
        b'"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        b'"io.modelcontextprotocol/clientInfo":{"name":"mcp","version":"0.1.0"},'
        b'"io.modelcontextprotocol/clientCapabilities":{}}}}',
        b'{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
        b'"clientInfo":{"name":"mcp","version":"0.1.0"}}}',
        {**_PROBE_HEADERS, "user-agent": "python-httpx2/2.16.0", "accept-encoding": "gzip, deflate"},
    ),
    "TypeScript SDK 2.4": Probe(
        b'{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{'
        b'"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        b'"io.modelcontextprotocol/clientInfo":{"name":"proof","version":"1"},'
        b'"io.modelcontextprotocol/clientCapabilities":{}}}}',
        b'{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
        b'"clientInfo":{"name":"proof","version":"1"}},"jsonrpc":"2.0","id":0}',
        {**_PROBE_HEADERS, "user-agent": "node", "sec-fetch-mode": "cors", "accept-language": "*"},
    ),
}
