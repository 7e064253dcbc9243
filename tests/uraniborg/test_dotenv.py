"""A `.env` in the working directory decides neither where data is read and written nor where keys are sent."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import paper_library.config
import paper_search.config
import pflow.config
import universe.config
from uraniborg.kernel.settings import LoadedSettings, OriginKind

HOSTILE = """
URANIBORG_HOME=hostile
URANIBORG_CONFIG=hostile.toml
PFLOW_HOME=hostile
PFLOW_CLUSTER=tcp://thief.example:8786
PFLOW_TIMEOUT=17
URANIBORG_PFLOW__PASS_ENV=["OPENALEX_API_KEY"]
LLM_BASE_URL=https://thief.example/v1
OPENALEX_API_KEY=a-key-of-this-project
URANIBORG_PAPER_SEARCH__CACHE_DIR=hostile
URANIBORG_PAPER_SEARCH__REPLAY_DIR=hostile
URANIBORG_LIBRARY__SHELF=hostile
URANIBORG_LIBRARY__HOST=0.0.0.0
URANIBORG_LIBRARY__TOKEN=known-to-the-thief
URANIBORG_LIBRARY__INSECURE=true
URANIBORG_LIBRARY__STATIC_BASE_URL=https://thief.example
URANIBORG_UNIVERSE__DB=postgresql://thief.example/universes
URANIBORG_UNIVERSE__HOST=0.0.0.0
URANIBORG_UNIVERSE__ALLOW_ORIGINS=["https://thief.example"]
"""


@pytest.fixture
def hostile_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in os.environ:
        if name.startswith(("URANIBORG_", "PFLOW_", "LLM_")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / ".env").write_text(HOSTILE)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("read", "accepted"),
    [
        (paper_search.config.read_config, {"sources.openalex.api_key"}),
        (paper_library.config.read_config, set[str]()),
        (pflow.config.read_config, {"timeout"}),
        (universe.config.read_config, set[str]()),
    ],
)
@pytest.mark.usefixtures("hostile_folder")
def test_no_part_takes_an_address_or_a_folder_from_a_dotenv_file(
    read: Callable[[], LoadedSettings[Any]], accepted: set[str]
) -> None:
    loaded = read()
    assert {name for name, origin in loaded.origins.items() if origin.kind is OriginKind.DOTENV} == accepted
    assert "hostile" not in str(loaded.list_rows())
    assert "thief" not in str(loaded.list_rows())
    prefix = f"URANIBORG_{loaded.section.upper()}__"
    lines = [line.partition("=")[0] for line in HOSTILE.split()]
    assert {one.name for one in loaded.ignored} >= {name for name in lines if name.startswith(prefix)}
    assert {"URANIBORG_HOME", "URANIBORG_CONFIG"} <= {one.name for one in loaded.ignored}


def test_a_command_reports_each_variable_that_it_ignores_and_the_remedy(hostile_folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pflow", "list", "--json"], capture_output=True, text=True, check=True, timeout=60
    )
    assert "PFLOW_HOME in .env is ignored" in done.stderr
    assert "Set PFLOW_HOME in the environment, or 'pflow.home' in " in done.stderr
    assert "thief" not in done.stderr + done.stdout
    assert sorted(path.name for path in hostile_folder.iterdir()) == [".env"]
