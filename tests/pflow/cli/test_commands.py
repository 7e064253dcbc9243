"""`pflow` itself: its help, its version and errors in arguments."""

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.pflow.cli.commands import BOUND_S, RunPflow, Workplace
from uraniborg.kernel import version as versions

COMMANDS = (
    "run",
    "check",
    "graph",
    "list",
    "describe",
    "browse",
    "guide",
    "history",
    "show",
    "new",
    "save",
    "examples",
    "serve",
)
IN_GROUP = ("serve", "add", "list", "remove", "sync")


def test_the_help_lists_every_command(run_pflow: RunPflow) -> None:
    for option in ("-h", "--help"):
        report = run_pflow(option)
        assert report.code == 0
        for command in (*COMMANDS, "mcp"):
            assert f" {command} " in report.out
    report = run_pflow("mcp", "-h")
    for command in IN_GROUP:
        assert f" {command} " in report.out


@pytest.mark.parametrize("command", [*((name,) for name in COMMANDS), *(("mcp", name) for name in IN_GROUP)])
def test_every_command_has_help_that_names_json(run_pflow: RunPflow, command: tuple[str, ...]) -> None:
    for option in ("-h", "--help"):
        report = run_pflow(*command, option)
        assert report.code == 0
        assert report.err == ""
        assert "Usage: pflow" in report.out
        assert "--json" in report.out or command[-1] == "serve"


def test_without_a_command_the_help_is_shown(run_pflow: RunPflow) -> None:
    assert "Usage: pflow" in run_pflow().out
    assert "Usage: pflow mcp" in run_pflow("mcp").out


def test_the_version_is_that_of_the_package(run_pflow: RunPflow) -> None:
    number = version("uraniborg")
    for option in ("--version", "-V"):
        assert run_pflow(option).out == f"pflow {number}\n"
    assert run_pflow("--version", "--json").json == {"version": number}
    assert run_pflow("--version", "list").out == f"pflow {number}\n"


def test_the_version_is_unknown_without_a_metadata_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.path", [str(tmp_path), str(tmp_path / "nowhere")])
    assert versions.version() == "unknown"
    (tmp_path / "uraniborg-9.8.7.dist-info").mkdir()
    assert versions.version() == "9.8.7"


def test_a_closed_pipe_while_printing_the_version_is_not_an_error(workplace: Workplace) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with workplace.start_process("--version", stdout=writing) as process:
            _, err = process.communicate(timeout=BOUND_S)
    finally:
        os.close(writing)
    assert (process.returncode, err) == (0, b"")


@pytest.mark.parametrize(
    "command",
    [("-h",), ("mcp", "-h"), ("run", "-h"), ("guide",), ("browse",), ("browse", "--json"), ("list",), ("examples",)],
)
def test_a_closed_pipe_is_not_an_error_of_any_command(workplace: Workplace, command: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with workplace.start_process(*command, stdout=writing) as process:
            _, err = process.communicate(timeout=BOUND_S)
    finally:
        os.close(writing)
    assert (process.returncode, err) == (0, b"")


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_is_not_an_error_of_any_command(workplace: Workplace, closed: int) -> None:
    for command in (("list",), ("guide", "--json"), ("mcp", "list")):
        assert workplace.run_process(*command, preexec_fn=lambda: os.close(closed)).code == 0


def test_the_help_of_run_fits_eighty_columns(run_pflow: RunPflow) -> None:
    assert max(map(len, run_pflow("run", "-h").out.splitlines())) <= 80


def test_a_workflow_name_without_run_gives_a_hint(run_pflow: RunPflow) -> None:
    done = run_pflow("greet", "who=Ada")
    assert done.code == 2
    assert "No such command 'greet'." in done.err
    assert "`pflow run greet`" in done.err
    assert "Did you mean `pflow history`?" in run_pflow("histroy").err
    assert run_pflow("greet", "--json").error["code"] == "usage"


def test_all_commands_report_invalid_arguments_in_the_same_form(run_pflow: RunPflow) -> None:
    for given in (("check",), ("show", "a", "b"), ("history", "--limit", "x"), ("list", "--colour"), ("save", "a")):
        report = run_pflow(*given)
        assert report.code == 2
        assert report.err.startswith("error: ")
        assert run_pflow(*given, "--json").error["code"] == "usage"
