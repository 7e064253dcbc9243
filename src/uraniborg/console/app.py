"""The app of the console: sign-in, the API under `/api`, the event stream and the pages."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final

from fastapi import Body, Depends, FastAPI, Header, Request
from fastapi.routing import APIRoute
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.console.event_stream import EventBroadcast
from uraniborg.console.forwarding import ForwardToWorker
from uraniborg.console.replies import AnyChange, Health, PersonName, SignedIn, SignInState
from uraniborg.console.request_rates import RequestRates
from uraniborg.console.sign_in import MAX_NAME_CHARS, NewKey, SignInCheck, SignIns, get_actor, get_person, is_api_path
from uraniborg.console.universe_routes import ROOTS as UNIVERSES
from uraniborg.console.universe_routes import describe_universe_routes
from uraniborg.console.web_files import is_page
from uraniborg.console.worker_process import SearchWorkerProcess
from uraniborg.kernel.clock import format_iso
from uraniborg.kernel.errors import ErrorBody, InvalidInput
from uraniborg.kernel.hosts import format_authority, list_host_names
from uraniborg.kernel.http_access import (
    Admission,
    BodyTooLarge,
    Gate,
    RequestIds,
    make_error_response,
    read_bearer_token,
)
from uraniborg.kernel.http_app import HeadAsGet, StoppableApp, add_error_handlers, add_validation_handler
from uraniborg.kernel.reply_route import ReplyRoute
from uraniborg.kernel.version import version

HEALTH: Final = "/api/health"
SIGN_IN: Final = "/api/sign-in"
_OPEN_PATHS: Final = {HEALTH, SIGN_IN}
_ERROR_STATUSES: Final = (400, 401, 403, 404, 409, 413, 415, 421, 422, 429, 503)
PAGE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types uraniborg",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}
"""The headers of every response; a file of the console has its own Cache-Control."""


def get_operation_id(route: APIRoute) -> str:
    """Return the id of an operation in the OpenAPI document: the name of its function."""
    return route.name


class ConsoleApi(FastAPI):
    """The API. Its OpenAPI document describes the data of each event of the stream."""

    def openapi(self) -> dict[str, Any]:
        is_new = self.openapi_schema is None
        document = super().openapi()
        if is_new and "/api/events" in document["paths"]:  # a worker has no stream
            stream = document["paths"]["/api/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]
            event = {name: value for name, value in stream["schema"].items() if name != "type"}
            stream["schema"] = {"type": "string", "contentMediaType": "application/json", "contentSchema": event}
            universes = describe_universe_routes()
            document["paths"] |= universes["paths"]
            document["components"]["schemas"] |= universes["schemas"]
        return document


def make_api() -> FastAPI:
    """Return an API without routes."""
    api = ConsoleApi(
        title="Uraniborg",
        version=version(),
        description="Everything that people and agents do with Uraniborg, for programs on this machine.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        generate_unique_id_function=get_operation_id,
        dependencies=[Depends(_refuse_unknown_parameters)],
        responses={status: {"model": ErrorBody} for status in _ERROR_STATUSES},
    )
    api.router.route_class = ReplyRoute
    add_error_handlers(api)
    add_validation_handler(api, InvalidInput, hint="See /api/openapi.json.")
    return api


def secure_api(
    api: FastAPI,
    sign_ins: SignIns,
    broadcast: EventBroadcast,
    worker: SearchWorkerProcess,
    pages: ASGIApp,
    *,
    host: str,
    port: int,
    owner: str,
    body_limit: int,
) -> StoppableApp:
    """Return the API and the pages behind their checks. Only pages of this very address may call the API."""
    _add_sign_in_routes(api, sign_ins)
    _add_event_route(api, broadcast)
    answered = _AddHeaders(_ApiOrPages(ForwardToWorker(api, worker), pages))
    checked = SignInCheck(
        RequestRates(Admission(_BodyLimit(answered, body_limit), token=None)),
        sign_ins,
        owner=owner,
        open_paths=_OPEN_PATHS,
    )
    origins = [f"http://{name}:{port}" for name in {format_authority(host), "localhost", "127.0.0.1"}]
    gate = Gate(HeadAsGet(checked), hosts=list_host_names(host, ()), origins=origins, is_page=is_page)
    return StoppableApp(RequestIds(gate), broadcast.close)


@asynccontextmanager
async def run_broadcast(broadcast: EventBroadcast) -> AsyncGenerator[None]:
    """Read the change feed until the block ends."""
    await broadcast.start()
    reading = asyncio.create_task(broadcast.run())
    try:
        yield
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _refuse_unknown_parameters(request: Request) -> None:
    """Raise InvalidInput for a query parameter that the route does not have."""
    route = request.scope["route"]
    known = {parameter.alias for parameter in route.dependant.query_params}
    for name in request.query_params:
        if name not in known:
            raise InvalidInput(
                f"'{name[:80]}' is not a parameter of this address.",
                hint=f"Its parameters are {', '.join(sorted(known))}." if known else "It has no parameters.",
                argument=name[:80],
                allowed=sorted(known),
            )


def _add_sign_in_routes(api: FastAPI, sign_ins: SignIns) -> None:
    @api.get(HEALTH, tags=["sign-in"], summary="Check that the server runs")
    async def get_health() -> Health:  # pyright: ignore[reportUnusedFunction]
        return {"status": "ok", "version": version()}

    @api.get(SIGN_IN, tags=["sign-in"], summary="Return the name of the person signed in")
    async def get_sign_in(request: Request) -> SignInState:  # pyright: ignore[reportUnusedFunction]
        """Return null as the name for a request without a valid key: unlike in `/api/me`, this is not an error."""
        found = await sign_ins.find_sign_in(_read_key(request))
        return {
            "name": found and found.name,
            "is_renewal_due": found is not None and sign_ins.is_renewal_due(found),
        }

    @api.post(SIGN_IN, tags=["sign-in"], summary="Exchange the token for a key")
    async def sign_in(  # pyright: ignore[reportUnusedFunction]
        token: Annotated[str, Body(max_length=200)], name: Annotated[str, Body(max_length=MAX_NAME_CHARS)]
    ) -> SignedIn:
        """Return a key, which a page sends as its bearer token. `name` is recorded with your decisions, as claimed."""
        return _describe_key(await asyncio.to_thread(sign_ins.sign_in, token, name))

    @api.post("/api/sign-in/renew", tags=["sign-in"], summary="Exchange a key for a new one")
    async def renew_key(request: Request) -> SignedIn:  # pyright: ignore[reportUnusedFunction]
        """Return a new key for the same person. The old one ends a minute later."""
        return _describe_key(await asyncio.to_thread(sign_ins.renew, _read_key(request)))

    @api.post("/api/sign-out", tags=["sign-in"], summary="Make the key invalid", status_code=204)
    async def sign_out(request: Request) -> Response:  # pyright: ignore[reportUnusedFunction]
        await asyncio.to_thread(sign_ins.sign_out, _read_key(request), get_actor(request))
        return Response(status_code=204)

    @api.post("/api/sign-out-everywhere", tags=["sign-in"], summary="Make all keys invalid", status_code=204)
    async def sign_out_everywhere(request: Request) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Sign out every browser. The token stays: `uraniborg serve --new-token` replaces it, too."""
        await asyncio.to_thread(sign_ins.sign_out_everywhere, get_actor(request))
        return Response(status_code=204)

    @api.get("/api/me", tags=["sign-in"], summary="Return your name")
    async def get_me(request: Request) -> PersonName:  # pyright: ignore[reportUnusedFunction]
        return {"name": get_person(request)}


def _read_key(request: Request) -> str:
    return read_bearer_token(dict(request.headers.raw))


def _describe_key(new: NewKey) -> SignedIn:
    return {"name": new.sign_in.name, "key": new.key, "valid_until": format_iso(new.sign_in.until)}


def _add_event_route(api: FastAPI, broadcast: EventBroadcast) -> None:
    @api.get(
        "/api/events",
        tags=["events"],
        summary="Stream every change",
        response_class=EventStreamResponse,
        responses={200: {"model": AnyChange}},
    )
    async def stream_events(  # pyright: ignore[reportUnusedFunction]
        last_event_id: Annotated[str | None, Header(max_length=50)] = None,
    ) -> EventStreamResponse:
        """Send each change of each process as a server-sent event, in order.

        The id of an event is its position. Send the last one as Last-Event-ID to resume without a gap. After an event
        `reset`, read everything again: changes before it were lost.
        """
        broadcast.check_room()
        return EventStreamResponse(broadcast.stream(last_event_id), headers={"X-Accel-Buffering": "no"})


class EventStreamResponse(StreamingResponse):
    """A stream of server-sent events."""

    media_type = "text/event-stream"


class _ApiOrPages:
    """Sends requests to addresses under `/api` to the API, and all others to the pages."""

    def __init__(self, api: ASGIApp, pages: ASGIApp) -> None:
        self._api = api
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_of_api = scope["type"] != "http" or is_api_path(scope["path"])
        await (self._api if is_of_api else self._pages)(scope, receive, send)


class _AddHeaders:
    """Middleware that adds PAGE_HEADERS to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = [(name.lower().encode(), value.encode()) for name, value in PAGE_HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                names = {name for name, _ in given}
                added = [(name, value) for name, value in self._headers if name not in names]
                message = {**message, "headers": [*given, *added]}
            await send(message)

        await self._app(scope, receive, send_with_headers)


class _BodyLimit:
    """Middleware that reads the body of a request before the app does, and refuses one of more than `limit` bytes.

    Universes have a limit of their own.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD") or scope["path"].startswith(UNIVERSES):
            await self._app(scope, receive, send)
            return
        parts: list[bytes] = []
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            parts.append(message.get("body", b""))
            more = message.get("more_body", False)
            if sum(map(len, parts)) > self._limit:
                await make_error_response(BodyTooLarge(self._limit))(scope, receive, send)
                return
        body: Message | None = {"type": "http.request", "body": b"".join(parts), "more_body": False}

        async def receive_body() -> Message:
            nonlocal body
            message, body = body, None
            return message or await receive()

        await self._app(scope, receive_body, send)
