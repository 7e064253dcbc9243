"""A store in memory that fails on request."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, Literal

from universe.store.interface import StoredEntry, UniverseRecord
from universe.store.memory import MemoryStore

SECRET: Final = "postgresql://tycho:hunter2@db.internal/universes"
Where = Literal["record", "append", "entries"]


class BrokenStore(MemoryStore):
    """A store of which one method raises inside `broken`, with a secret in the error text."""

    def __init__(self) -> None:
        super().__init__()
        self._broken: Where | None = None
        self._failure: BaseException = RuntimeError()
        self._gate = asyncio.Event()
        self._gate.set()
        self.waiting = asyncio.Event()

    @contextmanager
    def broken(self, where: Where, failure: BaseException | None = None) -> Generator[None]:
        self._broken, self._failure = where, failure or RuntimeError(f"cannot connect to {SECRET}")
        try:
            yield
        finally:
            self._broken = None

    @asynccontextmanager
    async def holding(self) -> AsyncGenerator[None]:
        """Block writes until the block ends, and set `waiting` when a write waits."""
        self._gate.clear()
        self.waiting.clear()
        try:
            yield
        finally:
            self._gate.set()

    async def read_record(self, *arguments: Any, **options: Any) -> UniverseRecord | None:
        self._break_down("record")
        return await super().read_record(*arguments, **options)

    async def append(self, *arguments: Any, **options: Any) -> None:
        self._break_down("append")
        if not self._gate.is_set():
            self.waiting.set()
            await self._gate.wait()
        await super().append(*arguments, **options)

    async def read_entries(self, *arguments: Any, **options: Any) -> list[StoredEntry]:
        self._break_down("entries")
        return await super().read_entries(*arguments, **options)

    def _break_down(self, where: Where) -> None:
        if self._broken == where:
            raise self._failure
