"""Assemble the app of the console: all routes of the API and the pages, behind their checks."""

from typing import Final

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.console import universe_mount
from uraniborg.console.api import make_api
from uraniborg.console.request_checks import BodyLimit, RequestRates, SignInCheck, is_api_path
from uraniborg.console.routes import every_page, inbox, installation, runs, shelves, story, workflows
from uraniborg.console.services import ConsoleServices
from uraniborg.console.web_files import WebFiles, is_page
from uraniborg.console.workers.search_process import ForwardToWorker
from uraniborg.kernel.http.config import format_authority, list_host_names
from uraniborg.kernel.http.header_checks import Admission, Gate, RequestIds
from uraniborg.kernel.http.secure_app import HeadAsGet, StoppableApp

BODY_LIMIT: Final = 2_000_000
HOST: Final = "127.0.0.1"
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


def make_app(services: ConsoleServices, port: int) -> StoppableApp:
    """Return the API with all routes and the pages of the console, behind their checks."""
    api = make_api(
        services,
        inbox.router,
        installation.router,
        every_page.running_router,
        shelves.router,
        universe_mount.router,
        workflows.router,
        runs.router,
        runs.schedule_router,
        story.router,
        every_page.sign_in_router,
        every_page.event_router,
    )
    return secure_api(api, services, WebFiles(), port=port)


def secure_api(
    api: FastAPI, services: ConsoleServices, pages: ASGIApp, *, port: int, body_limit: int = BODY_LIMIT
) -> StoppableApp:
    """Return the API and the pages behind their checks. Only pages of this very address may call the API."""
    answered = _AddHeaders(_ApiOrPages(ForwardToWorker(api, services.searches), pages))
    checked = SignInCheck(
        RequestRates(Admission(BodyLimit(answered, body_limit, except_below=universe_mount.ROOTS), token=None)),
        services.sign_ins,
        owner=services.owner,
        open_paths=every_page.OPEN_PATHS,
    )
    origins = [f"http://{name}:{port}" for name in {format_authority(HOST), "localhost", "127.0.0.1"}]
    gate = Gate(HeadAsGet(checked), hosts=list_host_names(HOST, ()), origins=origins, is_page=is_page)
    return StoppableApp(RequestIds(gate), services.broadcast.close)


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
