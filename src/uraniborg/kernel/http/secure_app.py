"""Wrap the app of every HTTP server in the same checks, error bodies and headers; routes that read and send JSON."""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import ConfigDict, with_config
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.kernel.boundary import parse_json
from uraniborg.kernel.errors import ErrorFacts, InvalidInput, NotFound, UraniborgError, as_error
from uraniborg.kernel.http.config import LOOPBACK, HttpConfig, list_host_names
from uraniborg.kernel.http.header_checks import (
    REQUEST_ID_HEADER,
    Admission,
    Gate,
    Headers,
    MethodNotAllowed,
    RequestIds,
    identify_request,
    make_error_response,
    read_headers,
)
from uraniborg.kernel.ids import REQUEST_ID, identify_error
from uraniborg.kernel.json_values import encode_json
from uraniborg.kernel.logging import get_logger

if TYPE_CHECKING:
    from fastapi import FastAPI


_log = get_logger(__name__)
_LOOPBACK_ORIGIN: Final = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?"
_CORS_HEADERS: Final = (
    "Accept",
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Session-Id",
    "MCP-Protocol-Version",
    REQUEST_ID_HEADER,
)
_CORS_METHODS: Final = ("GET", "POST", "PUT", "DELETE")
_CORS_EXPOSED: Final = ("ETag", "Location", "Mcp-Session-Id", REQUEST_ID_HEADER)
_VARY_BY_ORIGIN: Final = (b"vary", b"Origin")
_MCP_PATHS: Final = ("/mcp", "/mcp/")

WANTS_NO_BODY: Final = "uraniborg.wants_no_body"
"""The key in the scope of a HEAD request: an endless response ends at once."""


class NoSuchAddress(NotFound):
    code = "no_such_address"


with_config(ConfigDict(extra="allow"))(ErrorFacts)  # documents list its fields, and allow ids beside them


def list_origins(config: HttpConfig) -> list[str]:
    """Return the web origins that may call the server: those of this machine and those of the settings."""
    return [LOOPBACK, *config.allow_origins]


def secure_app(
    app: Starlette, config: HttpConfig, *, is_page: Callable[[str], bool], open_paths: Collection[str]
) -> ASGIApp:
    """Return `app` behind every check that a server makes before it answers a request; see `Gate` and `Admission`.

    Errors of the app get the common error body. Browsers of the allowed origins may call the app and read its answers.
    `open_paths` need no token. Other sites may link to paths that `is_page` accepts.
    """
    add_error_handlers(app)
    origins = list_origins(config)
    admission = Admission(app, token=config.get_plain_token(), open_paths=open_paths)
    hosts = list_host_names(config.host, config.allow_hosts)
    shared = _add_cors(HeadAsGet(admission, except_at=_MCP_PATHS), origins)
    gate = Gate(shared, hosts=hosts, origins=origins, is_page=is_page)
    return _PlainRequests(app, checks=(gate.check, admission.check), otherwise=RequestIds(gate))


class _PlainRequests:
    """Passes a request of a program at once if it satisfies `checks`, in one step instead of one for each middleware.

    Requests of pages, HEAD requests and requests to refuse go to `otherwise`, the middleware with the same checks.
    """

    def __init__(self, app: ASGIApp, *, checks: Sequence[Callable[[Scope, Headers], None]], otherwise: ASGIApp) -> None:
        self._app = app
        self._checks = checks
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._is_plain(scope):
            await self._otherwise(scope, receive, send)
            return
        added = (_VARY_BY_ORIGIN, identify_request(scope))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"] = [*message.get("headers", ()), *added]
                for name, _ in headers[: -len(added)]:
                    if name.lower() == b"vary":
                        message["headers"] = _merge_vary(headers)
                        break
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _is_plain(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] == "HEAD" or REQUEST_ID in scope:
            return False
        headers = read_headers(scope)
        if b"origin" in headers:
            return False
        try:
            for check in self._checks:
                check(scope, headers)
        except UraniborgError:
            return False
        return True


def add_error_handlers(app: Starlette) -> None:
    """Make `app` answer every exception, of handlers and of routing, with the common error body."""

    def answer_exception(request: Request, exc: Exception) -> Response:
        if isinstance(exc, HTTPException):
            return _answer_routing_error(exc, request)
        error = as_error(exc)
        if error.status >= 500 and not isinstance(exc, UraniborgError):
            _log.exception("unexpected error", exc=exc, during=f"{request.method} {request.url.path[:200]}")
        return make_error_response(error)

    for kind in (UraniborgError, HTTPException, Exception):
        app.add_exception_handler(kind, answer_exception)


def add_validation_handler(app: "FastAPI", error_class: type[InvalidInput], *, hint: str) -> None:
    """Make `app` answer invalid parameters with an `error_class` that names the first of them."""
    from fastapi.exceptions import RequestValidationError

    async def answer_validation_error(_request: Request, exc: Exception) -> Response:
        assert isinstance(exc, RequestValidationError)
        first = exc.errors()[0]
        argument = str(first["loc"][-1])
        problem = first["msg"].removeprefix("Input ").removeprefix("String ").removeprefix("Value error, ")
        return make_error_response(error_class(f"{argument} {problem}.", hint=hint, argument=argument, allowed=problem))

    app.add_exception_handler(RequestValidationError, answer_validation_error)


def _answer_routing_error(exc: HTTPException, request: Request) -> Response:
    if exc.status_code == 404:
        error = NoSuchAddress(
            "There is nothing at this address.",
            hint="See openapi.json for the addresses. Send a value that contains a slash as a query parameter.",
        )
        return make_error_response(error)
    if exc.status_code == 405:
        allowed = ", ".join(sorted(_list_methods(request)) or ["GET"])
        error = MethodNotAllowed("This method is not allowed here.", hint=f"Use {allowed}.")
        return JSONResponse(identify_error(error.body()), status_code=405, headers={"Allow": allowed})
    body = {"error": {"code": "http_error", "message": str(exc.detail), "hint": ""}}
    return JSONResponse(identify_error(body), status_code=exc.status_code)


def _list_methods(request: Request) -> set[str]:
    found: set[str] = set()
    for route in request.app.router.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return found


def make_page_headers(*, allow_forms: bool = False) -> dict[str, str]:
    """Return the headers of a page without scripts that loads nothing and cannot be framed."""
    forms = "form-action 'self'; " if allow_forms else ""
    return {
        "Content-Security-Policy": f"default-src 'none'; style-src 'unsafe-inline'; {forms}"
        "base-uri 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
    }


FRAGMENT_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
}
"""The headers of HTML that other pages may embed."""


class HeadAsGet:
    """Answers HEAD as GET without the body, for routes that only have GET; `except_at` are paths to leave alone."""

    def __init__(self, app: ASGIApp, *, except_at: Collection[str] = ()) -> None:
        self._app = app
        self._except_at = frozenset(except_at)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"] in self._except_at:
            await self._app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET", WANTS_NO_BODY: True}, receive, send_without_body)


class StoppableApp:
    """An app with endless responses: the server calls `stop` when it begins to shut down.

    ASGI informs an app of the shutdown only after all responses have ended.
    """

    def __init__(self, app: ASGIApp, stop: Callable[[], None]) -> None:
        self._app = app
        self.stop = stop

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _merge_vary(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    varied = [value for name, value in headers if name.lower() == b"vary"]
    others = [(name, value) for name, value in headers if name.lower() != b"vary"]
    return [*others, (b"vary", b", ".join(varied))]


def _add_cors(app: ASGIApp, origins: Collection[str]) -> ASGIApp:
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


class JsonReply(JSONResponse):
    """A reply as JSON; values that JSON does not have, such as NaN, are null."""

    def render(self, content: Any) -> bytes:
        return encode_json(content)


class JsonRequest(Request):
    """A request whose body is read as JSON from outside."""

    async def json(self) -> Any:
        return parse_json(await self.body())


class ReplyRoute(APIRoute):
    """A route that documents the annotated reply. The reply is not validated: the service that made it declares it."""

    def __init__(self, path: str, endpoint: Callable[..., Awaitable[Any]], **options: Any) -> None:
        @wraps(endpoint)
        async def reply(*args: Any, **kwargs: Any) -> Response:
            value = await endpoint(*args, **kwargs)
            if self.status_code == 204:  # which has no body
                return Response(status_code=204)
            return value if isinstance(value, Response) else JsonReply(value, self.status_code or 200)

        super().__init__(path, reply, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of requests."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle

        async def handle_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json


def add_routes(app: FastAPI, *routers: APIRouter) -> None:
    """Add the routes of modules to an app, which then shares them with every other app.

    `FastAPI.include_router` would build each route a second time: that takes longer than the rest of a start.
    """
    for router in routers:
        app.router.routes.extend(router.routes)
