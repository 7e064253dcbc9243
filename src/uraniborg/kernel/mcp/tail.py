"""The end of what a process says on its stderr."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator
from typing import Final, TextIO

_KEPT: Final = 4_096
_LINES: Final = 5
_PATIENCE: Final = 0.5


class Tail:
    """Reads all there is, so that the process never waits, and keeps the last of it."""

    def __init__(self) -> None:
        self._bytes = b""
        self._ended = asyncio.Event()
        self._ended.set()

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncGenerator[TextIO]:
        """The file that the process is to write to. Close it once the process has it."""
        reading, writing = os.pipe()
        self._ended.clear()
        with os.fdopen(reading, "rb", buffering=0) as source, os.fdopen(writing, "w") as target:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: _Listener(self), source)
            try:
                yield target
            finally:
                target.close()
                await self._wait()
                transport.close()
                self.end()

    async def last(self) -> str:
        """The last lines as one, once the process has closed its stderr or half a second has passed."""
        await self._wait()
        lines = self._bytes.decode("utf-8", "replace").split("\n")
        return " / ".join([line.strip() for line in lines if line.strip()][-_LINES:])

    async def _wait(self) -> None:
        # Whoever the process has started may hold its stderr open for longer.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await self._ended.wait()

    def add(self, data: bytes) -> None:
        self._bytes = (self._bytes + data)[-_KEPT:]

    def end(self) -> None:
        self._ended.set()


class _Listener(asyncio.Protocol):
    def __init__(self, tail: Tail) -> None:
        self._tail = tail

    def data_received(self, data: bytes) -> None:
        self._tail.add(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._tail.end()
