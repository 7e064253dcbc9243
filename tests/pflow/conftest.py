"""Fixtures of the tests of pflow."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pflow.config import Settings
from pflow.service.operations import Service
from uraniborg.kernel.store.inbox import Inbox


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the path of a pflow home, which does not exist yet."""
    return tmp_path / "home"


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Return a service whose workflows run in the folder `work`."""
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "uraniborg"))
    folder = tmp_path / "work"
    folder.mkdir()
    return Service(Settings(home=tmp_path / "home"), folder=folder)


@pytest.fixture
def inbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inbox]:
    """Yield the inbox that approvals of this test go to."""
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "uraniborg"))
    opened = Inbox()
    yield opened
    opened.close()
