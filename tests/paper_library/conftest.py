"""Fixtures that several test folders share."""

import shutil
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from tests.paper_library.operations.rest_shelf import open_rest_client
from tests.paper_library.operations.shelves import build_readable_shelf


@pytest.fixture(scope="session")
def intact_shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shelf of three papers, one with its text, that no test changes; see `shelf`."""
    shelf = tmp_path_factory.mktemp("intact") / "shelf"
    build_readable_shelf(shelf)
    return shelf


@pytest.fixture
def shelf(intact_shelf: Path, tmp_path: Path) -> Path:
    """Return a copy of `intact_shelf` that a test may change."""
    return shutil.copytree(intact_shelf, tmp_path / "shelf")


@pytest.fixture(scope="module")
def rest_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the shelf that `rest` serves."""
    return tmp_path_factory.mktemp("rest")


@pytest.fixture(scope="module")
def rest(rest_folder: Path) -> Generator[httpx.Client]:
    """Provide a client of a REST server with a shelf of every kind of input."""
    with open_rest_client(rest_folder) as client:
        yield client


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Return an empty folder for the inputs of a build."""
    (tmp_path / "inputs").mkdir()
    return tmp_path / "inputs"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return the path of a shelf that a test builds."""
    return tmp_path / "shelf"
