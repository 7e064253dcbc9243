"""Listen for changes in PostgreSQL, including those made while the connection was lost."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from functools import partial
from typing import Any, Final, NamedTuple

from universe.errors import StoreUnavailable
from universe.store.interface import ChangeBroadcast, LogChange, make_closed_error
from universe.store.postgres_database import Database, PostgresConnection, translate_server_errors
from uraniborg.kernel.logging import get_logger

_log = get_logger(__name__)

_CHANNEL: Final = "SELECT 'universes_' || 'universes'::regclass::oid"
"""The channel of notifications, which differs between the schemas of a database."""
_VERSIONS: Final = "SELECT id, version, serial FROM universes"

_BEAT_S: Final = 10.0
"""The interval between checks of the connection: a server that lost power does not close it."""
_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 2.0


class _KnownVersion(NamedTuple):
    """The version of a universe, and the serial that distinguishes it from a later universe with its id."""

    version: int
    serial: int


class Listener:
    """A connection that listens for changes, and is opened again whenever it is lost."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, _KnownVersion] = {}
        self._broadcast = ChangeBroadcast()
        self._early_notifications: list[str] | None = None
        """Notifications received before the versions were read; None afterwards."""
        self._connection: PostgresConnection | None = None
        self._lost = asyncio.Event()
        self._supervision: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Connect and listen to every change from now on. Raise StoreUnavailable."""
        self._known = await self._connect_and_listen()
        self._handle_early_notifications()
        self._supervision = asyncio.create_task(self._supervise_connection())

    async def stop(self) -> None:
        """Disconnect and end all iterations over `watch_changes`."""
        if self._supervision is not None:
            self._supervision.cancel()
            await asyncio.gather(self._supervision, return_exceptions=True)
            self._supervision = None
        self._disconnect()
        self._broadcast.close()

    async def watch_changes(self) -> AsyncIterator[LogChange]:
        """Yield changes from now on until the listener stops. Raise StoreUnavailable if it has not started."""
        if self._supervision is None:
            raise make_closed_error()
        async for change in self._broadcast.watch_changes():
            yield change

    async def _supervise_connection(self) -> None:
        while True:
            try:
                async with asyncio.timeout(_BEAT_S):
                    await self._lost.wait()
            except TimeoutError:
                if await self._is_connected():
                    continue
            _log.warning("the connection that listens for changes was lost")
            await self._reconnect_and_publish_missed()
            _log.info("listening for changes again")

    async def _is_connected(self) -> bool:
        assert self._connection is not None
        try:
            await self._connection.execute("SELECT 1")
        except Exception:  # any error needs a new connection
            return False
        return True

    async def _reconnect_and_publish_missed(self) -> None:
        wait_s = _FIRST_WAIT_S
        while True:
            self._disconnect()
            try:
                now = await self._connect_and_listen()
            except StoreUnavailable:
                await asyncio.sleep(wait_s)
            except Exception as exc:
                _log.exception("listening failed", exc)
                await asyncio.sleep(wait_s)
            else:
                break
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        before, self._known = self._known, now
        for change in _find_changes(before, now):
            self._broadcast.publish(change)
        self._handle_early_notifications()

    async def _connect_and_listen(self) -> dict[str, _KnownVersion]:
        """Listen, then return all versions; in this order no change is missed."""
        self._connection = connection = await self._database.open_unpooled_connection()
        self._early_notifications = []
        self._lost = lost = asyncio.Event()
        connection.add_termination_listener(partial(_set_event, lost))
        with translate_server_errors():
            await connection.add_listener(await connection.fetchval(_CHANNEL), self._handle_notification)
            rows = await connection.fetch(_VERSIONS)
        return {universe_id: _KnownVersion(version, serial) for universe_id, version, serial in rows}

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    def _handle_early_notifications(self) -> None:
        early, self._early_notifications = self._early_notifications or [], None
        for payload in early:
            self._handle_notification(None, 0, "", payload)

    def _handle_notification(self, _connection: Any, _pid: int, _channel: str, payload: str) -> None:
        if self._early_notifications is not None:
            self._early_notifications.append(payload)
            return
        version, serial, universe_id = payload.split(" ", 2)
        if version == "-":
            self._known.pop(universe_id, None)
            self._broadcast.publish(LogChange(universe_id, None))
        else:
            self._known[universe_id] = _KnownVersion(int(version), int(serial))
            self._broadcast.publish(LogChange(universe_id, int(version)))


def _set_event(event: asyncio.Event, _connection: Any) -> None:
    event.set()


def _find_changes(before: dict[str, _KnownVersion], now: dict[str, _KnownVersion]) -> Iterable[LogChange]:
    for universe_id, known in before.items():
        if universe_id not in now or now[universe_id].serial != known.serial:
            yield LogChange(universe_id, None)
    for universe_id, known in now.items():
        if before.get(universe_id) != known:
            yield LogChange(universe_id, known.version)
