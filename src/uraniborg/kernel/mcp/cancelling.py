"""Whether it is the client that took a call back, or the connection that ended."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mcp.server.lowlevel.server import request_ctx

_responder: ContextVar[Any] = ContextVar("responder", default=None)


def is_taken_back() -> bool:
    """Whether the client asked for this call to be cancelled. One whose client is gone was not taken back."""
    scope = getattr(_responder.get(), "_cancel_scope", None)
    return scope is not None and bool(scope.cancel_called)


@contextmanager
def cancellation_of_this_call() -> Generator[None]:
    """Lets `is_taken_back` answer for the request being handled, until the block ends."""
    request = request_ctx.get(None)
    under_way: dict[Any, Any] = getattr(request.session, "_in_flight", {}) if request is not None else {}
    reset = _responder.set(under_way.get(request.request_id) if request is not None else None)
    try:
        yield
    finally:
        _responder.reset(reset)
