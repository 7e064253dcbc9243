"""A proxy to the socket of PostgreSQL that can be cut, repaired or stopped silently."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path


class Wire:
    """Passes on what comes in at `host`."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._is_cut = False
        self._passing = asyncio.Event()
        self._passing.set()
        self._ends: set[asyncio.StreamWriter] = set()
        self.host = ""
        self.asked = 0
        """The number of pieces passed to the server: one per round trip."""

    def cut(self) -> None:
        """Abort all connections and refuse new ones."""
        self._is_cut = True
        for end in self._ends:
            end.transport.abort()

    def die(self) -> None:
        """Block all traffic without closing connections."""
        self._passing.clear()

    def mend(self) -> None:
        self._is_cut = False
        self._passing.set()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        there, here = await asyncio.open_unix_connection(self._socket)
        self._ends |= {writer, here}
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass(reader, here, is_asking=True))
                both.create_task(self._pass(there, writer))
        finally:
            self._ends -= {writer, here}
            writer.transport.abort()
            here.transport.abort()

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, is_asking: bool = False) -> None:
        with suppress(ConnectionError):
            while data := await source.read(1 << 16):
                await self._passing.wait()
                self.asked += is_asking
                target.write(data)
                await target.drain()
        target.transport.abort()


@asynccontextmanager
async def open_wire(socket: Path) -> AsyncGenerator[Wire]:
    wire = Wire(socket)
    running: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(wire.connected(reader, writer))
        running.add(task)
        task.add_done_callback(running.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    wire.host = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield wire
    finally:
        server.close()
        for task in list(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await server.wait_closed()
