"""`universe serve` in a separate process that can be killed."""

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import httpx

from tests.forked_processes import Forked
from tests.installed_programs import Program

SOON: Final = 25.0
"""The timeout in seconds of everything that a test waits for."""


class Served:
    """A server that has announced its address."""

    def __init__(self, child: subprocess.Popen[bytes] | Forked, url: str, errors: Path) -> None:
        self.child = child
        self.url = url
        self._errors = errors

    @property
    def stderr(self) -> str:
        return self._errors.read_text()

    def wait_until_it_answers(self) -> None:
        end = time.monotonic() + SOON
        with httpx.Client(base_url=self.url, timeout=SOON) as client:
            while True:
                assert self.child.poll() is None, self.stderr
                assert time.monotonic() < end, "the server never answered"
                with suppress(httpx.TransportError):
                    assert client.get("/health").status_code == 200
                    return
                threading.Event().wait(0.02)

    def kill(self) -> None:
        self.child.kill()
        assert self.child.wait(SOON) == -signal.SIGKILL

    def stop(self) -> int:
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(SOON)


@contextmanager
def run_server_process(file: Path, *, from_the_start: bool = False, **settings: object) -> Generator[Served]:
    """Start a server of the universes in the file, on a free port, with these settings.

    The server is forked from a process that has loaded its modules, or started as a user does with `from_the_start`.
    """
    errors = file.with_suffix(".stderr")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("URANIBORG_")}
    environment |= {f"URANIBORG_UNIVERSE__{name.upper()}": str(value) for name, value in settings.items()}
    environment["URANIBORG_HOME"] = str(file.parent / "home")
    arguments = ["serve", "--db", f"sqlite:///{file}", "--port", "0", "--json"]
    child: subprocess.Popen[bytes] | Forked
    with errors.open("w") as stderr:
        if from_the_start:
            command = [sys.executable, "-m", "universe", *arguments]
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, cwd=file.parent, env=environment)
        else:
            child = Program("universe").start(*arguments, env=environment, cwd=file.parent, stderr=stderr.fileno())
    with child:
        try:
            assert child.stdout is not None
            with selectors.DefaultSelector() as waiting:
                waiting.register(child.stdout, selectors.EVENT_READ)
                assert waiting.select(SOON), "the server printed nothing"
            line = child.stdout.readline()
            assert line, errors.read_text()
            assert "url" in json.loads(line), line
            served = Served(child, json.loads(line)["url"], errors)
            served.wait_until_it_answers()
            yield served
        finally:
            child.kill()
