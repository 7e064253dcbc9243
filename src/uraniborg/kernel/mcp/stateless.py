"""The stateless endpoint: one JSON answer to each POST, and nothing remembered.

Refusals of HTTP (origin, host, method, version, types, size) have a body `{"error": …}` and their own status, and come
before the body is read. What the body says is answered in JSON-RPC, with the same `{"error": …}` as the error's `data`:
400 for what is no message, 200 for the answer to any request, 202 and nothing for notifications and responses.
"""

from typing import Final

from starlette.types import Receive, Scope, Send

from uraniborg.kernel.mcp.dispatch import Dispatcher
from uraniborg.kernel.mcp.jsonrpc import BATCHING_VERSION, Answer
from uraniborg.kernel.mcp.reply import as_json, error_body, noted
from uraniborg.kernel.mcp.rules import BodyTooLarge, MethodNotAllowed, Rules, check_content, read_headers

_JSON: Final[tuple[bytes, bytes]] = (b"content-type", b"application/json")


class StatelessEndpoint:
    """An ASGI app that lets `dispatcher` answer what keeps the rules."""

    def __init__(self, dispatcher: Dispatcher, rules: Rules, body_limit: int) -> None:
        self._dispatcher = dispatcher
        self._rules = rules
        self._body_limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [_JSON]
        try:
            answer = await self._answer(scope, receive)
        except Exception as exc:
            error = noted(exc, during="an MCP request over HTTP")
            if isinstance(error, MethodNotAllowed):
                headers.append((b"allow", ", ".join(error.ids["allowed"]).encode()))
            answer = Answer(error.status, as_json(error_body(error)))
        if answer is not None:
            status, body = answer
            headers = [*(headers if body else ()), (b"content-length", b"%d" % len(body))]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> Answer | None:
        """The answer, or None if nobody waits for it. Raises what the request is refused with."""
        headers = read_headers(scope)
        self._rules.check(scope["method"], headers)
        check_content(headers, self._body_limit)
        body = await self._read(receive)
        if body is None:
            return None
        # The protocol has this version assumed where none is named, and it is the one with batches.
        version = headers.get(b"mcp-protocol-version")
        return await self._dispatcher.answer(body, BATCHING_VERSION if version is None else version.decode())

    async def _read(self, receive: Receive) -> bytes | None:
        """The body, or None if the client left before it was all there."""
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._body_limit:
                raise BodyTooLarge(self._body_limit)
            more = message.get("more_body", False)
        return b"".join(parts)
