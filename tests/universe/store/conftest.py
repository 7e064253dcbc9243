"""An empty store of each kind, and a second store over the same database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from universe.store.factory import make_store
from universe.store.interface import Store


def _address(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if kind == "postgres":
        return request.getfixturevalue("postgres_dsn")
    return "memory:" if kind == "memory" else f"sqlite:///{tmp_path / 'universes.db'}"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """One of each kind."""
    opened = make_store(_address(request.param, request, tmp_path))
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a database that outlasts the store."""
    return _address(request.param, request, tmp_path)


@pytest.fixture
async def pair(address: str) -> AsyncIterator[tuple[Store, Store]]:
    """Two stores at one place, as two processes have them."""
    one, other = make_store(address), make_store(address)
    await one.open()
    await other.open()
    yield one, other
    await one.close()
    await other.close()
