"""Connect a client that only starts programs to an MCP server at an address: stdin and stdout to Streamable HTTP."""

import asyncio
import io
import json
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final, Protocol, TextIO, TypeAlias, cast

import httpx

from uraniborg.connect.server_entries import HttpServerEntry, add_credentials, list_http_servers
from uraniborg.kernel.boundary import LOSSLESS, parse_json
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.http.config import is_loopback
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.servers.credentials import BRIDGE, AgentCredentials

_ACCEPTED: Final = "application/json, text/event-stream"
_LONGEST_WAIT_S: Final = 60.0
"""The time that requests get to finish after the client has closed stdin."""
_INTERNAL_ERROR: Final = -32603
_PARSE_ERROR: Final = -32700
_SESSION_LOST: Final = 404

Message: TypeAlias = JsonObject
"""A message of JSON-RPC, which passes through as it is."""


class LineSource(Protocol):
    """Where the messages of the client come from."""

    def readline(self) -> str: ...


def run_bridge(
    url: str, *, server: str | None = None, incoming: LineSource | None = None, outgoing: TextIO | None = None
) -> None:
    """Forward messages between the streams and the server at `url` until the input ends. Raise InvalidInput.

    Our servers get the credential of the bridge: those at the addresses of the settings, or the `server` of this name.
    """
    address = httpx.URL(url)
    if address.scheme not in ("http", "https") or not address.host:
        raise InvalidInput(f"'{url}' is not an address.", hint="Write it as http://127.0.0.1:8421/mcp.")
    bridge = Bridge(url, outgoing or sys.stdout, token=_find_token(url, server) if is_loopback(address.host) else "")
    # A line that is not UTF-8 is answered as one that is not JSON.
    source = incoming or io.TextIOWrapper(sys.stdin.buffer, "utf-8", LOSSLESS)
    asyncio.run(bridge.forward_messages(source))


def _find_token(url: str, name: str | None) -> str:
    """Return the token for the server with this name or at this address; an empty text if it is none of ours."""
    for server in list_http_servers():
        if name == server.name or (name is None and url == server.url):
            (found,) = add_credentials([server], BRIDGE)
            return found.token if isinstance(found, HttpServerEntry) else ""
    return AgentCredentials().make_token(BRIDGE, name) if name else ""


class Bridge:
    """One client, one server. A session that the server has lost is opened again without the client noticing."""

    def __init__(
        self, url: str, outgoing: TextIO, transport: httpx.AsyncBaseTransport | None = None, token: str = ""
    ) -> None:
        self._url = url
        self._outgoing = outgoing
        # Loopback addresses are never reached through a proxy, and a tool may run for minutes.
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=5.0),
            trust_env=False,
            transport=transport,
            headers={"Authorization": f"Bearer {token}"} if token else {},
        )
        self._headers: dict[str, str] = {}
        self._greeting: list[Message] = []
        """The initialize request and the notification after it, to open a lost session again."""
        self._requests: set[asyncio.Task[None]] = set()
        self._notifications: asyncio.Task[None] | None = None
        self._reopening = asyncio.Lock()

    async def forward_messages(self, incoming: LineSource) -> None:
        """Send every line of the input, and write every answer and notification as a line."""
        async with self._http:
            while line := await asyncio.to_thread(incoming.readline):
                if line.strip():
                    await self._handle_line(line)
            if self._requests:
                await asyncio.wait(self._requests, timeout=_LONGEST_WAIT_S)
            for task in (*self._requests, *([self._notifications] if self._notifications else [])):
                task.cancel()
            if "Mcp-Session-Id" in self._headers:
                with suppress(httpx.HTTPError):
                    await self._http.delete(self._url, headers=self._headers)

    async def _handle_line(self, line: str) -> None:
        try:
            message = parse_json(line)
        except ValueError:
            self._write_error(None, _PARSE_ERROR, "The line is not JSON.")
            return
        method = cast("Message", message).get("method") if isinstance(message, dict) else None
        if method in ("initialize", "notifications/initialized"):
            if method == "initialize":
                self._greeting, self._headers = [], {}
            self._greeting.append(cast("Message", message))
            await self._forward_message(message)
            if method == "notifications/initialized":
                self._notifications = asyncio.create_task(self._forward_notifications())
            return
        task = asyncio.create_task(self._forward_message(message))
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)

    async def _forward_message(self, message: Any) -> None:
        """Send one message; a request that fails is answered with an error."""
        try:
            async for answer in self._post_message(message):
                self._write_message(answer)
        except httpx.HTTPError as exc:
            reason = str(exc) or type(exc).__name__
            text = f"The server at {self._url} did not answer: {reason}. Start it, then try again."
            self._report_send_failure(message, text)

    async def _post_message(self, message: Any, *, is_retry: bool = False) -> AsyncIterator[Message]:
        headers = {**self._headers, **_make_envelope_headers(message), "Accept": _ACCEPTED}
        session = headers.get("Mcp-Session-Id")
        async with self._http.stream("POST", self._url, json=message, headers=headers) as response:
            if response.status_code == _SESSION_LOST and session and not is_retry:
                await response.aread()
            elif response.is_error:
                yield self._make_refusal_error(message, response.status_code, await response.aread())
                return
            else:
                self._remember_session(response)
                async for answer in _read_messages(response):
                    self._remember_version(answer)
                    yield answer
                return
        await self._reopen_session(session)
        async for answer in self._post_message(message, is_retry=True):
            yield answer

    async def _reopen_session(self, lost: str | None) -> None:
        async with self._reopening:
            if self._headers.get("Mcp-Session-Id") != lost:
                return  # another request has opened it
            self._headers = {}
            for message in self._greeting:
                async for _ in self._post_message(message, is_retry=True):
                    pass

    async def _forward_notifications(self) -> None:
        """Write the messages of the server's own stream, if it offers one."""
        with suppress(httpx.HTTPError):
            while True:
                headers = {**self._headers, "Accept": "text/event-stream"}
                async with self._http.stream("GET", self._url, headers=headers) as response:
                    if response.is_error:
                        return
                    async for message in _read_messages(response):
                        self._write_message(message)
                await asyncio.sleep(1)

    def _remember_session(self, response: httpx.Response) -> None:
        if session := response.headers.get("Mcp-Session-Id"):
            self._headers["Mcp-Session-Id"] = session

    def _remember_version(self, answer: Message) -> None:
        result = answer.get("result")
        if isinstance(result, dict) and (version := cast("Message", result).get("protocolVersion")):
            self._headers["MCP-Protocol-Version"] = str(version)

    def _make_refusal_error(self, message: Any, status: int, body: bytes) -> Message:
        """Return the server's own JSON-RPC error, or one with the text of its answer."""
        with suppress(ValueError):
            content = json.loads(body)
            if isinstance(content, dict) and "jsonrpc" in content:
                return {**cast("Message", content), "id": _get_message_id(message)}
        text = body.decode("utf-8", "replace")[:500]
        return _make_error(
            _get_message_id(message), _INTERNAL_ERROR, f"The server answered with status {status}: {text}"
        )

    def _report_send_failure(self, message: Any, text: str) -> None:
        if isinstance(message, dict) and "id" in message and "method" in message:
            self._write_error(_get_message_id(message), _INTERNAL_ERROR, text)
        else:
            sys.stderr.write(text + "\n")

    def _write_error(self, request_id: Json, code: int, text: str) -> None:
        self._write_message(_make_error(request_id, code, text))

    def _write_message(self, message: Message) -> None:
        self._outgoing.write(json.dumps(message, separators=(",", ":")) + "\n")
        self._outgoing.flush()


async def _read_messages(response: httpx.Response) -> AsyncIterator[Message]:
    """Yield the messages of an answer: one JSON body, or the events of a stream."""
    if response.headers.get("Content-Type", "").startswith("text/event-stream"):
        data: list[str] = []
        async for line in response.aiter_lines():
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line and data:
                text = "\n".join(data)
                data = []
                if text:
                    yield json.loads(text)
        return
    body = await response.aread()
    if body.strip():
        content = json.loads(body)
        for message in cast("list[Message]", content if isinstance(content, list) else [content]):
            yield message


def _make_envelope_headers(message: Any) -> dict[str, str]:
    """Return the headers that repeat version, method and name of a request of version 2026-07-28; none for others."""
    params = _get_object(message, "params")
    version = _get_object(params, "_meta").get("io.modelcontextprotocol/protocolVersion")
    if not isinstance(version, str):
        return {}
    method = str(cast("Message", message).get("method"))
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": method}
    name = params.get("uri" if method == "resources/read" else "name")
    if isinstance(name, str):
        plain = name.isascii() and name.isprintable() and name == name.strip() and not name.startswith("=?")
        headers["Mcp-Name"] = name if plain else f"=?base64?{b64encode(name.encode()).decode()}?="
    return headers


def _get_object(value: Any, name: str) -> Message:
    """Return the object in this field of an object; an empty one if there is none."""
    found = cast("Message", value).get(name) if isinstance(value, dict) else None
    return cast("Message", found) if isinstance(found, dict) else {}


def _get_message_id(message: Any) -> Json:
    return cast("Message", message).get("id") if isinstance(message, dict) else None


def _make_error(request_id: Json, code: int, text: str) -> Message:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}
