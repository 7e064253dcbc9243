"""The front door and the demo."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from paper_search.models import PaperCollection
from tests.forked_processes import template
from tests.pasted_blocks import make_pasting_environment, paste
from tests.shared_folders import PATIENCE_S, make_once
from uraniborg.recordings import QUERY

Command = Callable[..., subprocess.CompletedProcess[str]]
LOADED = (
    *("uraniborg.demo", "uraniborg.demo_session", "uraniborg.demo_shelf", "uraniborg.demo_universe"),
    *("uraniborg.demo_workflow", "rich.table", "structlog"),
)


def environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "URANIBORG_HOME": str(folder / "home"), "COLUMNS": "100", "NO_COLOR": "1", **more}


def run_from_the_start(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("uraniborg"), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        cwd=folder,
        env=environment(folder, more),
    )


def run_loaded(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process that is forked after it has imported the demo."""
    loaded = template("uraniborg.cli:main", *LOADED)
    return loaded.run(*arguments, env=environment(folder, more), cwd=folder, within_s=PATIENCE_S)


@pytest.fixture
def uraniborg(tmp_path: Path) -> Command:
    return partial(run_loaded, tmp_path)


@dataclass(frozen=True)
class Demo:
    """A demo that was run, and the folder that it was run in."""

    folder: Path
    returncode: int
    stdout: str
    stderr: str


def show(run: Command, folder: Path, **more: str) -> None:
    done = run(folder, "demo", **more)
    result = {"returncode": done.returncode, "stdout": done.stdout, "stderr": done.stderr}
    (folder / "result.json").write_text(json.dumps(result))


def shown_in(folder: Path) -> Demo:
    return Demo(folder, **json.loads((folder / "result.json").read_text()))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    def make(folder: Path) -> None:
        (folder / "tmp").mkdir()
        show(run_from_the_start, folder, PFLOW_HOME=str(folder / "pflow"), TMPDIR=str(folder / "tmp"))

    return shown_in(make_once(tmp_path_factory, "demo", make))


@pytest.fixture(scope="session")
def second_demo(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Run the demo in a folder that has an earlier one, with all settings changed."""

    def make(folder: Path) -> None:
        shutil.copytree(demo.folder, folder, dirs_exist_ok=True)
        (folder / ".env").write_text("DOMAIN=alchemy\n")
        settings = {"PFLOW_TIMEOUT": "0.001", "URANIBORG_PAPER_SEARCH__SESSIONS__REPLY_WITHIN_S": "0"}
        show(run_loaded, folder, DOMAIN="alchemy", **settings)

    return shown_in(make_once(tmp_path_factory, "second demo", make))


takes_long = pytest.mark.timeout(2 * PATIENCE_S)


@takes_long
def test_the_demo_shows_both_checkpoints_the_sources_the_papers_and_the_files(demo: Demo) -> None:
    assert demo.returncode == 0, demo.stderr
    for shown in (QUERY, "Checkpoint 1 of 2", "Checkpoint 2 of 2", "approved", "rate limited", "dedup", "papers.bib"):
        assert shown in demo.stdout
    assert (demo.folder / "demo-output" / "papers.bib").read_text().startswith("@article{")


@takes_long
def test_the_files_of_the_demo_are_for_their_owner_alone(demo: Demo) -> None:
    output = demo.folder / "demo-output"
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (output, *output.rglob("*"))}
    assert modes == {(True, 0o700), (False, 0o600)}


@takes_long
def test_the_demo_refuses_a_mass_that_no_row_states_and_shows_the_row_of_the_mass_that_it_sets(demo: Demo) -> None:
    assert demo.returncode == 0, demo.stderr
    _, _, act = demo.stdout.partition("A workflow through all parts")
    act, _, _ = act.partition("Written")
    printed = " ".join(act.split())
    for shown in (
        "mass=42 ✔ search, shelve, find, read, rows ✘ claim: No table row of Agol et al. (2021) on the shelf states 42",
        "No value was set. The results of 5 nodes are stored.",
        "↺ search, shelve, find, read, rows: unchanged, reused ✔ claim, set, look",
        "Agol et al. 2021, doi:10.3847/psj/abd022",
        "planet mass [M⊕] radius [R⊕] a [10^{-2} AU] e 0.692 ± 0.022 0.920 +0.013 −0.012 2.925 ± 0.025",
        "TRAPPIST-1 e: 0.692 ± 0.022 Earth masses, or 2.078e-06 solar masses",
        "supported: the row is on the shelf",
    ):
        assert shown in printed
    assert not (demo.folder / "pflow").exists()
    assert list((demo.folder / "tmp").iterdir()) == []


@takes_long
def test_the_demo_marks_its_own_texts_and_computations_as_its_own(demo: Demo) -> None:
    printed = " ".join(demo.stdout.split())
    assert "8 bodies with values from 1 paper and 1 computation of ours" in printed
    _, _, shelf = printed.partition("A shelf of these papers")
    shelf, _, _ = shelf.partition("A universe of the same system")
    hits = shelf.split("• ")[1:]
    assert len(hits) == 4
    assert all("Our summary: " in hit or "Our text: " in hit for hit in hits)


@pytest.mark.timeout(3 * PATIENCE_S)
def test_the_lines_at_the_end_of_the_demo_work_as_pasted_and_without_a_network(demo: Demo, tmp_path: Path) -> None:
    shutil.copytree(demo.folder / "demo-output", tmp_path / "demo-output")
    env = make_pasting_environment(tmp_path)
    del env["URANIBORG_PAPER_SEARCH__REPLAY_DIR"]
    _, _, end = demo.stdout.partition("Next, type one of these")
    lines = [line.strip() for line in end.splitlines() if line.startswith("    ")]
    assert len(lines) == 4
    for line in lines:
        code, output = paste(line, tmp_path, env)
        assert code == 0, output
    assert "24 papers" in paste("paper-search sessions list", tmp_path, env)[1]


@takes_long
def test_the_demo_can_be_run_twice(demo: Demo, second_demo: Demo) -> None:
    assert second_demo.stdout == demo.stdout


@takes_long
def test_the_demo_does_not_depend_on_settings(second_demo: Demo) -> None:
    assert second_demo.returncode == 0, second_demo.stderr
    assert "complete: 24 papers" in second_demo.stdout
    assert "the same papers" in second_demo.stdout
    assert "unchanged, reused" in second_demo.stdout


def test_the_demo_as_json_prints_the_collection_and_nothing_else(uraniborg: Command) -> None:
    done = uraniborg("demo", "--json")
    assert PaperCollection.model_validate_json(done.stdout).metadata.query == QUERY
    assert done.stderr == ""


def test_the_demo_says_when_its_folder_cannot_be_written(uraniborg: Command, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    done = uraniborg("demo", "--json", "--output", "taken")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["hint"]


def test_the_version_is_printed_as_text_and_as_json(uraniborg: Command) -> None:
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
