"""Check each request to the API: who has signed in, how many requests they send, and how large.

Event streams end soon after the key or token of their client is no longer valid. Requests without a sign-in have no
limit in common: one caller would use up the limit of all others.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uraniborg.console.sign_ins import SignIns, hash_key, make_sign_in_error
from uraniborg.kernel.actors import ACTOR
from uraniborg.kernel.errors import Refused, Unavailable, UraniborgError, as_error
from uraniborg.kernel.http.header_checks import BodyTooLarge, make_error_response, read_bearer_token
from uraniborg.kernel.logging import get_logger

CHANGE_HEADER: Final = b"x-uraniborg"
"""The header that every request which changes something must carry: pages of other sites cannot send it."""
CLIENT: Final = "uraniborg.client"
"""The key in the scope of a request of its client: the hash of its key or token."""
_SAFE_METHODS: Final = frozenset(("GET", "HEAD", "OPTIONS"))
CHECK_S: Final = 1.0
"""The time between two checks of a stream. Another server may have ended the key, so nothing wakes the stream."""

_log = get_logger(__name__)


class ChangeHeaderMissing(Refused):
    code = "change_header_missing"

    def __init__(self) -> None:
        super().__init__("Requests that change something need the header X-Uraniborg: 1.", hint="Send the header.")


def is_api_path(path: str) -> bool:
    """Return True for addresses of the API; all others are pages and their files."""
    return path == "/api" or path.startswith("/api/")


class SignInCheck:
    """Middleware that admits requests to `/api` with the key of a sign-in, or with the token, as a bearer token.

    `open_paths` need neither. A request that changes something must carry CHANGE_HEADER.
    """

    def __init__(self, app: ASGIApp, sign_ins: SignIns, *, owner: str, open_paths: set[str]) -> None:
        self._app = app
        self._sign_ins = sign_ins
        self._owner = owner
        self._open_paths = open_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                await self._check_request(scope, dict(scope["headers"]))
            except (UraniborgError, OSError) as error:
                if isinstance(error, OSError):
                    _log.exception("the sign-ins cannot be read", exc=error)
                await make_error_response(as_error(error))(scope, receive, send)
                return
        if CLIENT in scope and is_event_stream(scope):
            await answer_while_valid(self._app, scope, receive, send, partial(self._is_signed_in, scope))
        else:
            await self._app(scope, receive, send)

    async def _is_signed_in(self, scope: Scope) -> bool:
        """Return True while the key or token of the request is valid; False also if that cannot be read."""
        try:
            return await self._sign_ins.find_actor(read_bearer_token(dict(scope["headers"])), self._owner) is not None
        except (UraniborgError, OSError) as error:
            _log.exception("the sign-ins cannot be read", exc=error)
            return False

    async def _check_request(self, scope: Scope, headers: dict[bytes, bytes]) -> None:
        """Raise ChangeHeaderMissing or NotAuthorized; store the actor in the scope."""
        if scope["method"] not in _SAFE_METHODS and headers.get(CHANGE_HEADER) != b"1":
            raise ChangeHeaderMissing
        if scope["path"] in self._open_paths or not is_api_path(scope["path"]):
            return
        given = read_bearer_token(headers)
        actor = await self._sign_ins.find_actor(given, self._owner)
        if actor is None:
            raise make_sign_in_error()
        scope[ACTOR], scope[CLIENT] = actor, hash_key(given)


def is_event_stream(scope: Scope) -> bool:
    """Return True for a request whose response does not end by itself."""
    return scope["method"] == "GET" and scope["path"].endswith("/events")


async def answer_while_valid(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send, is_valid: Callable[[], Awaitable[bool]]
) -> None:
    """Let the app answer, and end its response when `is_valid` returns False."""
    has_started = False

    async def send_and_note(message: Message) -> None:
        nonlocal has_started
        has_started = has_started or message["type"] == "http.response.start"
        await send(message)

    answering = asyncio.ensure_future(app(scope, receive, send_and_note))
    checking = asyncio.create_task(_wait_until_invalid(is_valid))
    try:
        await asyncio.wait((answering, checking), return_when=asyncio.FIRST_COMPLETED)
        is_ended = not answering.done()
    finally:
        for task in (answering, checking):
            task.cancel()
        await asyncio.wait((answering, checking))
    if not is_ended:
        await answering
    elif has_started:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _wait_until_invalid(is_valid: Callable[[], Awaitable[bool]]) -> None:
    while await is_valid():  # noqa: ASYNC110 - other processes end keys, too
        await asyncio.sleep(CHECK_S)


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
