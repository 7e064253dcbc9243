"""A listener to the event stream of a universe over HTTP, like a browser."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx

from tests.universe.chosen_store import make_chosen_store
from universe.api.app import make_app
from universe.config import UniverseConfig
from universe.store.interface import Store
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.mcp.testing import serve_app

SOON: Final = 20.0
"""The timeout in seconds of everything that a test waits for."""


@asynccontextmanager
async def open_client(url: str) -> AsyncGenerator[httpx.AsyncClient]:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    async with httpx.AsyncClient(base_url=url, timeout=SOON, limits=limits) as client:
        yield client


@asynccontextmanager
async def run_stream_server(
    folder: Path, *, store: Store | None = None, **settings: Any
) -> AsyncGenerator[httpx.AsyncClient]:
    """Provide a client of a server that stores its universes in the folder, or in `store`, with a universe `u`."""
    app = make_app(UniverseConfig(**settings), store or make_chosen_store(lambda: SqliteStore(folder / "universes.db")))
    async with serve_app(app) as url, open_client(url) as client:
        if (await client.get("/universes/u")).status_code == 404:
            made = await client.post("/universes", json={"name": "Hven", "id": "u"})
            assert made.status_code == 201
        yield client


async def post_command(client: httpx.AsyncClient, command: Any, universe_id: str = "u") -> int:
    """Send a command and return the version that it leads to."""
    answer = await client.post(f"/universes/{universe_id}/commands", params={"return": "events"}, json=command)
    assert answer.status_code == 200, answer.text
    return answer.json()["version"]


async def count_listeners(client: httpx.AsyncClient) -> int:
    return (await client.get("/health")).json()["listeners"]


async def wait_for_listeners(client: httpx.AsyncClient, count: int) -> None:
    """Ask until so many listen."""
    async with asyncio.timeout(SOON):
        while await count_listeners(client) != count:
            pass


class Event(NamedTuple):
    id: int | None
    name: str
    data: Any


class Listener:
    """A reader of the events and comments of one stream."""

    def __init__(self, response: httpx.Response) -> None:
        self.headers = response.headers
        self.comments: list[str] = []
        self.retry: int | None = None
        self.last: int | None = None
        self._lines = _lines_of(response)

    async def next(self) -> Event | None:
        """Return the next event, or None at the end of the stream."""
        async with asyncio.timeout(SOON):
            return await self._next()

    async def take(self, count: int) -> list[Event]:
        """So many events, none of which is the end."""
        found: list[Event] = []
        async with asyncio.timeout(SOON):
            while len(found) < count:
                event = await self._next()
                assert event is not None, f"the stream ended after {len(found)} events of {count}"
                found.append(event)
        return found

    async def rest(self) -> list[Event]:
        """All events up to the end of the stream."""
        found: list[Event] = []
        async with asyncio.timeout(SOON):
            while (event := await self._next()) is not None:
                found.append(event)
        return found

    async def comment(self, count: int = 1) -> list[str]:
        """Wait for so many comments, and no event."""
        async with asyncio.timeout(SOON):
            while len(self.comments) < count:
                line = await anext(self._lines)
                assert line == "" or line.startswith((":", "retry:")), line
                self._note(line)
        return self.comments

    async def _next(self) -> Event | None:
        fields: dict[str, str] = {}
        async for line in self._lines:
            if line == "" and "data" in fields:
                version = int(fields["id"]) if "id" in fields else None
                self.last = version if version is not None else self.last
                return Event(version, fields.get("event", "message"), json.loads(fields["data"]))
            if line == "" or line.startswith((":", "retry:")):
                self._note(line)
                continue
            name, colon, value = line.partition(": ")
            assert colon, line
            assert name not in fields, line
            fields[name] = value
        assert not fields, f"the stream ended within {fields}"
        return None

    def _note(self, line: str) -> None:
        if line.startswith(":"):
            self.comments.append(line.removeprefix(":").strip())
        elif line:
            self.retry = int(line.removeprefix("retry:"))


async def _lines_of(response: httpx.Response) -> AsyncIterator[str]:
    """Lines end with a line feed here, and with nothing else that looks like an end."""
    rest = b""
    async for part in response.aiter_bytes():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.decode()
    assert rest == b"", rest


@asynccontextmanager
async def open_listener(
    client: httpx.AsyncClient, universe_id: str = "u", *, since: int | None = None, last: int | None = None
) -> AsyncGenerator[Listener]:
    """Provide a connected listener to a universe."""
    params = {} if since is None else {"since": since}
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    async with client.stream("GET", f"/universes/{universe_id}/events", params=params, headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        listener = Listener(response)
        assert (await listener.comment())[0] == "connected"
        yield listener
