"""Telling the caller how far a running call has come."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

import anyio
from mcp.server.lowlevel.server import request_ctx
from mcp.server.session import ServerSession

from uraniborg.kernel.text import whole_text


@dataclass
class _Listener:
    session: ServerSession
    token: str | int
    request_id: str
    listening: bool = True


_listener: ContextVar[_Listener | None] = ContextVar("progress listener", default=None)


async def report_progress(progress: float, total: float | None = None, message: str | None = None) -> None:
    """Tell the client how far this call is, if it asked to be told; otherwise, and once it has its answer, nothing.

    `progress` must grow from report to report. Never raises because the client is gone.
    """
    listener = _listener.get()
    if listener is None or not listener.listening:
        return
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        await listener.session.send_progress_notification(
            listener.token,
            progress,
            total,
            whole_text(message) if message is not None else None,
            related_request_id=listener.request_id,
        )


@contextmanager
def progress_of_this_call() -> Generator[None]:
    """Lets `report_progress` reach the caller of the request being handled, until the block ends.

    Tasks started inside inherit the listener and may outlive the call; reports after the answer are against the
    protocol, so the listener is switched off and not only forgotten.
    """
    listener = _current_listener()
    reset = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(reset)
        if listener is not None:
            listener.listening = False


def _current_listener() -> _Listener | None:
    request = request_ctx.get(None)
    if request is None or request.meta is None or request.meta.progressToken is None:
        return None
    return _Listener(request.session, request.meta.progressToken, str(request.request_id))
