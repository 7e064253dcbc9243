"""Telling clients that a resource they subscribed to has changed."""

from functools import lru_cache

from mcp import McpError
from mcp.server.lowlevel.server import request_ctx
from mcp.types import EmptyResult, ServerResult, SubscribeRequest, UnsubscribeRequest
from pydantic import AnyUrl

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp.connection import Connection, current_connection
from uraniborg.kernel.mcp.reply import protocol_error
from uraniborg.kernel.mcp.server import Server
from uraniborg.kernel.mcp.subscriber import Subscriber


class TooManySubscriptions(InvalidInput):
    code = "too_many_subscriptions"


def subscriptions(server: Server, *, most: int = 1_000) -> "Subscriptions":
    """Lets clients of `server` subscribe to its resources, each to `most`, and gives the means to tell them of changes.

    Only clients with a session can: over stdio, in memory, and over HTTP through `stateful_app`, where the event
    stream of the session carries the news. Raises TypeError if `server` has subscriptions already.
    """
    if SubscribeRequest in server.protocol.request_handlers:
        raise TypeError(f"Clients of {server.name} can subscribe already.")
    return Subscriptions(server, most)


class Subscriptions:
    """Who subscribed to what. Made by `subscriptions`; an ended session is forgotten with all it had."""

    def __init__(self, server: Server, most: int) -> None:
        self._server = server
        self._most = most
        self._subscribers: dict[Connection, Subscriber] = {}
        self._of_uri: dict[str, set[Subscriber]] = {}
        server.protocol.request_handlers[SubscribeRequest] = self._subscribe
        server.protocol.request_handlers[UnsubscribeRequest] = self._unsubscribe

    @property
    def count(self) -> int:
        """How many subscriptions there are, a resource once for each session that subscribed to it."""
        return sum(map(len, self._of_uri.values()))

    def updated(self, uri: str) -> None:
        """Have all who subscribed to `uri` told that it changed. To be called on the event loop.

        Returns at once and never raises. Many changes in a short time can reach a session as one notification, which
        follows the last of them.
        """
        if not self._of_uri:
            return
        spelled = uri if uri in self._of_uri else _spelled(uri)
        for subscriber in self._of_uri.get(spelled, ()):
            subscriber.updated(spelled)

    async def _subscribe(self, request: SubscribeRequest) -> ServerResult:
        uri = str(request.params.uri)
        await self._check(uri)
        subscriber = self._subscriber_asking()
        if uri not in subscriber.uris and len(subscriber.uris) >= self._most:
            error = TooManySubscriptions(
                f"This session has {self._most:,} subscriptions already.",
                hint="Unsubscribe from a resource that is no longer of interest.",
                limit=self._most,
            )
            raise protocol_error(error)
        subscriber.uris.add(uri)
        self._of_uri.setdefault(uri, set()).add(subscriber)
        return ServerResult(EmptyResult())

    async def _unsubscribe(self, request: UnsubscribeRequest) -> ServerResult:
        self._end(self._subscriber_asking(), str(request.params.uri))
        return ServerResult(EmptyResult())

    async def _check(self, uri: str) -> None:
        """Raises what reading `uri` raises, unless it is listed: then it exists, and may be readable another time."""
        try:
            await self._server.read_resource(uri)
        except McpError:
            if uri not in {str(listed.uri) for listed in await self._server.list_resources()}:
                raise

    def _subscriber_asking(self) -> Subscriber:
        connection = current_connection()
        # Where there is no connection the method is not offered.
        assert connection is not None
        if connection not in self._subscribers:
            self._subscribers[connection] = Subscriber(connection, request_ctx.get().session)
            connection.when_over(lambda: self._forget(connection))
        return self._subscribers[connection]

    def _forget(self, connection: Connection) -> None:
        subscriber = self._subscribers.pop(connection)
        for uri in list(subscriber.uris):
            self._end(subscriber, uri)
        subscriber.close()

    def _end(self, subscriber: Subscriber, uri: str) -> None:
        if uri in subscriber.uris:
            subscriber.forget(uri)
            self._of_uri[uri].discard(subscriber)
            if not self._of_uri[uri]:
                del self._of_uri[uri]


@lru_cache(maxsize=1_024)
def _spelled(uri: str) -> str:
    """`uri` as it is spelled once the protocol has carried it."""
    try:
        return str(AnyUrl(uri))
    except ValueError:
        return uri
