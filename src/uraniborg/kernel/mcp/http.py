"""ASGI apps that serve MCP over HTTP, alone or beside other routes."""

import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import anyio
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Lifespan, Receive, Scope, Send

from uraniborg.kernel.http_access import RequestIds
from uraniborg.kernel.mcp.request_checks import Guard, Rules
from uraniborg.kernel.mcp.server import Server
from uraniborg.kernel.mcp.session_manager import Sessions
from uraniborg.kernel.mcp.stateless_http import Dispatcher, StatelessEndpoint
from uraniborg.kernel.request_ids import REQUEST_ID

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
