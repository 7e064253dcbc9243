"""One server for each test file; every test creates its own universes."""

from collections.abc import Generator

import httpx
import pytest

from tests.universe.api.rest.rest_server import create_universe, run_server


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    with run_server(tmp_path_factory.mktemp("rest")) as client:
        yield client


@pytest.fixture
def universe(rest: httpx.Client) -> str:
    """Return the id of an empty universe."""
    return create_universe(rest)
