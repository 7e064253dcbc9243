"""Data in folders that cannot be written: what can be read is read, and everything else says what to do."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.pflow.hostile import AS_ANYBODY, GOOD
from tests.pflow.store.homes import write_draft
from uraniborg.kernel.store.inbox import Inbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a superuser do without its powers")


def run_module(home: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a module as a user without other rights to files."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    env = {**kept, "HOME": str(home), "URANIBORG_HOME": str(home / "station"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", AS_ANYBODY, sys.executable, "-m", *arguments]
    return subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, check=False, timeout=60)


@contextmanager
def make_read_only(home: Path) -> Generator[None]:
    folders = [path for path in (home, *home.rglob("*")) if path.is_dir()]
    for folder in folders:
        folder.chmod(0o500)
    try:
        yield
    finally:
        for folder in folders:
            folder.chmod(0o700)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "station").mkdir(mode=0o700)
    return tmp_path


@pytest.fixture
def home_with_data(home: Path) -> Path:
    data = home / "station" / "data"
    data.mkdir(mode=0o700)
    with closing(Inbox(data / "inbox.db")) as inbox:
        inbox.put("question-1", "pflow", "approval", "run_1", {"question": "Publish?", "workflow": "x", "node": "ask"})
    assert run_module(home, "universe", "new", "--name", "Watched", "--id", "watched").returncode == 0
    write_draft(home / "station" / "pflow", "x", GOOD)
    assert run_module(home, "pflow", "run", "x").returncode == 0
    return home


@pytest.mark.parametrize(
    "command",
    [
        ("uraniborg", "serve", "--port", "0"),
        ("universe", "serve", "--port", "0"),
        ("paper_library", "serve", "--port", "0"),
        ("uraniborg", "connect", "claude-code", "--yes"),
        ("uraniborg", "inbox"),
    ],
    ids=" ".join,
)
def test_a_command_that_must_write_says_that_the_folder_is_read_only_and_what_to_do(
    home: Path, command: tuple[str, ...]
) -> None:
    with make_read_only(home):
        done = run_module(home, *command)
    assert done.returncode == 5, done.stderr
    assert "read-only" in done.stderr
    assert "URANIBORG_HOME" in done.stderr
    assert "went wrong inside" not in done.stderr
    assert "Traceback" not in done.stderr


def test_serve_says_so_if_there_are_data_too(home_with_data: Path) -> None:
    with make_read_only(home_with_data):
        done = run_module(home_with_data, "uraniborg", "serve", "--port", "0")
    assert done.returncode == 5, done.stderr
    assert "read-only" in done.stderr
    assert "Traceback" not in done.stderr


def test_questions_universes_and_runs_of_a_read_only_folder_can_be_read(home_with_data: Path) -> None:
    with make_read_only(home_with_data):
        listed = run_module(home_with_data, "uraniborg", "inbox", "--json")
        universes = run_module(home_with_data, "universe", "list", "--json")
        displayed = run_module(home_with_data, "universe", "show", "watched", "--json")
        history = run_module(home_with_data, "pflow", "history", "--json")
    assert [one["id"] for one in json.loads(listed.stdout)] == ["question-1"], listed
    assert [one["id"] for one in json.loads(universes.stdout)["universes"]] == ["watched"], universes.stderr
    assert displayed.returncode == 0, displayed.stderr
    assert len(json.loads(history.stdout)["runs"]) == 1, history.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("uraniborg", "decide", "question-1", "approve"),
        ("universe", "send", "watched", '{"type": "tick", "dt": 1}'),
        ("universe", "new", "--name", "Another"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_change_in_a_read_only_folder_is_refused_and_says_what_to_do(
    home_with_data: Path, command: tuple[str, ...]
) -> None:
    with make_read_only(home_with_data):
        done = run_module(home_with_data, *command)
    assert done.returncode == 5, done.stderr
    assert "read-only" in done.stderr
    assert "URANIBORG_HOME" in done.stderr
