"""A server, and clients of its API, for the tests of its routes."""

from collections.abc import AsyncIterator, Generator

import httpx
import pytest

from tests.uraniborg.console.greeting_workflow import GREETING
from tests.uraniborg.console.processes import ServerProcess, run_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """Run `uraniborg serve` with offline trial searches; modules that need another server have their own fixture."""
    with run_server(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture
async def api(server: ServerProcess) -> AsyncIterator[httpx.AsyncClient]:
    async with server.make_async_client() as opened:
        yield opened


@pytest.fixture
def client(server: ServerProcess) -> Generator[httpx.Client]:
    with server.make_client() as opened:
        yield opened


@pytest.fixture
def greeting_draft(client: httpx.Client) -> None:
    """Write the workflow GREETING as the draft `greeting`."""
    client.put("/api/drafts/greeting", json={"document": GREETING}).raise_for_status()
