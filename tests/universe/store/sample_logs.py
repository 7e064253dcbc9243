"""Sample entries and records for stores, and a listener for the changes of a store."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

from universe.store.interface import LogChange, Store, StoredEntry, StoredSnapshot, UniverseRecord

AT = "2026-01-02T03:04:05.678Z"
LATER = "2026-01-02T03:04:06.000Z"
SOON_S = 20
"""The timeout in seconds of everything that a test waits for."""


def record(universe_id: str = "u", version: int = 0, created_at: str = AT, name: str = "A universe") -> UniverseRecord:
    return UniverseRecord(universe_id, name, version, created_at, created_at)


def entry(
    version: int, universe_id: str = "u", body: bytes = b'{"type":"tick","dt":1}', at: str = LATER
) -> StoredEntry:
    return StoredEntry.make_with_digest(universe_id, version, "command", body, b"[]", at)


def entries(first: int, last: int, universe_id: str = "u") -> list[StoredEntry]:
    return [entry(version, universe_id, b'{"type":"tick","dt":%d}' % version) for version in range(first, last + 1)]


def snapshot(version: int, universe_id: str = "u", state: bytes = b'{"time":1}') -> StoredSnapshot:
    return StoredSnapshot(version, state, StoredSnapshot.compute_digest(universe_id, version, state))


async def create_universe(store: Store, universe_id: str = "u", count: int = 0) -> None:
    """Create a universe with this many entries."""
    await store.create(record(universe_id, count), entries(1, count, universe_id))


async def read_log(store: Store, universe_id: str = "u") -> list[StoredEntry]:
    return await store.read_entries(universe_id, after=0, limit=100_000)


Use = Callable[[Store], Awaitable[Any]]
EVERY_USE: dict[str, Use] = {
    "ping": lambda store: store.ping(),
    "create": lambda store: store.create(record("new")),
    "rename": lambda store: store.rename("u", "name", AT),
    "delete": lambda store: store.delete("u"),
    "record": lambda store: store.read_record("u"),
    "records": lambda store: store.list_records(limit=1),
    "append": lambda store: store.append("u", 0, [entry(1)]),
    "entries": lambda store: store.read_entries("u", after=0, limit=1),
    "last_reference": lambda store: store.find_last_reference("u", after=0, upto=1),
    "change_start": lambda store: store.find_change_start("u", 1),
    "branches": lambda store: store.list_dependent_branches("u"),
    "key": lambda store: store.find_key_use("u", "k"),
    "snapshot": lambda store: store.find_latest_snapshot("u"),
    "snapshot_versions": lambda store: store.list_snapshot_versions("u"),
    "put_snapshot": lambda store: store.put_snapshot("u", snapshot(1)),
}
"""One call of every method that asks something of the database."""


class ChangeCollector:
    """The changes that a store has reported since the start of `listen`."""

    def __init__(self) -> None:
        self.changes: list[LogChange] = []
        self._more = asyncio.Condition()

    async def listen(self, store: Store) -> None:
        async with aclosing(cast("AsyncGenerator[LogChange]", store.watch_changes())) as changes:
            async for change in changes:
                async with self._more:
                    self.changes.append(change)
                    self._more.notify_all()

    async def until(self, *expected: LogChange, within_s: float = SOON_S) -> None:
        """Wait until all of these changes were received in this order, with any others between them."""
        await self.until_so(lambda: _are_within(expected, self.changes), f"{expected}", within_s)

    async def until_so(self, condition: Callable[[], Any], expected: str = "", within_s: float = SOON_S) -> None:
        try:
            async with asyncio.timeout(within_s), self._more:
                await self._more.wait_for(condition)
        except TimeoutError:
            raise AssertionError(f"waited for {expected}, received {self.changes}") from None

    async def until_connected_to(self, other: Store) -> None:
        """Make changes in another store until one is received, because the first ones may be missed."""
        async with asyncio.timeout(SOON_S):
            for number in range(1_000):
                await create_universe(other, f"probe {number}")
                try:
                    async with asyncio.timeout(0.5), self._more:
                        await self._more.wait_for(lambda: self.changes)
                except TimeoutError:
                    continue
                return


@asynccontextmanager
async def collect_changes(store: Store) -> AsyncGenerator[ChangeCollector]:
    received = ChangeCollector()
    task = asyncio.create_task(received.listen(store))
    await asyncio.sleep(0)  # the task begins
    try:
        yield received
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _are_within(expected: tuple[LogChange, ...], reply: list[LogChange]) -> bool:
    rest = iter(reply)
    return all(change in rest for change in expected)
