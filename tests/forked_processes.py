"""Fork test programs from a process that has imported the project, because importing takes longer than most tests.

Tests of how a program starts run the installed program instead.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

SOON: Final = 30.0
ROOT: Final = Path(__file__).resolve().parents[1]
FORKED_COMMAND: Final = Path(__file__).with_name("forked_command.py")


class Forked:
    """A process of its own with pipes to it: as much of `subprocess.Popen` as a test needs."""

    def __init__(self, stdin: int, stdout: int, stderr: int, reports: int) -> None:
        self.stdin = os.fdopen(stdin, "wb")
        self.stdout = os.fdopen(stdout, "rb")
        self.stderr = os.fdopen(stderr, "rb")
        self.returncode: int | None = None
        self._reports = os.fdopen(reports, "r")
        self.pid = int(self._reports.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for stream in (self.stdout, self.stderr, self.stdin):
            stream.close()
        self.wait()

    def poll(self) -> int | None:
        return self._wait_for_returncode(0)

    def wait(self, timeout: float = SOON) -> int:
        returncode = self._wait_for_returncode(timeout)
        if returncode is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _wait_for_returncode(self, seconds: float) -> int | None:
        if self.returncode is None and select.select([self._reports], [], [], seconds)[0]:
            self.returncode = int(self._reports.readline())
            self._reports.close()
        return self.returncode


class Template:
    """A process that has imported `modules`, and whose children run `main` ("module:function")."""

    def __init__(self, main: str, *modules: str) -> None:
        self._control, theirs = socket.socketpair()
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self._temporary.name)
        """A folder that exists as long as this process."""
        self._address = str(self.folder / "socket")
        with theirs, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._address)
            listener.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno()), str(listener.fileno()), main, *modules],
                stdin=subprocess.PIPE,  # children inherit pipes, as under subprocess
                stdout=subprocess.PIPE,
                pass_fds=[theirs.fileno(), listener.fileno()],
                env={"PATH": os.environ.get("PATH", "")},
            )
        atexit.register(self._close)

    def command(self, *arguments: str) -> list[str]:
        """Return a command that forks a child with these arguments, for programs that start it themselves."""
        return [sys.executable, "-I", "-S", str(FORKED_COMMAND), self._address, *arguments]

    def start(self, *arguments: str, env: Mapping[str, str], cwd: Path, stderr: int | None = None) -> Forked:
        """Start a child with pipes for its streams, or with the given `stderr`."""
        (stdin, to_it), *readable = os.pipe(), os.pipe(), os.pipe(), os.pipe()
        theirs = [stdin, *(end for _, end in readable)]
        streams = theirs if stderr is None else [*theirs[:2], stderr, theirs[3]]
        given = json.dumps({"arguments": arguments, "env": dict(env), "cwd": str(cwd)}).encode()
        try:
            socket.send_fds(self._control, [len(given).to_bytes(4, "big")], streams)
            self._control.sendall(given)
        finally:
            for end in theirs:
                os.close(end)
        process = Forked(to_it, *(end for end, _ in readable))
        if stderr is not None:
            process.stderr.close()
        return process

    def run(
        self, *arguments: str, env: Mapping[str, str], cwd: Path, given: str = "", within_s: float = SOON
    ) -> subprocess.CompletedProcess[str]:
        with ThreadPoolExecutor() as readers, self.start(*arguments, env=env, cwd=cwd) as process:
            stdout, stderr = readers.submit(process.stdout.read), readers.submit(process.stderr.read)
            try:
                process.stdin.write(given.encode())
                process.stdin.close()
                process.wait(within_s)
            finally:
                process.kill()
            return subprocess.CompletedProcess(
                arguments, process.wait(), stdout.result(SOON).decode(), stderr.result(SOON).decode()
            )

    def _close(self) -> None:
        self._control.close()
        self._process.communicate(timeout=SOON)
        self._temporary.cleanup()


@functools.cache
def template(main: str, *modules: str) -> Template:
    """Return this worker's template process for these modules."""
    return Template(main, *modules)


def _fork_at_every_request(control: socket.socket, listener: socket.socket) -> dict[str, Any]:
    """Fork at every request; return in the children only, with the request."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([control, listener], [], [])
        asking = control if control in ready else listener.accept()[0]
        length, streams, _, _ = socket.recv_fds(asking, 4, 4)
        if not length and asking is control:
            os._exit(0)
        asked = _read_request(asking, length)
        if asking is not control:
            asking.close()
        if asked is None:  # the command that asked was killed
            for stream in streams:
                os.close(stream)
            continue
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            listener.close()
            _fork_and_report(*streams)
            return asked
        for stream in streams:
            os.close(stream)


def _read_request(asking: socket.socket, length: bytes) -> dict[str, Any] | None:
    """Return the request, or None if it is not complete."""
    size = int.from_bytes(length, "big")
    try:
        given = asking.recv(size, socket.MSG_WAITALL) if len(length) == 4 else b""
    except ConnectionError:
        return None
    return json.loads(given) if size and len(given) == size else None


def _fork_and_report(stdin: int, stdout: int, stderr: int, report: int) -> None:
    """Continue in a child with these streams; this process only reports the pid and the exit code of the child."""
    child = os.fork()
    if child:
        for stream in (0, 1, 2, stdin, stdout, stderr):
            os.close(stream)
        os.write(report, f"{child}\n".encode())
        _wait_for_end(child, report)
        _, status = os.waitpid(child, 0)
        with suppress(BrokenPipeError):
            os.write(report, f"{os.waitstatus_to_exitcode(status)}\n".encode())
        os._exit(0)
    for number, stream in enumerate((stdin, stdout, stderr)):
        os.dup2(stream, number)
        os.close(stream)
    os.close(report)


def _wait_for_end(child: int, report: int) -> None:
    """Wait until the child ends. Kill it if nobody can read the report any more, because its command was killed."""
    if not hasattr(os, "pidfd_open"):
        return
    ended = os.pidfd_open(child)
    ends = select.poll()
    ends.register(ended, select.POLLIN)
    ends.register(report, 0)
    if (ended, select.POLLIN) not in ends.poll():
        os.kill(child, signal.SIGKILL)


def _run_template(control: str, listener: str, main: str, *modules: str) -> None:
    sys.path.append(str(ROOT))
    module, _, function = main.partition(":")
    run = getattr(importlib.import_module(module), function)
    for each in modules:
        importlib.import_module(each)
    gc.collect()
    gc.freeze()  # garbage collection in a child would copy every page of memory
    asked = _fork_at_every_request(socket.socket(fileno=int(control)), socket.socket(fileno=int(listener)))
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(asked["cwd"])
    sys.path[:0] = filter(None, asked["env"].get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = [main, *asked["arguments"]]
    sys.exit(run())


if __name__ == "__main__":
    _run_template(*sys.argv[1:])
