import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.uraniborg.kernel.mcp.raw_messages import call, request
from uraniborg.kernel.mcp import Server, make_server, make_stateless_app, tool
from uraniborg.kernel.mcp.testing import serve_app

CROWD = 1_000


class Hall:
    """A server whose one tool answers only once the doors are open, and knows how many wait."""

    def __init__(self, expected: int) -> None:
        self.full = asyncio.Event()
        self.doors = asyncio.Event()
        self.left = 0
        self._expected = expected
        self._inside = 0
        self.server: Server = make_server("hall", version="1", instructions="")
        tool(self.server, title="Enter", read_only=True)(self.enter)

    async def enter(self, number: int) -> int:
        """Wait until the event is set."""
        self._inside += 1
        if self._inside == self._expected:
            self.full.set()
        await self.doors.wait()
        self.left += 1
        return number


class Visitor:
    def __init__(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def at(cls, url: str) -> "Visitor":
        return cls(*await asyncio.open_connection(urlsplit(url).hostname, urlsplit(url).port))

    def send(self, message: dict[str, Any]) -> None:
        body = json.dumps(message).encode()
        head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        self._writer.write(head % len(body) + body)

    async def receive(self) -> Any:
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 ")
        (length,) = (int(line[15:]) for line in head.splitlines() if line.lower().startswith(b"content-length:"))
        return json.loads(await self._reader.readexactly(length))

    async def leave(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


@asynccontextmanager
async def crowd(url: str, size: int) -> AsyncGenerator[list[Visitor]]:
    visitors = await asyncio.gather(*(Visitor.at(url) for _ in range(size)))
    try:
        yield visitors
    finally:
        await asyncio.gather(*(visitor.leave() for visitor in visitors))


async def test_a_thousand_wait_at_once_half_of_them_leave_and_the_others_are_answered() -> None:
    hall = Hall(CROWD)
    async with asyncio.timeout(50), serve_app(make_stateless_app(hall.server)) as url, crowd(url, CROWD) as visitors:
        for number, visitor in enumerate(visitors):
            visitor.send(call("enter", {"number": number}))
        await hall.full.wait()
        for visitor in visitors[::2]:
            await visitor.leave()
        hall.doors.set()
        answers = await asyncio.gather(*(visitor.receive() for visitor in visitors[1::2]))
        assert [answer["result"]["structuredContent"]["result"] for answer in answers] == list(range(1, CROWD, 2))
        assert hall.left == CROWD
        visitors[1].send(request("ping", id="after"))
        assert (await visitors[1].receive())["id"] == "after"


async def test_a_call_under_way_is_answered_when_the_server_ends() -> None:
    hall = Hall(1)
    async with asyncio.timeout(50):
        async with serve_app(make_stateless_app(hall.server)) as url:
            visitor = await Visitor.at(url)
            visitor.send(call("enter", {"number": 7}))
            await hall.full.wait()
            opening = asyncio.create_task(open_when_closed_to_others(hall, url))
        await opening
        assert (await visitor.receive())["result"]["structuredContent"] == {"result": 7}
        await visitor.leave()


async def open_when_closed_to_others(hall: Hall, url: str) -> None:
    while True:
        try:
            late = await Visitor.at(url)
        except ConnectionError:
            break
        await late.leave()
    hall.doors.set()
