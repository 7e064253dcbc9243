"""`pflow` itself: its help, its version and errors in arguments."""

import os
from importlib.metadata import version
from pathlib import Path

import pytest

from pflow.cli import version as versions
from tests.pflow.cli.commands import BOUND_S, Ask, Workplace

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
)
IN_GROUP = ("serve", "add", "list", "remove", "sync")


def test_the_help_lists_every_command(ask: Ask) -> None:
    for option in ("-h", "--help"):
        told = ask(option)
        assert told.code == 0
        for command in (*COMMANDS, "mcp"):
            assert f" {command} " in told.out
    told = ask("mcp", "-h")
    for command in IN_GROUP:
        assert f" {command} " in told.out


@pytest.mark.parametrize("command", [*((name,) for name in COMMANDS), *(("mcp", name) for name in IN_GROUP)])
def test_every_command_has_help_that_names_json(ask: Ask, command: tuple[str, ...]) -> None:
    for option in ("-h", "--help"):
        told = ask(*command, option)
        assert told.code == 0
        assert told.err == ""
        assert "Usage: pflow" in told.out
        assert "--json" in told.out or command == ("mcp", "serve")


def test_without_a_command_the_help_is_shown(ask: Ask) -> None:
    assert "Usage: pflow" in ask().out
    assert "Usage: pflow mcp" in ask("mcp").out


def test_the_version_is_that_of_the_package(ask: Ask) -> None:
    number = version("uraniborg")
    for option in ("--version", "-V"):
        assert ask(option).out == f"pflow {number}\n"
    assert ask("--version", "--json").json == {"version": number}
    assert ask("--version", "list").out == f"pflow {number}\n"


def test_the_version_is_unknown_without_a_metadata_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.path", [str(tmp_path), str(tmp_path / "nowhere")])
    assert versions.version() == "unknown"
    (tmp_path / "uraniborg-9.8.7.dist-info").mkdir()
    assert versions.version() == "9.8.7"


def test_a_closed_pipe_while_printing_the_version_is_not_an_error(place: Workplace) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with place.started("--version", stdout=writing) as process:
            _, err = process.communicate(timeout=BOUND_S)
    finally:
        os.close(writing)
    assert (process.returncode, err) == (0, b"")


@pytest.mark.parametrize(
    "command",
    [("-h",), ("mcp", "-h"), ("run", "-h"), ("guide",), ("browse",), ("browse", "--json"), ("list",), ("examples",)],
)
def test_a_closed_pipe_is_not_an_error_of_any_command(place: Workplace, command: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        with place.started(*command, stdout=writing) as process:
            _, err = process.communicate(timeout=BOUND_S)
    finally:
        os.close(writing)
    assert (process.returncode, err) == (0, b"")


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_is_not_an_error_of_any_command(place: Workplace, closed: int) -> None:
    for command in (("list",), ("guide", "--json"), ("mcp", "list")):
        assert place.process(*command, preexec_fn=lambda: os.close(closed)).code == 0


def test_the_help_of_run_fits_eighty_columns(ask: Ask) -> None:
    assert max(map(len, ask("run", "-h").out.splitlines())) <= 80


def test_a_workflow_name_without_run_gives_a_hint(ask: Ask) -> None:
    done = ask("greet", "who=Ada")
    assert done.code == 2
    assert "No such command 'greet'." in done.err
    assert "`pflow run greet`" in done.err
    assert "Did you mean `pflow history`?" in ask("histroy").err
    assert ask("greet", "--json").error["code"] == "usage"


def test_all_commands_report_invalid_arguments_in_the_same_form(ask: Ask) -> None:
    for given in (("check",), ("show", "a", "b"), ("history", "--limit", "x"), ("list", "--colour"), ("save", "a")):
        told = ask(*given)
        assert told.code == 2
        assert told.err.startswith("error: ")
        assert ask(*given, "--json").error["code"] == "usage"
