"""Fixtures of the tests of the command line."""

import os
from pathlib import Path

import pytest

from pflow.cli.main import main
from tests.pflow.cli.commands import CommandResult, RunPflow, Workplace


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def _do_nothing(_code: int) -> None:
    pass


@pytest.fixture
def run_pflow(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, workplace: Workplace) -> RunPflow:
    for name in [name for name in os.environ if name.startswith(("URANIBORG_", "PFLOW_", "COLUMNS"))]:
        monkeypatch.delenv(name)
    for name, value in workplace.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(workplace.folder)
    # A thread of a node that is about to end must not end the process of the tests.
    monkeypatch.setattr("pflow.cli.main._exit_at_once_if_nodes_run", _do_nothing)

    def answer(*arguments: str | Path) -> CommandResult:
        capsys.readouterr()
        monkeypatch.setattr("sys.argv", ["pflow", *map(str, arguments)])
        code: object = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        reply = capsys.readouterr()
        return CommandResult(code if isinstance(code, int) else 0, reply.out, reply.err)

    return answer
