"""The real server over raw lines: for signals, disconnects, and every byte of its output."""

import json
import select
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader, BufferedWriter
from pathlib import Path
from typing import Any, cast

from tests.forked_processes import Forked
from tests.installed_programs import Program
from tests.pflow.mcp.agents import PATIENCE_S, SERVE, make_environment, make_working_folder
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED


class RawServer:
    def __init__(self, process: subprocess.Popen[bytes] | Forked) -> None:
        self.process = process
        self._received = bytearray()
        self.stdin, self.stdout, self.stderr = cast(
            "tuple[BufferedWriter, BufferedReader, BufferedReader]", (process.stdin, process.stdout, process.stderr)
        )

    def send(self, message: dict[str, Any]) -> None:
        self.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.stdin.flush()

    def call(self, tool: str, *, id: int | str = 1, progress: bool = False, **arguments: Any) -> None:  # noqa: A002
        meta = {"_meta": {"progressToken": f"of {id}"}} if progress else {}
        self.send({"id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments, **meta}})

    def receive(self) -> dict[str, Any]:
        """Return the next message."""
        while b"\n" not in self._received:
            assert select.select([self.stdout], [], [], PATIENCE_S)[0], "the server says nothing"
            got = self.stdout.read1(1 << 16)
            assert got, "the server is gone"
            self._received += got
        line, _, rest = bytes(self._received).partition(b"\n")
        self._received = bytearray(rest)
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def reply(self, id: int | str = 1) -> dict[str, Any]:  # noqa: A002
        """Return the reply of the tool to this request, which must be the next message."""
        message = self.receive()
        assert message["id"] == id, message
        return json.loads(message["result"]["content"][0]["text"])

    def initialize(self) -> None:
        self.send(INITIALIZE)
        assert self.receive()["result"]["serverInfo"]["name"] == "pflow"
        self.send(INITIALIZED)

    def exit_code(self) -> int:
        return self.process.wait(PATIENCE_S)


@contextmanager
def raw_server(home: Path, *, command: Sequence[str] = (), **env: str) -> Generator[RawServer]:
    """Yield an initialized server. Its stdin is open until the block ends or closes it.

    Without a `command` it is one that need not load anything first.
    """
    with _start_server(home, command, make_environment(home, **env)) as process:
        try:
            raw = RawServer(process)
            raw.initialize()
            yield raw
        finally:
            process.kill()


def _start_server(home: Path, command: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes] | Forked:
    if not command:
        return Program("pflow").start(*SERVE, env=env, cwd=make_working_folder(home))
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=make_working_folder(home), env=env)
