"""A store in memory that delays or fails writes on request."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Literal

from universe.errors import StoreUnavailable
from universe.store.interface import KeyUse, StoredEntry
from universe.store.memory import MemoryStore

Trouble = Literal["writes nothing", "writes, but the answer is lost"]


class Held:
    """An append that waits at the gate."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.opened = asyncio.Event()


class TroubledStore(MemoryStore):
    """A store that counts appends and reads, and can block appends or make them fail."""

    def __init__(self) -> None:
        super().__init__()
        self.appends = 0
        self.entries_read = 0
        self.before_reading: Callable[[], Awaitable[object]] | None = None
        """A function that is called once, just before entries are read."""
        self._trouble: Trouble | None = None
        self._held: dict[str, Held] = {}

    @contextmanager
    def trouble(self, trouble: Trouble = "writes nothing") -> Generator[None]:
        self._trouble = trouble
        try:
            yield
        finally:
            self._trouble = None

    @asynccontextmanager
    async def holding(self, universe_id: str) -> AsyncGenerator[Held]:
        """Block appends to this universe until the block ends."""
        held = self._held[universe_id] = Held()
        try:
            yield held
        finally:
            del self._held[universe_id]
            held.opened.set()

    async def append(
        self,
        universe_id: str,
        expected_version: int,
        entries: Sequence[StoredEntry],
        key_uses: Sequence[KeyUse] = (),
        *,
        created_at: str | None = None,
    ) -> None:
        self.appends += 1
        if held := self._held.get(universe_id):
            held.reached.set()
            await held.opened.wait()
        if self._trouble != "writes nothing":
            await super().append(universe_id, expected_version, entries, key_uses, created_at=created_at)
        if self._trouble is not None:
            raise StoreUnavailable("The disk is gone.", hint="Bring it back.")

    async def read_entries(
        self, universe_id: str, *, after: int, limit: int, upto: int | None = None
    ) -> list[StoredEntry]:
        if happens := self.before_reading:
            self.before_reading = None
            await happens()
        found = await super().read_entries(universe_id, after=after, limit=limit, upto=upto)
        self.entries_read += len(found)
        return found
