"""A listener to MCP event streams; every wait has a time limit."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx

from tests.universe.mcp.served_universes import SOON_S


class Event(NamedTuple):
    name: str
    id: str | None
    data: Any


class NoStream(AssertionError):
    """The request for a stream was refused."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status


class Listener:
    """Takes what a stream says, in a task of its own, until the stream or the block that opened it ends."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._read())

    async def next(self) -> Event:
        """Return the next event. Fail if the stream ends or no event arrives in time."""
        async with asyncio.timeout(SOON_S):
            event = await self._events.get()
        assert event is not None, "the stream has ended"
        return event

    async def take(self, count: int) -> list[Event]:
        return [await self.next() for _ in range(count)]

    async def until(self, is_last: Callable[[Event], bool]) -> list[Event]:
        """Return the events up to and including the first one for which `is_last` is true."""
        events = [await self.next()]
        while not is_last(events[-1]):
            events.append(await self.next())
        return events

    async def rest(self) -> list[Event]:
        """Return the events until the stream ends. Fail if it does not end in time."""
        events: list[Event] = []
        async with asyncio.timeout(SOON_S):
            while (event := await self._events.get()) is not None:
                events.append(event)
        return events

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _read(self) -> None:
        received = b""
        try:
            async for part in self.response.aiter_raw():
                received = (received + part).replace(b"\r\n", b"\n")
                *whole, received = received.split(b"\n\n")
                for block in whole:
                    if (event := _event(block)) is not None:
                        self._events.put_nowait(event)
        except httpx.HTTPError:
            pass  # cut off, which is an end too
        finally:
            self._events.put_nowait(None)


def _event(block: bytes) -> Event | None:
    """None for comments, and for what only says when to come again."""
    fields: dict[str, str] = {}
    for line in block.decode().split("\n"):
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")
    if not fields.get("data"):
        return None
    return Event(fields.get("event", "message"), fields.get("id"), json.loads(fields["data"]))


@asynccontextmanager
async def open_listener(http: httpx.AsyncClient, path: str, **headers: str) -> AsyncGenerator[Listener]:
    """Open a stream and provide its listener, which receives all events from the start of the block."""
    sent = {"accept": "text/event-stream", **{name.replace("_", "-"): value for name, value in headers.items()}}
    async with http.stream("GET", path, headers=sent, timeout=httpx.Timeout(SOON_S, read=None)) as response:
        if response.status_code != 200:
            raise NoStream(response.status_code, (await response.aread()).decode())
        assert response.headers["content-type"].startswith("text/event-stream")
        listener = Listener(response)
        try:
            yield listener
        finally:
            await listener.close()


def open_command_stream(http: httpx.AsyncClient, universe_id: str, **headers: str) -> Any:
    """Open the command stream of a universe."""
    return open_listener(http, f"/universes/{universe_id}/events", **headers)
