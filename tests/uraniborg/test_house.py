"""The front door and the demo."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paper_search.models import PaperCollection
from uraniborg.recordings import QUERY

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def uraniborg(tmp_path: Path) -> Command:
    env = {**os.environ, "URANIBORG_HOME": str(tmp_path / "home"), "COLUMNS": "100", "NO_COLOR": "1"}
    program = Path(sys.executable).with_name("uraniborg")

    def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *arguments],
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
            cwd=tmp_path,
            env={**env, **more},
        )

    return run


def test_the_demo_shows_both_checkpoints_the_sources_the_papers_and_the_files(
    uraniborg: Command, tmp_path: Path
) -> None:
    done = uraniborg("demo")
    assert done.returncode == 0, done.stderr
    for shown in (QUERY, "Checkpoint 1 of 2", "Checkpoint 2 of 2", "approved", "rate limited", "dedup", "papers.bib"):
        assert shown in done.stdout
    assert (tmp_path / "demo-output" / "papers.bib").read_text().startswith("@article{")


def test_the_demo_mends_a_workflow_and_shows_what_was_not_run_again_and_which_paper_a_value_is_from(
    uraniborg: Command, tmp_path: Path
) -> None:
    (tmp_path / "tmp").mkdir()
    done = uraniborg("demo", PFLOW_HOME=str(tmp_path / "pflow"), TMPDIR=str(tmp_path / "tmp"))
    assert done.returncode == 0, done.stderr
    _, _, act = done.stdout.partition("A workflow through all of it")
    act, _, _ = act.partition("Written")
    told = " ".join(act.split())
    for shown in (
        "body=trappist-1-x ✔ search, shelve, find, read, claim ✘ set There is no body 'trappist-1-x'.",
        "checkpoint: what 5 nodes did is kept",
        "body=trappist-1-e ↺ search, shelve, find, read unchanged: not run again ✔ claim what it is given changed",
        "Seven temperate terrestrial planets",
        "0.62 Earth masses, says doi:10.1038/nature21360 (Gillon et al. 2017)",
    ):
        assert shown in told
    assert not (tmp_path / "pflow").exists()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_demo_as_json_prints_the_collection_and_nothing_else(uraniborg: Command) -> None:
    done = uraniborg("demo", "--json")
    assert PaperCollection.model_validate_json(done.stdout).metadata.query == QUERY
    assert done.stderr == ""


def test_the_demo_can_be_run_twice(uraniborg: Command) -> None:
    assert uraniborg("demo").stdout == uraniborg("demo").stdout


def test_the_demo_says_when_its_folder_cannot_be_written(uraniborg: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    done = uraniborg("demo", "--json", "--output", "taken")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["hint"]


def test_the_version_is_told_in_both_ways(uraniborg: Command) -> None:
    number = json.loads(uraniborg("version", "--json").stdout)["version"]
    assert uraniborg("version").stdout == f"uraniborg {number}\n"


def test_help_names_every_command(uraniborg: Command) -> None:
    done = uraniborg("--help")
    assert done.returncode == 0
    assert "demo" in done.stdout
    assert "version" in done.stdout


def test_an_unknown_command_is_a_usage_error(uraniborg: Command) -> None:
    done = uraniborg("dance", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["code"] == "usage"


def test_no_command_shows_the_help(uraniborg: Command) -> None:
    done = uraniborg()
    assert "demo" in done.stdout + done.stderr


def test_the_demo_is_the_same_whatever_is_set(uraniborg: Command, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DOMAIN=alchemy\n")
    done = uraniborg(
        "demo", DOMAIN="alchemy", PFLOW_TIMEOUT="0.001", URANIBORG_PAPER_SEARCH__SESSIONS__REPLY_WITHIN_S="0"
    )
    assert done.returncode == 0, done.stderr
    assert "complete: 24 papers" in done.stdout
    assert "the same papers" in done.stdout
    assert "not run again" in done.stdout
