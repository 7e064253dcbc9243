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
"""Needs `who`, gives one output."""
BROKEN: Final[dict[str, Any]] = {
    "nodes": [
        {"id": "first", "type": "shell", "params": {"command": "echo one"}},
        {"id": "second", "type": "shell", "params": {"command": "echo oops >&2; exit 3"}},
    ],
    "edges": [{"from": "first", "to": "second"}],
}
"""Its first node ends well, and its second fails."""
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
        """The one line of JSON that is all of stdout."""
        assert self.out.count("\n") == 1, self.out
        assert self.out.endswith("\n")
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        return self.json["error"]


@dataclass(frozen=True)
class Workplace:
    """A working folder with a pflow home, both empty at first, and nothing of whoever runs the tests."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / ".pflow"

    @property
    def env(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        return {**kept, "HOME": str(self.folder), "URANIBORG_HOME": str(self.folder / "house"), "PYTHONUTF8": "1"}

    def draft(self, name: str, ir: Mapping[str, Any] | str) -> Path:
        path = self.home / "workflows" / "drafts" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ir if isinstance(ir, str) else json.dumps(ir, indent=2), encoding="utf-8")
        return path

    def saved(self, name: str, ir: Mapping[str, Any], description: str = "") -> Path:
        path = self.home / "workflows" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"name": name, "description": description, "ir": ir}), encoding="utf-8")
        return path

    def file(self, name: str, ir: Mapping[str, Any] | str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ir if isinstance(ir, str) else json.dumps(ir), encoding="utf-8")
        return path

    def started(self, *arguments: str, **options: Any) -> "subprocess.Popen[bytes]":
        """The command as a process, whose streams are pipes unless told otherwise."""
        pipe = subprocess.PIPE
        usual: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, "env": self.env}
        command = [sys.executable, "-m", "pflow", *arguments]
        process: Any = subprocess.Popen(command, cwd=self.folder, **{**usual, **options})
        return process

    def process(self, *arguments: str, given: bytes | None = None, **options: Any) -> CommandResult:
        """How the command ended as a process of its own; what is `given` is piped in."""
        if given is not None:
            options["stdin"] = subprocess.PIPE
        with self.started(*arguments, **options) as process:
            try:
                out, err = process.communicate(given, timeout=BOUND_S)
            finally:
                process.kill()
        return CommandResult(process.returncode, (out or b"").decode(), (err or b"").decode())


Ask = Callable[..., CommandResult]
"""What the command answers to these arguments, in this process."""
