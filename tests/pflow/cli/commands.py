"""The command under test, called in this process or started as a separate one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

BOUND_S: Final = 40
GREETER: Final[dict[str, Any]] = {
    "inputs": {"who": {"type": "string", "description": "Whom to greet"}},
    "nodes": [
        {"id": "hello", "type": "echo", "params": {"message": "Hello ${who}"}},
        {"id": "loud", "type": "echo", "params": {"message": "${hello.echo}!", "uppercase": True}},
    ],
    "edges": [{"from": "hello", "to": "loud"}],
    "outputs": {"greeting": {"source": "${loud.echo}"}},
}
"""Needs the input `who`, and has one output."""
BROKEN: Final[dict[str, Any]] = {
    "nodes": [
        {"id": "first", "type": "shell", "params": {"command": "echo one"}},
        {"id": "second", "type": "shell", "params": {"command": "echo oops >&2; exit 3"}},
    ],
    "edges": [{"from": "first", "to": "second"}],
}
"""The first node succeeds, and the second fails."""
ASKING: Final[dict[str, Any]] = {
    "nodes": [
        {"id": "before", "type": "shell", "params": {"command": "echo once >> before.txt"}},
        {"id": "ask", "type": "approval", "params": {"question": "Shall we?"}},
        {"id": "after", "type": "shell", "params": {"command": "echo done"}},
    ],
    "edges": [{"from": "before", "to": "ask"}, {"from": "ask", "to": "after"}],
    "outputs": {"said": {"source": "${after.stdout}"}},
}
"""Waits for a person after its first node."""


@dataclass(frozen=True)
class CommandResult:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The value of stdout, which must be one line of JSON."""
        assert self.out.count("\n") == 1, self.out
        assert self.out.endswith("\n")
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        return self.json["error"]


@dataclass(frozen=True)
class Workplace:
    """An empty working folder with a pflow home, and an environment without variables of the user."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / ".pflow"

    @property
    def env(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        folders = {"HOME": self.folder, "URANIBORG_HOME": self.folder / "house", "PFLOW_HOME": self.home}
        return {**kept, **{name: str(folder) for name, folder in folders.items()}, "PYTHONUTF8": "1"}

    def write_draft(self, name: str, ir: Mapping[str, Any] | str) -> Path:
        path = self.home / "workflows" / "drafts" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ir if isinstance(ir, str) else json.dumps(ir, indent=2), encoding="utf-8")
        return path

    def write_saved(self, name: str, ir: Mapping[str, Any], description: str = "") -> Path:
        path = self.home / "workflows" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"name": name, "description": description, "ir": ir}), encoding="utf-8")
        return path

    def write_file(self, name: str, ir: Mapping[str, Any] | str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ir if isinstance(ir, str) else json.dumps(ir), encoding="utf-8")
        return path

    def start_process(self, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        """Start the command as a process. Its streams are pipes unless `options` name others."""
        pipe = subprocess.PIPE
        usual: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, "env": self.env}
        command = [sys.executable, "-m", "pflow", *arguments]
        process: Any = subprocess.Popen(command, cwd=self.folder, **{**usual, **options})
        return process

    def run_process(self, *arguments: str, given: bytes | None = None, **options: Any) -> CommandResult:
        """Run the command as a process and return its result. `given` is its input."""
        if given is not None:
            options["stdin"] = subprocess.PIPE
        with self.start_process(*arguments, **options) as process:
            try:
                out, err = process.communicate(given, timeout=BOUND_S)
            finally:
                process.kill()
        return CommandResult(process.returncode, (out or b"").decode(), (err or b"").decode())


RunPflow = Callable[..., CommandResult]
"""Run the command with these arguments in this process, and return its result."""
