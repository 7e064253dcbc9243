"""Commands that a person copies start the programs of this installation from any folder."""

import shlex
import sys
from pathlib import Path

import pytest

from uraniborg.connect.server_entries import format_claude_command, format_program, make_pflow_server
from uraniborg.kernel.errors import Unavailable


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the Python of an installation without programs, which is on PATH and the current folder."""
    folder = tmp_path / "my venv" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.chdir(folder)
    return folder


def install_program(folder: Path, name: str) -> Path:
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_the_command_for_claude_has_the_whole_path_of_the_program_in_quotes(programs: Path) -> None:
    program = install_program(programs, "pflow")
    assert format_program("pflow") == "pflow"
    assert format_claude_command(make_pflow_server()) == f"claude mcp add pflow -- '{program}' mcp serve"


def test_a_program_that_is_not_installed_is_named_by_its_module(programs: Path) -> None:
    assert shlex.split(format_program("paper-search")) == [str(programs / "python"), "-m", "paper_search"]
    with pytest.raises(Unavailable):
        make_pflow_server()
