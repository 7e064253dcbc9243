"""A guard before the SDK's transport: what breaks the rules stays outside, and every refusal has one shape."""

import json
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.gate import JSON, check_json_type
from uraniborg.kernel.mcp.batches import answers_in
from uraniborg.kernel.mcp.reply import noted
from uraniborg.kernel.mcp.rules import MethodNotAllowed, Rules, accepts_json, read_headers
from uraniborg.kernel.request_ids import identify_error

_EVENTS: Final = "text/event-stream"
_TRANSPORT_REFUSALS: Final[dict[tuple[int, int | None] | int, tuple[str, str, str]]] = {
    (400, -32700): ("invalid_json", "The body is not JSON.", "Send one JSON-RPC message, as JSON in UTF-8."),
    (400, -32602): (
        "invalid_request",
        "The body is not a JSON-RPC 2.0 message.",
        "Send one object with jsonrpc, id, method and params; a batch only within a session.",
    ),
    (400, -32600): (
        "session_required",
        "This request belongs to no session.",
        "Send initialize first, then repeat the Mcp-Session-Id header of its answer in every request.",
    ),
    404: ("session_not_found", "There is no such session, or no longer.", "Send initialize to start a new one."),
    406: (
        "not_acceptable",
        "No type this server answers in is accepted.",
        "Send Accept: application/json, text/event-stream with POST, and Accept: text/event-stream with GET.",
    ),
    413: ("body_too_large", "The body is larger than this server takes.", "Send less in one request."),
    503: ("too_many_sessions", "All sessions of this server are in use.", "Try again later; idle sessions end."),
}
_TRANSPORT_FAILURE: Final = ("internal_error", "The request could not be handled.", "Trying again is safe.")


class Guard:
    """Lets through to `app` what keeps the rules; everything refused, here or behind, is answered in one shape."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answers = _Answers(scope, receive, send)
        try:
            # The body is not read before this.
            self._rules.check(scope["method"], read_headers(scope))
            headers = MutableHeaders(scope=scope)
            accept = headers.get("accept", "*/*")
            if scope["method"] == "POST":
                check_json_type(headers.get("content-type", ""), headers.get("content-encoding", ""))
                answers.json_only = "*/*" not in accept and _EVENTS not in accept.lower()
            if "*/*" in accept or (answers.json_only and accepts_json(accept.encode("latin-1"))):
                headers["accept"] = f"{JSON}, {_EVENTS}"
            await self._app(scope, receive, answers)
        except Exception as exc:
            await answers.refuse(noted(exc, during="an MCP request over HTTP"))


class _Answers:
    """Passes on answers, and says refusals of the SDK's transport in our words."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self.json_only = False
        """Whether an answer that comes as an event stream must be sent as JSON."""
        self._stream: Message | None = None
        self._started = False
        self._over = False
        self._refused: int | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        starting = message["type"] == "http.response.start"
        if self._over or (starting and self._started):
            # The transport may break down after its answer, and then answers once more.
            self._over = True
        elif starting and message["status"] >= 400:
            self._refused = message["status"]
        elif starting and self.json_only and _is_stream(message):
            self._stream = message
        elif self._refused is None and self._stream is None:
            self._started = True
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await (self._send_json(self._stream) if self._stream else self._rephrase(self._refused or 500))

    async def refuse(self, error: UraniborgError) -> None:
        """Answer with `error`, unless an answer is under way."""
        if not self._started:
            allow = {"Allow": ", ".join(error.ids["allowed"])} if isinstance(error, MethodNotAllowed) else None
            await self._respond(error.status, error.body(), allow)

    async def _send_json(self, start: Message) -> None:
        """Send the answer in the event stream that `start` began, or that the session ended before it."""
        answer = next(answers_in(self._body), None)
        if answer is None:
            await self._rephrase(404)
            return
        self._started = True
        headers = MutableHeaders(raw=[*start["headers"]])
        del headers["cache-control"]
        headers["content-type"] = JSON
        headers["content-length"] = str(len(answer))
        await self._send({**start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": answer})

    async def _rephrase(self, status: int) -> None:
        try:
            rpc_code = json.loads(self._body)["error"]["code"]
        except (ValueError, KeyError, TypeError):
            rpc_code = None
        refusal = _TRANSPORT_REFUSALS.get((status, rpc_code)) or _TRANSPORT_REFUSALS.get(status, _TRANSPORT_FAILURE)
        code, message, hint = refusal
        await self._respond(status, {"error": {"code": code, "message": message, "hint": hint}})

    async def _respond(self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        self._started = True
        response = JSONResponse(identify_error(body), status_code=status, headers=headers)
        await response(self._scope, self._receive, self._send)


def _is_stream(start: Message) -> bool:
    return dict(start["headers"]).get(b"content-type", b"").startswith(_EVENTS.encode())
