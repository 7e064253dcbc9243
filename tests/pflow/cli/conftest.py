"""Fixtures of the tests of the command line."""

import os
from pathlib import Path

import pytest

from pflow.__main__ import main
from tests.pflow.cli.commands import Ask, CommandResult, Workplace


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place: Workplace) -> Ask:
    for name in [name for name in os.environ if name.startswith(("URANIBORG_", "PFLOW_", "COLUMNS"))]:
        monkeypatch.delenv(name)
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.folder)

    def answer(*arguments: str | Path) -> CommandResult:
        capsys.readouterr()
        monkeypatch.setattr("sys.argv", ["pflow", *map(str, arguments)])
        code: object = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        said = capsys.readouterr()
        return CommandResult(code if isinstance(code, int) else 0, said.out, said.err)

    return answer
