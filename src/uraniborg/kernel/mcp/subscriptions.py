"""Subscriptions: notifications to clients about changed resources."""

import asyncio
from contextvars import Context
from functools import lru_cache
from typing import Final

import anyio
from mcp import McpError
from mcp.server.lowlevel.server import request_ctx
from mcp.server.session import ServerSession
from mcp.types import EmptyResult, ServerResult, SubscribeRequest, UnsubscribeRequest
from pydantic import AnyUrl

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.mcp.replies import make_protocol_error
from uraniborg.kernel.mcp.server import Server
from uraniborg.kernel.mcp.session import ClientConnection, get_current_connection

PACE_S: Final = 0.1
"""The time between two notifications of the same resource to the same session."""
_SHORTEST_WAIT_S: Final = 0.001
_LONGEST_WAIT_S: Final = 1.0

_log = get_logger(__name__)


class Subscriber:
    """Queues changed resources, each once, until the client listens and can receive them."""

    def __init__(self, connection: ClientConnection, session: ServerSession) -> None:
        self.uris: set[str] = set()
        self._connection = connection
        self._session = session
        self._changed: dict[str, None] = {}
        self._notifying: asyncio.Task[None] | None = None
        connection.on_listening = self._start_notifying

    def add_change(self, uri: str) -> None:
        self._changed[uri] = None
        self._start_notifying()

    def forget(self, uri: str) -> None:
        self.uris.discard(uri)
        self._changed.pop(uri, None)

    def close(self) -> None:
        self._connection.on_listening = None
        if self._notifying is not None:
            self._notifying.cancel()

    def _start_notifying(self) -> None:
        if self._notifying is None and self._changed and self._connection.is_listening:
            # A new context: the task would keep the context of the caller alive.
            self._notifying = asyncio.create_task(self._notify_until_done(), context=Context())

    async def _notify_until_done(self) -> None:
        try:
            while self._changed and self._connection.is_listening:
                await self._notify_each_once()
                await asyncio.sleep(PACE_S)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the session is about to end
        except Exception as exc:
            _log.exception("a client could not be notified of a change", exc=exc)
        finally:
            self._notifying = None

    async def _notify_each_once(self) -> None:
        for uri in list(self._changed):
            if not await self._wait_for_room():
                return
            if uri in self._changed:
                del self._changed[uri]
                await self._session.send_resource_updated(AnyUrl(uri))

    async def _wait_for_room(self) -> bool:
        """Wait until the stream can take a message; return False if the client stops listening."""
        wait = _SHORTEST_WAIT_S
        while not self._connection.has_room:
            if not self._connection.is_listening:
                return False
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT_S)
        return True


class TooManySubscriptions(InvalidInput):
    code = "too_many_subscriptions"


def add_subscriptions(server: Server, *, most: int = 1_000) -> "Subscriptions":
    """Let clients of `server` subscribe to at most `most` resources each, and return the object that notifies them.

    Only clients with a session can subscribe: over stdio, in memory, and over HTTP with `make_stateful_app`, where the
    event stream carries the notifications. Raise TypeError if `server` has subscriptions already.
    """
    if SubscribeRequest in server.protocol.request_handlers:
        raise TypeError(f"Clients of {server.name} can subscribe already.")
    return Subscriptions(server, most)


class Subscriptions:
    """The subscribers of a server; `add_subscriptions` creates it. Subscriptions end with their session."""

    def __init__(self, server: Server, most: int) -> None:
        self._server = server
        self._most = most
        self._subscribers: dict[ClientConnection, Subscriber] = {}
        self._of_uri: dict[str, set[Subscriber]] = {}
        server.protocol.request_handlers[SubscribeRequest] = self._subscribe
        server.protocol.request_handlers[UnsubscribeRequest] = self._unsubscribe

    @property
    def count(self) -> int:
        """The number of subscriptions; a resource counts once for each session."""
        return sum(map(len, self._of_uri.values()))

    def notify_updated(self, uri: str) -> None:
        """Notify all subscribers of `uri` that it changed. Call this on the event loop.

        Returns at once and never raises. Several changes in a short time can become one notification after the last.
        """
        if not self._of_uri:
            return
        spelled = uri if uri in self._of_uri else _normalise_uri(uri)
        for subscriber in self._of_uri.get(spelled, ()):
            subscriber.add_change(spelled)

    async def _subscribe(self, request: SubscribeRequest) -> ServerResult:
        uri = str(request.params.uri)
        await self._check_readable(uri)
        subscriber = self._get_subscriber()
        if uri not in subscriber.uris and len(subscriber.uris) >= self._most:
            error = TooManySubscriptions(
                f"This session has {self._most:,} subscriptions already.",
                hint="Unsubscribe from a resource that is no longer of interest.",
                limit=self._most,
            )
            raise make_protocol_error(error)
        subscriber.uris.add(uri)
        self._of_uri.setdefault(uri, set()).add(subscriber)
        return ServerResult(EmptyResult())

    async def _unsubscribe(self, request: UnsubscribeRequest) -> ServerResult:
        self._end_subscription(self._get_subscriber(), str(request.params.uri))
        return ServerResult(EmptyResult())

    async def _check_readable(self, uri: str) -> None:
        """Raise the error of reading `uri`, unless it is listed: then it exists, and may be readable later."""
        try:
            await self._server.read_resource(uri)
        except McpError:
            if uri not in {str(listed.uri) for listed in await self._server.list_resources()}:
                raise

    def _get_subscriber(self) -> Subscriber:
        connection = get_current_connection()
        # Without a connection the method is not offered.
        assert connection is not None
        if connection not in self._subscribers:
            self._subscribers[connection] = Subscriber(connection, request_ctx.get().session)
            connection.call_when_over(lambda: self._forget_connection(connection))
        return self._subscribers[connection]

    def _forget_connection(self, connection: ClientConnection) -> None:
        subscriber = self._subscribers.pop(connection)
        for uri in list(subscriber.uris):
            self._end_subscription(subscriber, uri)
        subscriber.close()

    def _end_subscription(self, subscriber: Subscriber, uri: str) -> None:
        if uri in subscriber.uris:
            subscriber.forget(uri)
            self._of_uri[uri].discard(subscriber)
            if not self._of_uri[uri]:
                del self._of_uri[uri]


@lru_cache(maxsize=1_024)
def _normalise_uri(uri: str) -> str:
    """Return `uri` in the spelling that it has after the protocol has parsed it."""
    try:
        return str(AnyUrl(uri))
    except ValueError:
        return uri
