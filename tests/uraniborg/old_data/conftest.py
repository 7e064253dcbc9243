"""A data folder that a released version wrote, unpacked for one test."""

from pathlib import Path

import pytest

from tests.fixtures.data import HERE
from tests.uraniborg.old_data.folder import OldData

ARCHIVES = sorted(HERE.glob("data-*.tar.xz"))


@pytest.fixture(params=ARCHIVES, ids=[archive.name.removesuffix(".tar.xz") for archive in ARCHIVES])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> OldData:
    return OldData(request.param, tmp_path)
