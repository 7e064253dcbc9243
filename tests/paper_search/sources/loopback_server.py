"""An HTTP server on loopback that follows a script, one step per connection."""

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

HANG: Final = "hang"
DRIP: Final = "drip"
RESET: Final = "reset"

Step = bytes | str


def make_reply(
    status: int = 200, body: bytes = b"{}", headers: Mapping[str, str] | None = None, says: int = -1
) -> bytes:
    """Return the bytes of an answer; `says` is the stated content length."""
    length = len(body) if says < 0 else says
    lines = [f"HTTP/1.1 {status} Because", f"Content-Length: {length}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class LoopbackServer:
    """The scripted server. `requests` holds the received requests as text; the last step is repeated."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = list(steps)
        self._closing = asyncio.Event()
        self._connections: set[asyncio.Task[Any]] = set()
        self.requests: list[str] = []
        self.url = ""

    async def serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            self._connections.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            self.requests.append((head + await reader.readexactly(length)).decode())
            step = self.steps[min(len(self.requests), len(self.steps)) - 1]
            if step == HANG:
                await self._closing.wait()
            elif step == DRIP:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
                while not reader.at_eof():
                    writer.write(b".")
                    await writer.drain()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(reader.read(1), 0.02)
            elif step == RESET:
                connection: socket.socket = writer.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                assert isinstance(step, bytes)
                writer.write(step)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def stop(self) -> None:
        self._closing.set()
        if self._connections:
            await asyncio.wait(self._connections, timeout=10)


@asynccontextmanager
async def open_loopback(*steps: Step) -> AsyncGenerator[LoopbackServer, None]:
    site = LoopbackServer(steps)
    server = await asyncio.start_server(site.serve_client, "127.0.0.1", 0)
    site.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield site
    finally:
        server.close()
        await server.wait_closed()
        await site.stop()
