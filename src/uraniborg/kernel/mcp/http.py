"""Serving over HTTP: ASGI apps that can be served as they are or joined with other routes."""

import logging
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

import anyio
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Lifespan

from uraniborg.kernel.http_access import RequestIds
from uraniborg.kernel.mcp.request_checks import Guard, Rules
from uraniborg.kernel.mcp.server import Server
from uraniborg.kernel.mcp.session_manager import Sessions
from uraniborg.kernel.mcp.stateless_http import Dispatcher, StatelessEndpoint

BODY_LIMIT: Final = 4 * 1024 * 1024


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
    heartbeat_s: float = 15.0,
    routes: Sequence[BaseRoute] = (),
    lifespan: Lifespan[Starlette] | None = None,
) -> Starlette:
    """`server` at `path` with sessions: POST for messages, GET for the session's event stream, DELETE to end it.

    Every initialize starts a session, whatever session the request names. A session unused for `idle_seconds` ends.
    Beyond `max_sessions` a new one takes the place of the one unused for longest; where each has a call under way or
    its event stream open, none starts (503). Answers are event streams, which can carry progress, unless
    `json_answers`; a stream that is quiet for `heartbeat_s` seconds carries a comment. All else is as in
    `stateless_app`, but that the lifespan of this app must always be entered.
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
    guarded = Guard(limited, _rules(("POST", "GET", "DELETE"), origins, hosts))

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncGenerator[Any]:
        if lifespan is None:
            async with sessions.running():
                yield
        else:
            async with lifespan(app) as state, sessions.running():
                yield state

    return Starlette(routes=[*_routes(path, guarded), *routes], lifespan=running)


def _rules(methods: tuple[str, ...], origins: Collection[str], hosts: Collection[str] | None) -> Rules:
    return Rules(methods, frozenset(origins), None if hosts is None else frozenset(hosts))


def _routes(path: str, endpoint: ASGIApp) -> list[BaseRoute]:
    """Both spellings, so that neither is redirected to the other."""
    identified = RequestIds(endpoint)
    return [Route(path, identified), Route(f"{path}/", identified)]


def _is_failure(record: logging.LogRecord) -> bool:
    """Not when a session ends while it is in use, which the SDK reports as an error with a traceback."""
    exc = record.exc_info[1] if record.exc_info else None
    if isinstance(exc, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", exc).split(anyio.ClosedResourceError)[1] is not None
    return not isinstance(exc, anyio.ClosedResourceError)
