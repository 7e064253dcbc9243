"""Checks of the headers of a request, before its body is read.

UraniborgError
├── Refused
│   ├── OriginRefused          403   the Origin header is not on the list
│   └── HostRefused            421   the Host header is not on the list
└── InvalidInput
    ├── MethodNotAllowed       405
    ├── UnsupportedVersion     400   the server does not support the version in MCP-Protocol-Version
    ├── NotAcceptable          406   the Accept header excludes JSON
    ├── UnsupportedMediaType   415   the Content-Type is not JSON
    └── BodyTooLarge           413
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.kernel.errors import ErrorBody, InvalidInput, UraniborgError
from uraniborg.kernel.http.config import HostRefused, OriginRefused, is_host, is_origin
from uraniborg.kernel.http.header_checks import JSON, BodyTooLarge, MethodNotAllowed, check_json_type
from uraniborg.kernel.ids import identify_error
from uraniborg.kernel.mcp.http_sessions import iterate_replies
from uraniborg.kernel.mcp.replies import log_unexpected
from uraniborg.kernel.mcp.session import SINGLE_REPLY

_READ: Final = frozenset(
    (
        b"accept",
        b"content-encoding",
        b"content-length",
        b"content-type",
        b"host",
        b"mcp-method",
        b"mcp-name",
        b"mcp-protocol-version",
        b"origin",
    )
)
_JSON_RANGES: Final = {"*": 0, "*/*": 0, "application/*": 1, "application/json": 2}

Headers = Mapping[bytes, bytes]


class UnsupportedVersion(InvalidInput):
    code = "unsupported_protocol_version"
    status = 400

    def __init__(self, supported: Sequence[str]) -> None:
        super().__init__(
            "This server does not support the version in the MCP-Protocol-Version header.",
            hint=f"Use one of: {', '.join(supported)}.",
            allowed=list(supported),
        )


class NotAcceptable(InvalidInput):
    code = "not_acceptable"
    status = 406


def read_headers(scope: Scope) -> Headers:
    """Return the headers that are checked. A header that is sent twice becomes a list, which no rule allows."""
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in _READ:
            found[name] = found[name] + b", " + value if name in found else value
    return found


@dataclass(frozen=True)
class Rules:
    """The allowed methods, origins and hosts, compared exactly except LOOPBACK. `hosts` may be None for any host."""

    methods: tuple[str, ...]
    origins: frozenset[str]
    hosts: frozenset[str] | None

    def check(self, method: str, headers: Headers) -> None:
        """Raise the most serious error of a request with these headers."""
        origin = headers.get(b"origin")
        if origin is not None and not is_origin(origin.decode("latin-1"), self.origins):
            raise OriginRefused
        if self.hosts is not None and not is_host(headers.get(b"host", b"").decode("latin-1"), self.hosts):
            raise HostRefused
        if method not in self.methods:
            raise MethodNotAllowed(
                f"The method {method[:20]} is not allowed here.",
                hint=f"Use {', '.join(self.methods)}.",
                allowed=list(self.methods),
            )


def check_session_version(headers: Headers) -> None:
    """Raise UnsupportedVersion unless sessions support the version of the protocol, if there is one.

    The error is not a JSON-RPC error: clients that first try a newer version then know that they must initialize.
    """
    version = headers.get(b"mcp-protocol-version")
    if version is not None and version.decode("latin-1") not in SUPPORTED_PROTOCOL_VERSIONS:
        raise UnsupportedVersion(SUPPORTED_PROTOCOL_VERSIONS)


def check_content(headers: Headers, body_limit: int) -> None:
    """Raise an error unless the client accepts JSON and the body can be JSON: its type, encoding and length."""
    accept = headers.get(b"accept")
    if accept is not None and not accepts_json(accept):
        raise NotAcceptable("This server answers in JSON only.", hint="Send Accept: application/json.")
    check_json_type(
        headers.get(b"content-type", b"").decode("latin-1"), headers.get(b"content-encoding", b"").decode("latin-1")
    )
    length = headers.get(b"content-length", b"0")
    # int() accepts at most 4,300 digits.
    if len(length) > 20 or (length.isdigit() and int(length) > body_limit):
        raise BodyTooLarge(body_limit)


@lru_cache(maxsize=64)
def accepts_json(accept: bytes) -> bool:
    """Return True if an Accept header accepts application/json; the most specific range decides."""
    if not accept.strip():
        return True
    deciding = (-1, 0.0)
    for item in accept.decode("latin-1").lower().split(","):
        media, *parameters = (part.strip() for part in item.split(";"))
        if media in _JSON_RANGES:
            deciding = max(deciding, (_JSON_RANGES[media], _parse_quality(parameters)))
    return deciding[1] > 0


def _parse_quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                break
    return 1.0


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
        "This request has no session.",
        "Send initialize first, then repeat the Mcp-Session-Id header of its answer in every request.",
    ),
    404: ("session_not_found", "This session does not exist or has ended.", "Send initialize to start a new session."),
    406: (
        "not_acceptable",
        "The Accept header has no type that this server can send.",
        "Send Accept: application/json, text/event-stream with POST, and Accept: text/event-stream with GET.",
    ),
    413: ("body_too_large", "The body is larger than this server accepts.", "Send less in one request."),
    503: ("too_many_sessions", "All sessions of this server are in use.", "Try again later; idle sessions end."),
}
_TRANSPORT_FAILURE: Final = ("internal_error", "The request could not be handled.", "Trying again is safe.")


class Guard:
    """Middleware that refuses requests against the rules. All its errors and those of `app` have the common body."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answers = _ResponseSender(scope, receive, send)
        try:
            # The body is not read before this.
            given = read_headers(scope)
            self._rules.check(scope["method"], given)
            check_session_version(given)
            headers = MutableHeaders(scope=scope)
            accept = headers.get("accept", "*/*")
            if scope["method"] == "POST":
                check_json_type(headers.get("content-type", ""), headers.get("content-encoding", ""))
                answers.json_only = scope[SINGLE_REPLY] = "*/*" not in accept and _EVENTS not in accept.lower()
            if "*/*" in accept or (answers.json_only and accepts_json(accept.encode("latin-1"))):
                headers["accept"] = f"{JSON}, {_EVENTS}"
            await self._app(scope, receive, answers)
        except Exception as exc:
            await answers.refuse(log_unexpected(exc, during="an MCP request over HTTP"))


class _ResponseSender:
    """Sends responses, and replaces the error bodies of the SDK's transport by ours."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self.json_only = False
        """True if a response that is an event stream must be sent as JSON."""
        self._stream: Message | None = None
        self._started = False
        self._over = False
        self._refused: int | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        starting = message["type"] == "http.response.start"
        if self._over or (starting and self._started):
            # The transport may fail after its response, and then sends a second one.
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
                await (self._send_json(self._stream) if self._stream else self._send_our_error(self._refused or 500))

    async def refuse(self, error: UraniborgError) -> None:
        """Respond with `error`, unless a response has started."""
        if not self._started:
            allow = {"Allow": ", ".join(error.ids["allowed"])} if isinstance(error, MethodNotAllowed) else None
            await self._respond(error.status, error.body(), allow)

    async def _send_json(self, start: Message) -> None:
        """Send the response in the event stream that `start` began, or the error that the session ended first."""
        answer = next(iterate_replies(self._body), None)
        if answer is None:
            await self._send_our_error(404)
            return
        self._started = True
        headers = MutableHeaders(raw=[*start["headers"]])
        del headers["cache-control"]
        headers["content-type"] = JSON
        headers["content-length"] = str(len(answer))
        await self._send({**start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": answer})

    async def _send_our_error(self, status: int) -> None:
        try:
            rpc_code = json.loads(self._body)["error"]["code"]
        except (ValueError, KeyError, TypeError):
            rpc_code = None
        refusal = _TRANSPORT_REFUSALS.get((status, rpc_code)) or _TRANSPORT_REFUSALS.get(status, _TRANSPORT_FAILURE)
        code, message, hint = refusal
        await self._respond(status, {"error": {"code": code, "message": message, "hint": hint}})

    async def _respond(self, status: int, body: ErrorBody, headers: dict[str, str] | None = None) -> None:
        self._started = True
        response = JSONResponse(identify_error(body), status_code=status, headers=headers)
        await response(self._scope, self._receive, self._send)


def _is_stream(start: Message) -> bool:
    return dict(start["headers"]).get(b"content-type", b"").startswith(_EVENTS.encode())
