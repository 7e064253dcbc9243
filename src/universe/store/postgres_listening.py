"""Hearing of every change in a PostgreSQL database, also of those made while it could not be heard."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from functools import partial
from typing import Any, Final, NamedTuple

from universe.errors import StoreUnavailable
from universe.store.port import Change
from universe.store.postgres_connecting import Connection, Database, said_in_our_words
from universe.store.postgres_statements import CHANNEL, VERSIONS
from uraniborg.kernel.logging import get_logger

_log = get_logger(__name__)

_BEAT_S: Final = 10.0
"""How often to ask whether the server is still there: one that lost power says no good-bye."""
_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 2.0


class _Known(NamedTuple):
    version: int
    serial: int


class Listener:
    """Holds a connection that listens, and makes a new one whenever it is lost."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, _Known] = {}
        self._watchers: set[asyncio.Queue[Change | None]] = set()
        self._early: list[str] | None = None
        """What was heard before it is known what there is."""
        self._connection: Connection | None = None
        self._lost = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """From here on every change is heard. Raises StoreUnavailable."""
        self._known = await self._listen()
        self._hear_early()
        self._keeping = asyncio.create_task(self._keep())

    async def stop(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
            self._keeping = None
        self._drop()
        for told in self._watchers:
            told.put_nowait(None)

    async def changes(self) -> AsyncIterator[Change]:
        if self._keeping is None:
            raise StoreUnavailable("The store is closed.", hint="Open it first.")
        told: asyncio.Queue[Change | None] = asyncio.Queue()
        self._watchers.add(told)
        try:
            while (change := await told.get()) is not None:
                yield change
        finally:
            self._watchers.discard(told)

    async def _keep(self) -> None:
        while True:
            try:
                async with asyncio.timeout(_BEAT_S):
                    await self._lost.wait()
            except TimeoutError:
                if await self._is_there():
                    continue
            _log.warning("the database is not heard any more")
            await self._listen_again()
            _log.info("the database is heard again")

    async def _is_there(self) -> bool:
        assert self._connection is not None
        try:
            await self._connection.execute("SELECT 1")
        except Exception:  # whatever it is, a new connection is the answer
            return False
        return True

    async def _listen_again(self) -> None:
        wait_s = _FIRST_WAIT_S
        while True:
            self._drop()
            try:
                now = await self._listen()
            except StoreUnavailable:
                await asyncio.sleep(wait_s)
            except Exception as exc:
                _log.exception("listening failed", exc)
                await asyncio.sleep(wait_s)
            else:
                break
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        before, self._known = self._known, now
        self._tell(_moved(before, now))
        self._hear_early()

    async def _listen(self) -> dict[str, _Known]:
        """Listens, and only then looks what there is: nothing falls between the two."""
        self._connection = connection = await self._database.connect()
        self._early = []
        self._lost = lost = asyncio.Event()
        connection.add_termination_listener(partial(_set, lost))
        with said_in_our_words():
            await connection.add_listener(await connection.fetchval(CHANNEL), self._hear)
            rows = await connection.fetch(VERSIONS)
        return {universe_id: _Known(version, serial) for universe_id, version, serial in rows}

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    def _hear_early(self) -> None:
        early, self._early = self._early or [], None
        for payload in early:
            self._hear(None, 0, "", payload)

    def _hear(self, _connection: Any, _pid: int, _channel: str, payload: str) -> None:
        if self._early is not None:
            self._early.append(payload)
            return
        version, serial, universe_id = payload.split(" ", 2)
        if version == "-":
            self._known.pop(universe_id, None)
            self._tell([Change(universe_id, None)])
        else:
            self._known[universe_id] = _Known(int(version), int(serial))
            self._tell([Change(universe_id, int(version))])

    def _tell(self, changes: Iterable[Change]) -> None:
        for change in changes:
            for told in self._watchers:
                told.put_nowait(change)


def _set(event: asyncio.Event, _connection: Any) -> None:
    event.set()


def _moved(before: dict[str, _Known], now: dict[str, _Known]) -> Iterable[Change]:
    for universe_id, known in before.items():
        if universe_id not in now or now[universe_id].serial != known.serial:
            yield Change(universe_id, None)
    for universe_id, known in now.items():
        if before.get(universe_id) != known:
            yield Change(universe_id, known.version)
