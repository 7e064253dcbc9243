"""A house, a manager of it, and a house whose source answers when told to."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from paper_search.sessions import SessionManager
from tests.paper_search.sessions.helpers import Gated, House


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
async def manager(house: House) -> AsyncGenerator[SessionManager]:
    async with house.open() as made:
        yield made


@pytest.fixture
async def gated(tmp_path: Path) -> Gated:
    return Gated(tmp_path)
