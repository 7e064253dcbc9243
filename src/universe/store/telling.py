"""Telling of changes: everybody who listens hears of each, until there are no more."""

import asyncio
from collections.abc import AsyncIterator

from universe.store.port import Change


class Told:
    """Changes on their way to whoever listens."""

    def __init__(self) -> None:
        self._listening: set[asyncio.Queue[Change | None]] = set()

    def tell(self, change: Change) -> None:
        for heard in self._listening:
            heard.put_nowait(change)

    def end(self) -> None:
        """Nothing more will be told."""
        for heard in self._listening:
            heard.put_nowait(None)

    async def changes(self) -> AsyncIterator[Change]:
        heard: asyncio.Queue[Change | None] = asyncio.Queue()
        self._listening.add(heard)
        try:
            while (change := await heard.get()) is not None:
                yield change
        finally:
            self._listening.discard(heard)
