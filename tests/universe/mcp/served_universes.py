"""A universe server on a real port, and changes of its universes over REST."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import httpx

from tests.universe.chosen_store import make_chosen_store
from universe.api.app import make_app
from universe.config import UniverseConfig
from universe.store.interface import Store
from universe.store.memory import MemoryStore
from uraniborg.kernel.mcp.testing import serve_app

SOON_S: Final = 30
"""The timeout in seconds of everything that a test waits for."""
_POLL_S: Final = 0.01

Json = dict[str, Any]
Value = TypeVar("Value")


async def wait_briefly(awaited: Awaitable[Value]) -> Value:
    async with asyncio.timeout(SOON_S):
        return await awaited


async def wait_until(condition: Callable[[], bool]) -> None:
    """Poll until the condition is true."""
    async with asyncio.timeout(SOON_S):
        while not condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(_POLL_S)


@dataclass(frozen=True)
class Served:
    """A running server; its methods speak REST and expect success."""

    url: str
    http: httpx.AsyncClient
    store: Store

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    async def make(self, universe_id: str, *commands: Json, state: Json | None = None) -> None:
        """Create a universe and send these commands to it."""
        requests = {"id": universe_id, "name": "Hven"} | ({} if state is None else {"state": state})
        printed = await self.http.post("/universes", json=requests)
        assert printed.status_code == 201, printed.text
        if commands:
            await self.send(universe_id, list(commands), wanted="events")

    async def send(self, universe_id: str, command: Any, *, wanted: str = "state", **headers: str) -> Json:
        printed = await self.http.post(
            f"/universes/{universe_id}/commands",
            json=command,
            params={"return": wanted},
            headers={name.replace("_", "-"): value for name, value in headers.items()},
        )
        assert printed.status_code == 200, printed.text
        return printed.json()

    async def read_record(self, universe_id: str, **params: int) -> Json:
        printed = await self.http.get(f"/universes/{universe_id}", params=params)
        assert printed.status_code == 200, printed.text
        return printed.json()

    async def state(self, universe_id: str, **params: int) -> Json:
        return (await self.read_record(universe_id, **params))["state"]

    async def version(self, universe_id: str) -> int:
        return (await self.read_record(universe_id))["version"]

    async def delete(self, universe_id: str) -> None:
        printed = await self.http.delete(f"/universes/{universe_id}")
        assert printed.status_code == 204, printed.text


@asynccontextmanager
async def run_server(store: Store | None = None, **settings: Any) -> AsyncGenerator[Served]:
    """Run a separate server during the block, over `store` or an empty store in memory."""
    kept = store or make_chosen_store(MemoryStore)
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    async with (
        serve_app(make_app(UniverseConfig(**settings), kept)) as url,
        httpx.AsyncClient(base_url=url, timeout=SOON_S, limits=limits) as http,
    ):
        yield Served(url, http, kept)
