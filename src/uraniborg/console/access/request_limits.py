"""Limit how many and how large requests a client sends, so that a broken program cannot occupy the server.

Requests without a sign-in have no limit in common: one caller would use up the limit of all others.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.console.access.sign_in_check import CLIENT
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.http_access import BodyTooLarge, make_error_response

_PER_SECOND: Final = 200.0
_BURST: Final = 2_000.0
_MAX_CLIENTS: Final = 1_000


class TooManyRequests(Unavailable):
    code = "too_many_requests"
    status = 429


class RequestRates:
    """Middleware that answers 429 to a client that sends more than `per_second` requests after a burst."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        per_second: float = _PER_SECOND,
        burst: float = _BURST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """The requests that each client may still send, and when that was so."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if CLIENT in scope and not self._admit(scope[CLIENT]):
            error = TooManyRequests(
                "This client sends too many requests.", hint=f"Send at most {self._per_second:.0f} each second."
            )
            response = make_error_response(error)
            response.headers["Retry-After"] = "1"
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _admit(self, client: str) -> bool:
        """Count a request of the client; return False if it may not be answered."""
        now = self._clock()
        left, at = self._clients.pop(client, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_second)
        is_admitted = left >= 1
        self._clients[client] = (left - is_admitted, now)
        while len(self._clients) > _MAX_CLIENTS:
            self._clients.popitem(last=False)
        return is_admitted


class BodyLimit:
    """Middleware that reads the body of a request before the app does, and refuses one of more than `limit` bytes.

    Addresses below `except_below` have a limit of their own.
    """

    def __init__(self, app: ASGIApp, limit: int, *, except_below: tuple[str, ...]) -> None:
        self._app = app
        self._limit = limit
        self._except_below = except_below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] != "http"
            or scope["method"] in ("GET", "HEAD")
            or scope["path"].startswith(self._except_below)
        ):
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
