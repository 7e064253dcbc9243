"""One server for each worker; a universe and clients for each test."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from itertools import count

import httpx
import pytest

from tests.universe.domain.samples import add_star
from tests.universe.mcp.processes import start_server
from tests.universe.mcp.served_universes import SOON_S, Served, run_server
from tests.universe.mcp.wire import Wire

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Served]:
    """Provide a server on its own thread."""
    started = threading.Event()
    running: list[tuple[Served, Callable[[], object]]] = []

    async def start_server() -> None:
        leaving, loop = asyncio.Event(), asyncio.get_running_loop()
        async with run_server() as server:
            running.append((server, partial(loop.call_soon_threadsafe, leaving.set)))
            started.set()
            await leaving.wait()

    def run() -> None:
        try:
            asyncio.run(start_server())
        finally:
            started.set()

    thread = threading.Thread(target=run, name="served universes")
    thread.start()
    assert started.wait(SOON_S)
    ((server, leave),) = running
    try:
        yield server
    finally:
        leave()
        thread.join(SOON_S)
        assert not thread.is_alive()


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Provide the announced addresses of a server in a separate process."""
    with start_server(tmp_path_factory.mktemp("real")) as announced:
        yield announced


@pytest.fixture
async def universe_server(shared_server: Served) -> AsyncIterator[Served]:
    """Provide the shared server with a new connection."""
    async with httpx.AsyncClient(base_url=shared_server.url, timeout=SOON_S) as http:
        yield Served(shared_server.url, http, shared_server.store)


@pytest.fixture
async def u(universe_server: Served) -> str:
    """Return the id of a new universe with three bodies, at version 3."""
    universe_id = f"u-{next(_NUMBERS)}"
    await universe_server.make(universe_id, add_star("sun"), add_star("earth", "sun"), add_star("moon", "earth"))
    return universe_id


@pytest.fixture
def wire(universe_server: Served) -> Wire:
    """Raw speech to that server."""
    return Wire(universe_server.http)
