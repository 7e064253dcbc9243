"""Services over a store with controlled failures, and over a file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.universe.service.stores import TroubledStore
from universe.service.universes import UniverseService
from universe.store.sqlite import SqliteStore


@pytest.fixture
def store() -> TroubledStore:
    return TroubledStore()


@pytest.fixture
async def service(store: TroubledStore) -> AsyncIterator[UniverseService]:
    """Provide a service with an empty universe `u`."""
    async with UniverseService(store).running() as running:
        await running.create("Hven", universe_id="u")
        yield running


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "universes.db"


@pytest.fixture
async def file_service(file: Path) -> AsyncIterator[UniverseService]:
    """Provide a service over a file, with an empty universe `u`."""
    async with UniverseService(SqliteStore(file)).running() as running:
        await running.create("Hven", universe_id="u")
        yield running
