"""The command `universe` in this process, and its results."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from universe.cli import run


@dataclass(frozen=True)
class CommandResult:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output, which must be one line of JSON."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error, which must be the only output."""
        assert self.json.keys() == {"error"}
        assert {"code", "message", "hint"} <= self.json["error"].keys()
        assert self.json["error"]["hint"]
        assert self.err == ""
        return self.json["error"]


RunUniverse = Callable[..., CommandResult]


@pytest.fixture
def run_universe(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RunUniverse:
    """Return a function that runs `universe` with a data folder of the test and returns the result."""
    for name in [name for name in os.environ if name.startswith("URANIBORG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments: str | Path) -> CommandResult:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        code = ended.value.code
        return CommandResult(code if isinstance(code, int) else 0, printed.out, printed.err)

    return run_command
