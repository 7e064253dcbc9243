"""Serving over HTTP: ASGI apps that can be served as they are or joined with other routes."""

import json
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import anyio
from mcp.server.streamable_http_manager import RequestBodyLimitMiddleware, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Lifespan, Message, Receive, Scope, Send

from uraniborg.kernel.mcp.dispatch import Dispatcher
from uraniborg.kernel.mcp.guard import Guard
from uraniborg.kernel.mcp.rules import Rules
from uraniborg.kernel.mcp.server import Server
from uraniborg.kernel.mcp.stateless import StatelessEndpoint

BODY_LIMIT: Final = 4 * 1024 * 1024
_SESSION: Final = "mcp-session-id"


def stateless_app(
    server: Server,
    *,
    origins: Collection[str] = (),
    hosts: Collection[str] | None = None,
    path: str = "/mcp",
    body_limit: int = BODY_LIMIT,
    routes: Sequence[BaseRoute] = (),
    lifespan: Lifespan[Starlette] | None = None,
) -> Starlette:
    """`server` at `path`, one JSON answer to each POST and no memory between them, beside `routes`.

    A request with an Origin that is not exactly one of `origins` is refused (403), as is, if `hosts` are given, another
    Host (421), another method (405) and an unknown protocol version (400), all before its body is read. LOOPBACK stands
    for any origin or host on this machine. Progress that tools report is dropped: the one answer has no room for it.
    `lifespan` surrounds the serving. To join it to an app made elsewhere, add this app's `routes` to that one and, if
    there is a lifespan, enter `app.router.lifespan_context(app)` in that one's.
    """
    endpoint = StatelessEndpoint(Dispatcher(server), _rules(("POST",), origins, hosts), body_limit)
    return Starlette(routes=[*_routes(path, endpoint), *routes], lifespan=lifespan)


def stateful_app(
    server: Server,
    *,
    origins: Collection[str] = (),
    hosts: Collection[str] | None = None,
    path: str = "/mcp",
    body_limit: int = BODY_LIMIT,
    idle_seconds: float = 30 * 60,
    max_sessions: int = 1_000,
    json_answers: bool = False,
    routes: Sequence[BaseRoute] = (),
    lifespan: Lifespan[Starlette] | None = None,
) -> Starlette:
    """`server` at `path` with sessions: POST for messages, GET for the session's event stream, DELETE to end it.

    Every initialize starts a session, whatever session the request names. A session unused for `idle_seconds` ends;
    beyond `max_sessions` no new one starts (503). Answers are event streams, which can carry progress, unless
    `json_answers`. All else is as in `stateless_app`, but that the lifespan of this app must always be entered.
    """

    def manager() -> StreamableHTTPSessionManager:
        return StreamableHTTPSessionManager(
            server.protocol,
            json_response=json_answers,
            session_idle_timeout=idle_seconds,
            max_sessions=max_sessions,
            max_request_body_size=body_limit,
        )

    logging.getLogger("mcp.server.streamable_http").addFilter(_is_failure)
    endpoint = _Endpoint(manager)
    fresh = RequestBodyLimitMiddleware(_FreshInitialize(endpoint), body_limit)
    guarded = Guard(fresh, _rules(("POST", "GET", "DELETE"), origins, hosts))

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncGenerator[Any]:
        if lifespan is None:
            async with endpoint.running():
                yield
        else:
            async with lifespan(app) as state, endpoint.running():
                yield state

    return Starlette(routes=[*_routes(path, guarded), *routes], lifespan=running)


def _rules(methods: tuple[str, ...], origins: Collection[str], hosts: Collection[str] | None) -> Rules:
    return Rules(methods, frozenset(origins), None if hosts is None else frozenset(hosts))


def _routes(path: str, endpoint: ASGIApp) -> list[BaseRoute]:
    """Both spellings, so that neither is redirected to the other."""
    return [Route(path, endpoint), Route(f"{path}/", endpoint)]


class _Endpoint:
    """The SDK's session manager, a new one for each time the app is started: one of them runs only once."""

    def __init__(self, make_manager: Callable[[], StreamableHTTPSessionManager]) -> None:
        self._make_manager = make_manager
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        self._manager = self._make_manager()
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._manager is None:
            raise RuntimeError("The lifespan of the MCP app was not entered.")
        await self._manager.handle_request(scope, receive, send)


class _FreshInitialize:
    """Takes the session header off initialize requests, so that a client whose session is gone can start anew."""

    def __init__(self, endpoint: _Endpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = MutableHeaders(scope=scope)
        if scope["method"] != "POST" or _SESSION not in headers:
            await self._endpoint(scope, receive, send)
            return
        # The body limit in front gathers the body into one message.
        first: Message | None = await receive()
        if _is_initialize(first.get("body", b"")):
            del headers[_SESSION]

        async def replay() -> Message:
            nonlocal first
            message, first = first, None
            return message or await receive()

        await self._endpoint(scope, replay, send)


def _is_initialize(body: bytes) -> bool:
    if b'"initialize"' not in body:
        return False
    try:
        message: Any = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and cast("dict[str, Any]", message).get("method") == "initialize"


def _is_failure(record: logging.LogRecord) -> bool:
    """Not when a session ends while its stream is open, which the SDK reports as an error with a traceback."""
    return not (record.exc_info and isinstance(record.exc_info[1], anyio.ClosedResourceError))
