"""Fixtures: a data folder, a manager of it, and a data folder with a gated source."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from paper_search.sessions import SessionManager
from tests.paper_search.sessions.helpers import DataFolder, GatedFolder


@pytest.fixture
def data_folder(tmp_path: Path) -> DataFolder:
    return DataFolder(tmp_path)


@pytest.fixture
async def manager(data_folder: DataFolder) -> AsyncGenerator[SessionManager]:
    async with data_folder.open_manager() as made:
        yield made


@pytest.fixture
async def gated(tmp_path: Path) -> GatedFolder:
    return GatedFolder(tmp_path)
