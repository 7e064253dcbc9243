"""One session that subscribed, and the one task that tells it what has changed."""

import asyncio
from contextvars import Context
from typing import Final

import anyio
from mcp.server.session import ServerSession
from pydantic import AnyUrl

from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.mcp.connection import Connection

PACE_S: Final = 0.1
"""Between two notifications of the same resource to the same session."""
_SHORTEST_WAIT_S: Final = 0.001
_LONGEST_WAIT_S: Final = 1.0

_log = get_logger(__name__)


class Subscriber:
    """Keeps what has changed, each resource once, until the client listens and has room for it."""

    def __init__(self, connection: Connection, session: ServerSession) -> None:
        self.uris: set[str] = set()
        self._connection = connection
        self._session = session
        self._changed: dict[str, None] = {}
        self._telling: asyncio.Task[None] | None = None
        connection.when_listening = self._tell

    def updated(self, uri: str) -> None:
        self._changed[uri] = None
        self._tell()

    def forget(self, uri: str) -> None:
        self.uris.discard(uri)
        self._changed.pop(uri, None)

    def close(self) -> None:
        self._connection.when_listening = None
        if self._telling is not None:
            self._telling.cancel()

    def _tell(self) -> None:
        if self._telling is None and self._changed and self._connection.listening:
            # In a context of its own: that of the caller would live on with it, and all that hangs on it.
            self._telling = asyncio.create_task(self._tell_all(), context=Context())

    async def _tell_all(self) -> None:
        try:
            while self._changed and self._connection.listening:
                await self._tell_each_once()
                await asyncio.sleep(PACE_S)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # the session is about to end
        except Exception as exc:
            _log.exception("a client could not be told of a change", exc=exc)
        finally:
            self._telling = None

    async def _tell_each_once(self) -> None:
        for uri in list(self._changed):
            if not await self._has_room():
                return
            if uri in self._changed:
                del self._changed[uri]
                await self._session.send_resource_updated(AnyUrl(uri))

    async def _has_room(self) -> bool:
        """True as soon as there is room, False once nobody is listening any more."""
        wait = _SHORTEST_WAIT_S
        while not self._connection.has_room:
            if not self._connection.listening:
                return False
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT_S)
        return True
