"""`universe serve` in a separate process."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx

_PATIENCE_S: Final = 40
_POLL_S: Final = 0.05


@contextmanager
def start_server(home: Path, *options: str) -> Generator[dict[str, str]]:
    """Start `universe serve` with its universes under `home`, and provide its announcement until the block ends."""
    command = [sys.executable, "-m", "universe", "serve", "--port", "0", "--json"]
    database = f"sqlite:///{home / 'universes.db'}"
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [*command, "--db", database, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env=environment,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            _, stderr = process.communicate(timeout=_PATIENCE_S)
            raise AssertionError(f"the server did not start: {stderr}")
        announced = json.loads(line)
        assert "url" in announced, announced
        _wait_for(announced["url"])
        yield announced
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=_PATIENCE_S)
        assert "Traceback" not in stderr, stderr
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=_PATIENCE_S)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            if httpx.get(f"{url}/health", timeout=_PATIENCE_S).status_code == 200:
                return
        except httpx.ConnectError:
            if time.monotonic() > deadline:
                raise
        time.sleep(_POLL_S)
