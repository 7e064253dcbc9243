"""Tests of the search command, run as a user runs it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paper_search.models import PaperCollection
from tests.installed_programs import Program
from tests.requirements import requirement
from uraniborg.recordings import QUERY, RECORDING

Command = Callable[..., subprocess.CompletedProcess[str]]


def environment(folder: Path) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("URANIBORG_")}
    return env | {"URANIBORG_HOME": str(folder / "home"), "COLUMNS": "100"}


@pytest.fixture
def module(tmp_path: Path) -> Command:
    """Return a function that runs the command in a new process."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "paper_search", *arguments],
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
            cwd=tmp_path,
            env=environment(tmp_path),
        )

    return run


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Return a function that runs the command in a process that has already loaded it."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return Program("python").run("-m", "paper_search", *arguments, env=environment(tmp_path), cwd=tmp_path)

    return run


@requirement("PS-C5")
def test_without_arguments_usage_is_on_stderr_and_the_exit_code_is_1(module: Command) -> None:
    done = module()
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines()[0] == "Usage: python -m paper_search <query>"


@requirement("PS-C5")
def test_arguments_are_joined_to_one_query_and_markdown_is_on_stdout(module: Command) -> None:
    done = module("--replay", str(RECORDING), *QUERY.split())
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "| # | Title | Authors | Year | Venue | Score |"
    assert lines[1] == "|---|-------|---------|------|-------|-------|"
    assert lines[2].startswith("| 1 | ")


def test_progress_and_source_reports_are_on_stderr(command: Command) -> None:
    done = command("--replay", str(RECORDING), QUERY)
    assert "Searching " in done.stderr
    assert "Semantic Scholar         rate limited" in done.stderr
    assert "Partial result" in done.stderr


def test_quiet_writes_nothing_to_stderr(command: Command) -> None:
    assert command("--quiet", "--replay", str(RECORDING), QUERY).stderr == ""


def test_a_replay_without_a_query_uses_the_recorded_one(command: Command) -> None:
    whole = command("--quiet", "--replay", str(RECORDING), QUERY)
    bare = command("--quiet", "--replay", str(RECORDING))
    assert bare.returncode == 0
    assert bare.stdout == whole.stdout


def test_json_is_the_whole_collection(command: Command) -> None:
    done = command("--json", "--replay", str(RECORDING))
    collection = PaperCollection.model_validate_json(done.stdout)
    assert collection.metadata.query == QUERY


@pytest.mark.parametrize(
    ("option", "beginning"),
    [("--bibtex", "@"), ("--ris", "TY  - "), ("--csl-json", "["), ("--search-log", "# Search log")],
)
def test_other_formats_can_be_chosen(command: Command, option: str, beginning: str) -> None:
    done = command(option, "--quiet", "--replay", str(RECORDING))
    assert done.returncode == 0
    assert done.stdout.lstrip("\n1. ").startswith(beginning)


def test_two_formats_at_once_are_refused(command: Command) -> None:
    done = command("--ris", "--bibtex", "--replay", str(RECORDING))
    assert done.returncode == 2
    assert "one output format" in done.stderr


def test_json_with_a_format_reports_the_file_of_that_format(command: Command, tmp_path: Path) -> None:
    done = command("--bibtex", "--json", "-o", "papers.txt", "--quiet", "--replay", str(RECORDING), QUERY)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"path": "papers.txt", "format": "bibtex"}
    assert (tmp_path / "papers.txt").read_text().startswith("@")


def test_only_the_named_sources_are_searched(command: Command) -> None:
    done = command("--json", "--source", "crossref", "--replay", str(RECORDING))
    reports = PaperCollection.model_validate_json(done.stdout).metadata.sources
    assert [report.name for report in reports] == ["crossref"]


def test_max_results_reaches_the_search_and_a_replay_notes_that_it_ignores_it(command: Command) -> None:
    done = command("--max-results", "5", "--replay", str(RECORDING))
    assert "max_results is 100 as recorded, not 5" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--json", "--max-results", "0", "moons"], "invalid_argument"),
        (["--json", "--max-results", "many", "moons"], "usage"),
        (["--json", "--domain", "alchemy", "moons"], "unknown_domain"),
        (["--json", "--source", "gogle", "moons"], "unknown_source"),
        (["--json", "--replay", "nowhere"], "invalid_recording"),
        (["--json", "--no-such-option", "moons"], "usage"),
        (["--json", "?"], "invalid_query"),
        (["--json", "x" * 10_000], "invalid_query"),
        (["--json", "(stem AND (cancer OR"], "invalid_query"),
        (["--json", "papers citing 10.1038/nature14539"], "unsupported_query"),
    ],
)
def test_bad_input_is_one_json_error_on_stdout_with_exit_code_2(
    command: Command, arguments: list[str], code: str
) -> None:
    done = command(*arguments)
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["code"] == code
    assert error["message"]
    assert error["hint"]


def test_without_json_an_error_is_on_stderr_with_a_hint(module: Command) -> None:
    done = module("--domain", "alchemy", "moons")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "error:" in done.stderr
    assert "materials_science" in done.stderr


def test_a_search_can_be_recorded_and_replayed(command: Command, tmp_path: Path) -> None:
    first = command("--quiet", "--replay", str(RECORDING), "--record", "kept", QUERY)
    assert first.returncode == 0, first.stderr
    assert command("--quiet", "--replay", "kept").stdout == first.stdout


def test_recording_into_a_folder_that_is_not_empty_is_refused(command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    done = command("--replay", str(RECORDING), "--record", "mine", QUERY)
    assert done.returncode == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
