"""ASGI apps that serve MCP over HTTP, with sessions or without, alone or beside other routes."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import anyio
from mcp import McpError
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp.types import METHOD_NOT_FOUND, CallToolRequest, ErrorData, InitializeRequest
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from uraniborg.kernel.http.header_checks import BodyTooLarge, MethodNotAllowed, RequestIds
from uraniborg.kernel.ids import REQUEST_ID
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.mcp.envelope import (
    DISCOVER,
    ENVELOPE_VERSION,
    REMOVED_METHODS,
    STATUS_OF_CODE,
    adapt_failure,
    add_result_start,
    check_envelope,
    encode_discovery,
    find_version_problem,
    make_result_start,
    remove_envelope,
)
from uraniborg.kernel.mcp.http_guard import Guard, Headers, Rules, check_content, read_headers
from uraniborg.kernel.mcp.http_sessions import Sessions
from uraniborg.kernel.mcp.jsonrpc import (
    BATCHING_VERSION,
    NO_ANSWER,
    RpcAnswer,
    RpcRequest,
    answer_invalid_message,
    answer_unreadable,
    encode_failure,
    encode_response,
    find_batch_problem,
    parse_body,
    parse_request,
)
from uraniborg.kernel.mcp.protocol import InvalidMessage, UnknownMethod, read_call, validate_message
from uraniborg.kernel.mcp.replies import (
    choose_error_code,
    encode_json,
    log_unexpected,
    make_error_body,
    make_error_data,
)
from uraniborg.kernel.mcp.server import Server
from uraniborg.kernel.mcp.tool_calls import NotFinite

BODY_LIMIT: Final = 4 * 1024 * 1024


def make_stateless_app(
    server: Server,
    *,
    origins: Collection[str] = (),
    hosts: Collection[str] | None = None,
    path: str = "/mcp",
    body_limit: int = BODY_LIMIT,
    routes: Sequence[BaseRoute] = (),
    lifespan: Lifespan[Starlette] | None = None,
) -> Starlette:
    """Return an app with `server` at `path`, one JSON reply to each POST and no sessions, and with `routes`.

    A request with an Origin that is not exactly one of `origins` is refused (403), as is, if `hosts` are given, another
    Host (421), another method (405) and an unknown protocol version (400), all before its body is read. LOOPBACK stands
    for any origin or host on this machine. Progress reports are dropped: a single reply cannot carry them. To combine
    the app with another one, add its `routes` to that app and, if there is a `lifespan`, enter
    `app.router.lifespan_context(app)` in the lifespan of that app.
    """
    endpoint = StatelessEndpoint(Dispatcher(server), _make_rules(("POST",), origins, hosts), body_limit)
    return _StatelessApp(path, endpoint, routes, lifespan)


class _StatelessApp(Starlette):
    """An app that passes calls to `endpoint` at once: it needs no routing, and responds to its own errors."""

    def __init__(
        self, path: str, endpoint: ASGIApp, routes: Sequence[BaseRoute], lifespan: Lifespan[Starlette] | None
    ) -> None:
        paths = (path, f"{path}/")  # neither is redirected
        self._endpoint, self._identified = endpoint, RequestIds(endpoint)
        super().__init__(routes=[*(Route(one, self._identified) for one in paths), *routes], lifespan=lifespan)
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_call = scope["type"] == "http" and scope["path"] in self._paths and not scope.get("root_path")
        if is_call and not self.user_middleware:
            await (self._endpoint if REQUEST_ID in scope else self._identified)(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def make_stateful_app(
    server: Server,
    *,
    origins: Collection[str] = (),
    hosts: Collection[str] | None = None,
    path: str = "/mcp",
    body_limit: int = BODY_LIMIT,
    idle_seconds: float = 30 * 60,
    max_sessions: int = 1_000,
    json_answers: bool = False,
    heartbeat_s: float = 15.0,
    routes: Sequence[BaseRoute] = (),
    lifespan: Lifespan[Starlette] | None = None,
) -> Starlette:
    """Return an app with `server` at `path` and sessions: POST sends messages, GET opens the event stream, DELETE ends.

    Every initialize starts a session, whatever session the request names. A session unused for `idle_seconds` ends.
    Beyond `max_sessions` a new session replaces the one unused for longest; if each has a running call or an open event
    stream, the new one is refused (503). Replies are event streams, which can carry progress, unless `json_answers`;
    a stream without events for `heartbeat_s` seconds gets a comment. Otherwise the app is as in `make_stateless_app`,
    except that its lifespan must always be entered. `app.state.end_streams` ends the event streams before a shutdown.
    """
    logging.getLogger("mcp.server.streamable_http").addFilter(_is_failure)
    sessions = Sessions(
        server.protocol,
        idle_seconds=idle_seconds,
        most=max_sessions,
        json_answers=json_answers,
        heartbeat_s=heartbeat_s,
    )
    limited = RequestBodyLimitMiddleware(sessions, body_limit)
    guarded = Guard(limited, _make_rules(("POST", "GET", "DELETE"), origins, hosts))

    @asynccontextmanager
    async def run_lifespan(app: Starlette) -> AsyncGenerator[Any]:
        if lifespan is None:
            async with sessions.accept_sessions():
                yield
        else:
            async with lifespan(app) as state, sessions.accept_sessions():
                yield state

    app = Starlette(routes=[*_make_routes(path, guarded), *routes], lifespan=run_lifespan)
    app.state.end_streams = sessions.end_streams
    return app


def _make_rules(methods: tuple[str, ...], origins: Collection[str], hosts: Collection[str] | None) -> Rules:
    return Rules(methods, frozenset(origins), None if hosts is None else frozenset(hosts))


def _make_routes(path: str, endpoint: ASGIApp) -> list[BaseRoute]:
    """Return routes for the path with and without a slash, so that neither is redirected."""
    identified = RequestIds(endpoint)
    return [Route(path, identified), Route(f"{path}/", identified)]


def _is_failure(record: logging.LogRecord) -> bool:
    """Return False for the error that the SDK logs when a session ends while it is in use."""
    exc = record.exc_info[1] if record.exc_info else None
    if isinstance(exc, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", exc).split(anyio.ClosedResourceError)[1] is not None
    return not isinstance(exc, anyio.ClosedResourceError)


_LISTS: Final = ("tools/list", "resources/list", "resources/templates/list")
_PLAIN: Final = frozenset((str, int, bool, type(None)))


class Dispatcher:
    """Answers messages to `server` one by one, with the results and errors of a session of the SDK.

    Progress reports are dropped.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._handlers = server.protocol.request_handlers
        self._listed: dict[str, tuple[int, bytes]] = {}
        self._result_starts: dict[str, bytes] = {}

    async def answer(self, body: bytes, version: str, headers: Headers | None = None) -> RpcAnswer:
        """Return the reply to `body` of a request with this version of the protocol and these headers. Never raise."""
        try:
            message = parse_body(body)
        except ValueError:
            return answer_unreadable(body)
        request = parse_request(cast("JsonObject", message)) if isinstance(message, dict) else None
        if problem := find_version_problem(message, version):
            return RpcAnswer(400, encode_failure(request.id if isinstance(request, RpcRequest) else None, problem))
        if version == ENVELOPE_VERSION:
            return await self._answer_with_envelope(request, headers or {})
        if request is not None:
            return await self._answer(request)
        if isinstance(message, list):
            return await self._answer_batch(cast("list[Any]", message), version)
        return answer_invalid_message()

    async def _answer_batch(self, messages: list[Any], version: str) -> RpcAnswer:
        if problem := find_batch_problem(messages, version):
            return answer_invalid_message(error=problem)
        answers = await asyncio.gather(*(self._answer_member(message) for message in messages))
        bodies = [answer.body for answer in answers if answer.body]
        return RpcAnswer(200, b"[%b]" % b",".join(bodies)) if bodies else NO_ANSWER

    async def _answer_member(self, message: Any) -> RpcAnswer:
        if not isinstance(message, dict):
            return answer_invalid_message()
        member = cast("JsonObject", message)
        if member.get("method") == "initialize" and "id" in member:
            error = InvalidMessage("initialize cannot be part of a batch.", hint="Send it alone.")
            return answer_invalid_message(member["id"], error)
        return await self._answer(parse_request(member))

    async def _answer(self, request: RpcRequest | RpcAnswer) -> RpcAnswer:
        if isinstance(request, RpcAnswer):
            return request
        try:
            result = await self._compute_result(request)
        except (Exception, SystemExit) as exc:
            return RpcAnswer(200, encode_failure(request.id, _describe_failure(exc, request)))
        return RpcAnswer(200, encode_response(request.id, result))

    async def _answer_with_envelope(self, request: RpcRequest | RpcAnswer | None, headers: Headers) -> RpcAnswer:
        """Return the reply to a request of version 2026-07-28, which has an envelope."""
        if not isinstance(request, RpcRequest):
            return request or answer_invalid_message()
        try:
            check_envelope(request, headers)
            result = await self._compute_result_with_envelope(remove_envelope(request))
        except (Exception, SystemExit) as exc:
            failure = adapt_failure(_describe_failure(exc, request), request)
            return RpcAnswer(STATUS_OF_CODE.get(failure.code, 200), encode_failure(request.id, failure))
        return RpcAnswer(200, encode_response(request.id, result))

    async def _compute_result_with_envelope(self, request: RpcRequest) -> bytes:
        if request.method == DISCOVER:
            result = encode_discovery(self._server.protocol.make_initialize_result(ENVELOPE_VERSION))
        else:
            result = await self._compute_result(request, removed=REMOVED_METHODS, added=[DISCOVER])
        if request.method not in self._result_starts:
            info = self._server.protocol.make_initialize_result(ENVELOPE_VERSION).serverInfo
            self._result_starts[request.method] = make_result_start(request.method, info)
        return add_result_start(self._result_starts[request.method], result)

    async def _compute_result(
        self, request: RpcRequest, *, removed: Collection[str] = (), added: Collection[str] = ()
    ) -> bytes:
        """Return the JSON of the result. Raise InvalidInput, UnknownMethod, or the exception of the handler.

        `removed` are methods that the version of the request does not have; `added` are answered by the caller.
        """
        params = request.params
        if request.method == "tools/call" and CallToolRequest in self._handlers and params and _is_plain_call(params):
            return (await self._server.reply_to(*read_call(params))).result_json()
        methods = self._server.protocol.methods_without_session
        if request.method not in methods or request.method in removed:
            raise UnknownMethod(request.method, [*added, *(method for method in methods if method not in removed)])
        try:
            accepted = validate_message(methods[request.method], request.method, params)
        except NotFinite as error:
            return self._server.refuse_call(*read_call(params), error).result_json()
        if isinstance(accepted, InitializeRequest):
            return _encode_result(self._server.protocol.make_initialize_result(str(accepted.params.protocolVersion)))
        if isinstance(accepted, CallToolRequest):
            reply = await self._server.reply_to(accepted.params.name, accepted.params.arguments or {})
            return reply.result_json()
        if request.method in _LISTS:
            return await self._get_list(request.method, accepted)
        return await self._handle_request(accepted)

    async def _get_list(self, method: str, accepted: BaseModel) -> bytes:
        """Return the JSON of a list, cached until something is registered: lists are slow to encode."""
        if method == "resources/list" and self._server.has_listings:
            return await self._handle_request(accepted)
        registrations = self._server.registrations
        known = self._listed.get(method)
        if known is None or known[0] != registrations:
            known = self._listed[method] = (registrations, await self._handle_request(accepted))
        return known[1]

    async def _handle_request(self, accepted: BaseModel) -> bytes:
        result = await self._handlers[type(accepted)](accepted)
        return _encode_result(result.root)


def _describe_failure(exc: BaseException, request: RpcRequest) -> ErrorData:
    if isinstance(exc, UnknownMethod):
        return make_error_data(exc, METHOD_NOT_FOUND)
    if isinstance(exc, McpError):
        return exc.error
    error = log_unexpected(exc, during=f"{request.method[:80]} over HTTP")
    return make_error_data(error, choose_error_code(error))


def _encode_result(result: BaseModel) -> bytes:
    return result.model_dump_json(by_alias=True, exclude_none=True).encode()


def _is_plain_call(params: Mapping[str, Any]) -> bool:
    """Return True if these parameters of tools/call are certainly valid, without validation by the SDK."""
    if type(params.get("name")) is not str or "task" in params:
        return False
    for part in (params.get("_meta"), params.get("arguments")):
        if part is None:
            continue
        # Floats may be infinite, and nested values may contain them.
        if type(part) is not dict or not _PLAIN.issuperset(map(type, cast("JsonObject", part).values())):
            return False
    return True


_JSON: Final[tuple[bytes, bytes]] = (b"content-type", b"application/json")


class StatelessEndpoint:
    """An ASGI app that passes requests that satisfy the rules to `dispatcher`."""

    def __init__(self, dispatcher: Dispatcher, rules: Rules, body_limit: int) -> None:
        self._dispatcher = dispatcher
        self._rules = rules
        self._body_limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [_JSON]
        try:
            answer = await self._answer(scope, receive)
        except Exception as exc:
            error = log_unexpected(exc, during="an MCP request over HTTP")
            if isinstance(error, MethodNotAllowed):
                headers.append((b"allow", ", ".join(error.ids["allowed"]).encode()))
            answer = RpcAnswer(error.status, encode_json(make_error_body(error)))
        if answer is not None:
            status, body = answer
            headers = [*(headers if body else ()), (b"content-length", b"%d" % len(body))]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> RpcAnswer | None:
        """Return the reply, or None if the client has left. Raise the error of a refused request."""
        headers = read_headers(scope)
        self._rules.check(scope["method"], headers)
        check_content(headers, self._body_limit)
        body = await self._read_body(receive)
        if body is None:
            return None
        # The protocol requires this default, which is the version with batches.
        version = headers.get(b"mcp-protocol-version", BATCHING_VERSION.encode()).decode("latin-1")
        return await self._dispatcher.answer(body, version, headers)

    async def _read_body(self, receive: Receive) -> bytes | None:
        """Return the body, or None if the client left before it was complete."""
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
