"""Fixtures of the search tests. They import late: the tests of the engine run without sessions and servers."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.paper_search.service.sessions.helpers import DataFolder
    from tests.paper_search.service.sessions.processes import GatedSource


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder that does not exist yet, so that no settings or data of the user are used."""
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@pytest.fixture
def data_folder(tmp_path: Path) -> "DataFolder":
    """Return a data folder with one source; modules that need other sources define their own."""
    from tests.paper_search.service.sessions.helpers import DataFolder

    return DataFolder(tmp_path / "data")


@pytest.fixture
def gated_source(tmp_path: Path) -> "GatedSource":
    from tests.paper_search.service.sessions.processes import GatedSource

    return GatedSource(tmp_path / "installed")
