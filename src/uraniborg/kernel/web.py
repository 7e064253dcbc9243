"""What every HTTP surface shares: the one error body, the checks before every app, and how a server is run."""

import os
import socket
import sys
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ConfigDict
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.kernel.errors import InvalidInput, NotFound, Refused, Unavailable, UraniborgError, as_error
from uraniborg.kernel.gate import REQUEST_ID_HEADER, Admission, Gate, RequestIds, error_response
from uraniborg.kernel.hosts import LOOPBACK, authority_of, is_loopback
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.request_ids import identify_error

if TYPE_CHECKING:
    from uraniborg.kernel.connections import Limits

_log = get_logger(__name__)
_DRAIN_S: Final = 5
_BACKLOG: Final = 2_048
_LOOPBACK_ORIGIN: Final = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?"
_CORS_HEADERS: Final = (
    "Accept",
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "Mcp-Session-Id",
    "MCP-Protocol-Version",
    REQUEST_ID_HEADER,
)
_CORS_METHODS: Final = ("GET", "POST", "PUT", "DELETE")
_CORS_EXPOSED: Final = ("ETag", "Location", "Mcp-Session-Id", REQUEST_ID_HEADER)


class NoSuchAddress(NotFound):
    code = "no_such_address"


class NotAllowedHere(InvalidInput):
    code = "method_not_allowed"
    status = 405


class InsecureBind(Refused):
    code = "insecure_bind"


class PortTaken(Unavailable):
    code = "port_taken"


class ErrorFacts(BaseModel):
    model_config = ConfigDict(extra="allow")

    code: str
    message: str
    hint: str


class ErrorBody(BaseModel):
    """What every failure looks like; further keys of `error` name what it is about."""

    error: ErrorFacts


def answer_errors(app: Starlette) -> None:
    """Have `app` answer everything that is raised, by handlers or by routing, in the one shape."""

    def answer(request: Request, exc: Exception) -> Response:
        if isinstance(exc, HTTPException):
            return _routing_error(exc, request)
        error = as_error(exc)
        if error.status >= 500 and not isinstance(exc, UraniborgError):
            _log.exception("unexpected error", exc=exc, during=f"{request.method} {request.url.path[:200]}")
        return error_response(error)

    for kind in (UraniborgError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)


def _routing_error(exc: HTTPException, request: Request) -> Response:
    if exc.status_code == 404:
        error = NoSuchAddress(
            "There is nothing at this address.",
            hint="The document openapi.json lists the addresses; what holds a slash goes into a query.",
        )
        return error_response(error)
    if exc.status_code == 405:
        allowed = ", ".join(sorted(_methods_at(request)) or ["GET"])
        error = NotAllowedHere("This method is not possible here.", hint=f"Use {allowed}.")
        return JSONResponse(identify_error(error.body()), status_code=405, headers={"Allow": allowed})
    body = {"error": {"code": "http_error", "message": str(exc.detail), "hint": ""}}
    return JSONResponse(identify_error(body), status_code=exc.status_code)


def _methods_at(request: Request) -> set[str]:
    """What is possible at the address of a request, whichever of the routes there it is."""
    found: set[str] = set()
    for route in request.app.router.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return found


WANTS_NO_BODY: Final = "uraniborg.wants_no_body"
"""In the scope of a request whose body nobody will see: what has no end ends at once."""


class AnswersHead:
    """Answers HEAD as GET without the body, where routes only know GET."""

    def __init__(self, app: ASGIApp, *, except_at: Collection[str] = ()) -> None:
        self._app = app
        self._except_at = frozenset(except_at)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"] in self._except_at:
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET", WANTS_NO_BODY: True}, receive, without_body)


class EndsWithServer:
    """An app with answers that have no end of their own: `end` is called when the server is told to stop.

    ASGI tells an app of it only once all answers are finished.
    """

    def __init__(self, app: ASGIApp, end: Callable[[], None]) -> None:
        self._app = app
        self.end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def protect(
    app: ASGIApp,
    *,
    token: str | None,
    hosts: Collection[str] | None,
    origins: Collection[str],
    is_page: Callable[[str], bool],
    open_paths: Collection[str],
    own_head: Collection[str],
) -> ASGIApp:
    """Return `app` behind every check a server makes before a request is answered; see `Gate` and `Admission`.

    Browsers of `origins` may call it and read its answers. `open_paths` need no token; HEAD is answered as GET except
    at `own_head`.
    """
    admitted = AnswersHead(Admission(app, token=token, open_paths=open_paths), except_at=own_head)
    return RequestIds(Gate(_with_cors(admitted, origins), hosts=hosts, origins=origins, is_page=is_page))


def _with_cors(app: ASGIApp, origins: Collection[str]) -> ASGIApp:
    """Return `app` with answers that browsers of these origins may read; LOOPBACK is any origin of this machine."""
    from starlette.middleware.cors import CORSMiddleware

    return CORSMiddleware(
        app,
        allow_origins=[origin for origin in origins if origin != LOOPBACK],
        allow_origin_regex=_LOOPBACK_ORIGIN if LOOPBACK in origins else None,
        allow_methods=_CORS_METHODS,
        allow_headers=_CORS_HEADERS,
        expose_headers=_CORS_EXPOSED,
    )


def take_port(host: str, port: int) -> int:
    """The port, or a free one for 0. Raises PortTaken, which an ASGI server would only log."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return probe.getsockname()[1]
    except OSError as exc:
        raise PortTaken(
            f"Nothing can listen at {host} port {port}: {exc.strerror or exc}.",
            hint="Choose another with --port, or 0 for any free one.",
            port=port,
        ) from None


def check_bind(host: str, token: str | None, *, insecure: bool) -> None:
    """Raises InsecureBind for an address that others can reach, unless there is a token or it is asked for."""
    if is_loopback(authority_of(host)) or token or insecure:
        return
    raise InsecureBind(
        f"Others can reach {host}, and there is no token to keep them out.",
        hint="Set a token (--token, or the environment), or say --insecure if everyone may do whatever it offers.",
        host=host,
    )


def run_server(
    app: ASGIApp | str,
    *,
    host: str,
    port: int,
    workers: int = 1,
    factory: bool = False,
    limits: "Limits | None" = None,
) -> None:
    """Serve until interrupted. With several workers `app` is the import path of a factory."""
    import uvicorn

    from uraniborg.kernel.connections import Limits, make_protocol, raise_file_limit
    from uraniborg.kernel.running import EndingServer, settle

    limits = limits or Limits()
    # There is a setting for the number of connections, but idle ones count too, and new ones are refused for them.
    settings: dict[str, Any] = {
        "host": host,
        "port": port,
        "factory": factory,
        "http": make_protocol(limits),
        "log_config": None,
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "ws": "none",
        "backlog": _BACKLOG,
        "timeout_keep_alive": limits.idle_s,
        "timeout_graceful_shutdown": _DRAIN_S,
    }
    raise_file_limit()
    if workers > 1:
        uvicorn.run(app, workers=workers, **settings)
        return
    settle()
    with suppress(KeyboardInterrupt), _listening(host, port) as listener:
        EndingServer(uvicorn.Config(app, **settings)).run(sockets=[listener])


@contextmanager
def _listening(host: str, port: int) -> Generator[socket.socket]:
    """Listen at this address. The protocol is named so that the loop sends small answers at once."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
        yield listener


def say(line: str) -> None:
    """Tell whoever started the server; stdout is not for this."""
    sys.stderr.write(line + os.linesep)
    sys.stderr.flush()
