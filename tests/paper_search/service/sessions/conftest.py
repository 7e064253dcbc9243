"""Fixtures: a manager of the data folder, and a data folder with a gated source."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from paper_search.service.sessions import SessionManager
from tests.paper_search.service.sessions.helpers import DataFolder, GatedFolder


@pytest.fixture
async def manager(data_folder: DataFolder) -> AsyncGenerator[SessionManager]:
    async with data_folder.open_manager() as made:
        yield made


@pytest.fixture
async def gated(tmp_path: Path) -> GatedFolder:
    return GatedFolder(tmp_path)
