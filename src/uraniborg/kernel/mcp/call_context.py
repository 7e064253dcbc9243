"""The client of a call: its actor, reports of progress, cancellation, and requests of the server to the client."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.server.lowlevel.server import request_ctx
from mcp.server.session import ServerSession
from mcp.types import INVALID_REQUEST, ErrorData, JSONRPCError, JSONRPCResponse
from pydantic import ValidationError

from uraniborg.kernel.actors import ACTOR, Actor
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger

_MOST_CHARS = 100


def get_client_name() -> str | None:
    """Return the name and version that the client gave when it connected; None if it gave none.

    The client chose the name, which is not verified. Characters that cannot be printed are removed.
    """
    request = request_ctx.get(None)
    params = request.session.client_params if request is not None else None
    if params is None:
        return None
    given = f"{params.clientInfo.name[:_MOST_CHARS]} {params.clientInfo.version[:_MOST_CHARS]}"
    return "".join(char for char in given if char.isprintable()).strip() or None


def get_actor() -> Actor:
    """Return the agent that made this call: the name of its client, and whether it sent a credential."""
    request = request_ctx.get(None)
    http = request.request if request is not None else None
    known: Actor | None = http.scope.get(ACTOR) if http is not None else None
    name = get_client_name() or (known.name if known else "")
    if known is None:
        return Actor(kind="agent", name=name, authenticated="account" if http is None else "none")
    return Actor(kind="agent", name=name, authenticated=known.authenticated)


def get_dialog_actor() -> Actor:
    """Return the person who answers a dialog of this call's client, under the name of the client."""
    return Actor(kind="person", name=get_client_name() or "", authenticated="dialog")


@dataclass
class _ProgressListener:
    session: ServerSession
    token: str | int
    request_id: str
    is_active: bool = True


_listener: ContextVar[_ProgressListener | None] = ContextVar("progress listener", default=None)


async def report_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Report the progress of this call if the client asked for it; do nothing otherwise, and after the reply.

    `progress` must grow from report to report. Do not raise if the client has left.
    """
    listener = _listener.get()
    if listener is None or not listener.is_active:
        return
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        await listener.session.send_progress_notification(
            listener.token,
            progress,
            total,
            message,
            related_request_id=listener.request_id,
        )


@contextmanager
def enable_progress() -> Generator[None]:
    """Make `report_progress` reach the client of this request within the block.

    Tasks started inside inherit the listener and may outlive the call. Reports after the reply violate the protocol,
    so the listener is switched off.
    """
    listener = _find_listener()
    reset = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(reset)
        if listener is not None:
            listener.is_active = False


def _find_listener() -> _ProgressListener | None:
    request = request_ctx.get(None)
    if request is None or request.meta is None or request.meta.progressToken is None:
        return None
    return _ProgressListener(request.session, request.meta.progressToken, str(request.request_id))


_responder: ContextVar[Any] = ContextVar("responder", default=None)


def is_cancelled() -> bool:
    """Return True if the client asked to cancel this call. A call whose client has left was not cancelled."""
    scope = getattr(_responder.get(), "_cancel_scope", None)
    return scope is not None and bool(scope.cancel_called)


@contextmanager
def enable_cancellation() -> Generator[None]:
    """Make `is_cancelled` work for this request within the block."""
    request = request_ctx.get(None)
    in_flight: dict[Any, Any] = getattr(request.session, "_in_flight", {}) if request is not None else {}
    reset = _responder.set(in_flight.get(request.request_id) if request is not None else None)
    try:
        yield
    finally:
        _responder.reset(reset)


Response = JSONRPCResponse | JSONRPCError

_log = get_logger(__name__)


class ClientRequests:
    """The requests to one client that have no response yet, each with an id of its own."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Future[Response | None]] = {}
        self._count = 0
        self._is_closed = False

    def open(self) -> tuple[int, asyncio.Future[Response | None]]:
        """Return the id of a new request, and its future response: None if no response can follow."""
        self._count += 1
        response: asyncio.Future[Response | None] = asyncio.get_running_loop().create_future()
        self._open[str(self._count)] = response
        response.add_done_callback(lambda _, key=str(self._count): self._open.pop(key, None))
        if self._is_closed:
            response.set_result(None)
        return self._count, response

    def receive(self, response: Response) -> None:
        """Pass the response to its request. Ignore a response to a request that is not open."""
        request = self._open.get(str(response.id))
        if request is None or request.done():
            _log.debug("a response to a request that is not open was ignored", id=str(response.id)[:80])
        else:
            request.set_result(response)

    def close(self) -> None:
        """End the requests: the client can send no more responses."""
        self._is_closed = True
        for request in list(self._open.values()):
            if not request.done():
                request.set_result(None)


def parse_response(message: JsonObject) -> Response | None:
    """Return the response in `message`; an error in place of a malformed one, and None if that has no valid id."""
    try:
        return (JSONRPCError if "error" in message else JSONRPCResponse).model_validate(message)
    except ValidationError:
        given: Any = message.get("id")
        _log.warning("a response of the client is malformed", id=str(given)[:80])
        if not isinstance(given, str | int):
            return None
        error = ErrorData(code=INVALID_REQUEST, message="The response is malformed.")
        return JSONRPCError(jsonrpc="2.0", id=given, error=error)
