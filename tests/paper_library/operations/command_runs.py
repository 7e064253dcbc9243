"""Runs of the command: in this process where possible, and as a separate process for servers."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from paper_library.cli.command import run_command
from tests.forked_processes import Forked
from tests.installed_programs import Program

COMMAND: Final = str(Path(sys.executable).with_name("paper-library"))
TIMEOUT_S: Final = 25.0
"""The timeout in seconds of everything that a test waits for."""


@dataclass(frozen=True)
class CommandResult:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error printed as JSON, which must be the only output."""
        reply = self.json
        assert reply.keys() == {"error"}
        assert {"code", "message", "hint"} <= reply["error"].keys()
        return reply["error"]


def call_command(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> CommandResult:
    """Run the command in this process and return its result."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        run_command([str(argument) for argument in arguments])
    output = capsys.readouterr()
    code = ended.value.code
    return CommandResult(code if isinstance(code, int) else 0, output.out, output.err)


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("URANIBORG_")}
    return {**env, "URANIBORG_HOME": str(home), "COLUMNS": "200", **more}


def run_process(
    *arguments: str | Path, cwd: Path, before: Callable[[], None] | None = None, **env: str
) -> CommandResult:
    """Run the command as a separate process and return its result."""
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=50,
        check=False,
        cwd=cwd,
        env=clean_environment(cwd / "home", **env),
        preexec_fn=before,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr)


class ServerProcess:
    """A server in a separate process."""

    def __init__(self, child: subprocess.Popen[bytes] | Forked, url: str, errors: Path) -> None:
        self.child = child
        self.url = url
        self._errors = errors
        self.client = httpx.Client(base_url=url, timeout=TIMEOUT_S)

    @property
    def stderr(self) -> str:
        return self._errors.read_text()

    @property
    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def workers(self) -> list[int]:
        """Return the process ids of the server's workers."""
        listed = Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children").read_text().split()
        return [int(pid) for pid in listed if b"spawn_main" in _command_line(pid)]

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.child.send_signal(how)
        return self.child.wait(TIMEOUT_S)


def _command_line(pid: str) -> bytes:
    """Return the command line of a process, or an empty text if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@contextmanager
def start_server(
    folder: Path, *arguments: str | Path, from_the_start: bool = False, **env: str
) -> Generator[ServerProcess]:
    """Run `paper-library serve` with these arguments on a free port until it replies.

    The server begins where it has loaded what it needs, or `from_the_start` as it is installed.
    """
    errors = folder / "serve.stderr"
    options = ["serve", *map(str, arguments), "--port", "0", "--json"]
    given = clean_environment(folder / "home", **env)
    child: subprocess.Popen[bytes] | Forked
    with errors.open("w") as stderr:
        if from_the_start:
            child = subprocess.Popen([COMMAND, *options], stdout=subprocess.PIPE, stderr=stderr, cwd=folder, env=given)
        else:
            child = Program("paper-library").start(*options, env=given, cwd=folder, stderr=stderr.fileno())
    with child:
        try:
            reply = json.loads(_read_first_line(child, errors))
            served = ServerProcess(child, reply["url"].replace("0.0.0.0", "127.0.0.1"), errors)
            with served.client:
                wait_until(lambda: _is_ready(served.client))
                yield served
        finally:
            child.kill()


def _read_first_line(child: subprocess.Popen[bytes] | Forked, errors: Path) -> bytes:
    assert child.stdout is not None
    with selectors.DefaultSelector() as waiting:
        waiting.register(child.stdout, selectors.EVENT_READ)
        assert waiting.select(TIMEOUT_S), "the server printed nothing"
    line = child.stdout.readline()
    assert line, errors.read_text()
    return line


def _is_ready(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def wait_until(holds: Callable[[], bool], within: float = TIMEOUT_S) -> None:
    """Wait for a condition, for a limited time."""
    import threading

    end = time.monotonic() + within
    pause = threading.Event()
    while not holds():
        assert time.monotonic() < end, "it never came to be"
        pause.wait(0.02)


def list_titles(found: dict[str, Any]) -> list[str]:
    return [hit["title"] for hit in found["results"]]
