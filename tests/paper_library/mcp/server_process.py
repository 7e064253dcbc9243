"""The real server: the command in a separate process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.paper_library.mcp.http_client import Caller

COMMAND = str(Path(sys.executable).with_name("paper-library"))
_PATIENCE_S = 40
_POLL_S = 0.05


@dataclass
class ServerProcess:
    caller: Caller
    announced: dict[str, Any]
    pid: int


def make_environment(home: Path) -> dict[str, str]:
    """Return a minimal environment, so that settings of the machine have no effect."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}


@contextmanager
def start_server(shelf: Path, home: Path, *options: str, before: Sequence[str] = ()) -> Generator[ServerProcess]:
    """Run `paper-library serve` on a free port; `before` is a prefix of the command."""
    command = [*before, COMMAND, "serve", str(shelf), "--port", "0", "--json", *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home, env=make_environment(home)
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            _, stderr = process.communicate(timeout=_PATIENCE_S)
            raise AssertionError(f"the server did not start: {stderr}")
        announced = json.loads(line)
        _wait_until_ready(announced["url"])
        caller = Caller(announced["url"])
        with caller.http:
            yield ServerProcess(caller, announced, process.pid)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=_PATIENCE_S)
        assert "Traceback" not in stderr, stderr
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=_PATIENCE_S)


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            if httpx.get(f"{url}/healthz", timeout=_PATIENCE_S).status_code == 200:
                return
        except httpx.ConnectError:
            if time.monotonic() > deadline:
                raise
        time.sleep(_POLL_S)
