"""Starting a child process, feeding its input and seeing its end: the parts that only the system can do."""

import asyncio
import errno
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pflow.errors import NodeFailed


@dataclass(frozen=True, slots=True)
class Started:
    """A child, and our ends of its pipes; the one of its input is -1 if it has none."""

    process: subprocess.Popen[bytes]
    stdin: int
    stdout: int
    stderr: int


def start(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    with_input: bool = False,
    pass_fds: Sequence[int] = (),
) -> Started:
    """Start a program as the leader of a session of its own, with this environment alone. Raises NodeFailed."""
    opened: list[int] = []

    def pipe() -> tuple[int, int]:
        ends = os.pipe()
        opened.extend(ends)
        return ends

    try:
        stdin, feeding = pipe() if with_input else (subprocess.DEVNULL, -1)
        stdout, stdout_end = pipe()
        stderr, stderr_end = pipe()
        process = subprocess.Popen(  # noqa: S603 - what is run is what the workflow says
            list(argv),
            stdin=stdin,
            stdout=stdout_end,
            stderr=stderr_end,
            cwd=cwd,
            env=dict(environment),
            start_new_session=True,
            pass_fds=tuple(pass_fds),
        )
    except BaseException as exc:
        for end in opened:
            os.close(end)
        if isinstance(exc, OSError | ValueError):
            raise _not_started(argv[0], cwd, exc) from exc
        raise
    for end in (stdin, stdout_end, stderr_end):
        if end >= 0:
            os.close(end)
    return Started(process, feeding, stdout, stderr)


class Watch:
    """Calls `ended` on the loop when the process has ended.

    It does not reap the process where the system can do without: until it is reaped nobody else gets its number, so
    that a signal to its group reaches nobody else.
    """

    def __init__(self, process: subprocess.Popen[bytes], ended: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = ended
        self._descriptor = -1
        try:
            self._descriptor = os.pidfd_open(process.pid)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait, args=(process,), daemon=True).start()
        else:
            self._loop.add_reader(self._descriptor, self._seen)

    def close(self) -> None:
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _seen(self) -> None:
        self.close()
        self._ended()

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        with suppress(RuntimeError):  # the loop may have given up on a child that not even SIGKILL could end
            self._loop.call_soon_threadsafe(self._ended)


class Feeder:
    """Writes a child's input into its pipe as fast as it is read, then closes it."""

    def __init__(self, descriptor: int, data: bytes) -> None:
        os.set_blocking(descriptor, False)
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._left = memoryview(data)
        self._loop.add_writer(descriptor, self._write)

    def close(self) -> None:
        if self._descriptor >= 0:
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _write(self) -> None:
        try:
            self._left = self._left[os.write(self._descriptor, self._left) :]
        except BlockingIOError:
            return
        except OSError:  # it ended, or closed its input, without reading all of it, as it may
            self._left = self._left[:0]
        if not self._left:
            self.close()


def _not_started(program: str, cwd: Path, exc: OSError | ValueError) -> NodeFailed:
    if isinstance(exc, ValueError):
        return NodeFailed(
            f"'{program}' could not be started: {exc}.", hint="Arguments and environment are text without NUL."
        )
    if not cwd.is_dir():
        return NodeFailed(f"There is no folder {str(cwd)!r} to run in.", hint="Make it first, or name another `cwd`.")
    if isinstance(exc, FileNotFoundError):
        return NodeFailed(f"There is no program '{program}'.", hint="Install it, or put its folder into PATH.")
    if exc.errno == errno.E2BIG:
        return NodeFailed(
            f"'{program}' could not be started: its arguments or its environment are too long.",
            hint="Pass a large value through `stdin` or a file. One argument holds at most 128 KiB here.",
        )
    return NodeFailed(f"'{program}' could not be started: {exc.strerror or exc}.")
