"""One rich shelf for each worker, served once for all tests that only read it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from paper_library.config import LibraryConfig
from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller, serve_library


@pytest.fixture(scope="session")
def rich_shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shelf that tests read and never change; see `shelf_copy`."""
    return inputs.build_rich_shelf(tmp_path_factory.mktemp("rich"))


@pytest.fixture(scope="session")
def library(rich_shelf: Path) -> Iterator[Caller]:
    with serve_library(LibraryConfig(shelf=rich_shelf)) as caller:
        yield caller


@pytest.fixture
def shelf_copy(rich_shelf: Path, tmp_path: Path) -> Path:
    """Return a copy of the shelf that a test may damage."""
    return Path(shutil.copytree(rich_shelf, tmp_path / "shelf"))
