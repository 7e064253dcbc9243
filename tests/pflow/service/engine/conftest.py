"""Fixtures of the tests of the engine."""

from pathlib import Path

import pytest

from tests.pflow.service.engine.counting_home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Return a pflow home whose nodes count their runs."""
    return Home(tmp_path)
