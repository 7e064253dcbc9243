"""Start, feed and reap child processes with calls of the system."""

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
class StartedProcess:
    """A child, and our ends of its pipes; the one of its input is -1 if it has none."""

    process: subprocess.Popen[bytes]
    stdin: int
    stdout: int
    stderr: int


def start_process(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    with_input: bool = False,
    pass_fds: Sequence[int] = (),
) -> StartedProcess:
    """Start a program as the leader of a new session, with exactly this environment. Raise NodeFailed."""
    opened: list[int] = []

    def open_pipe() -> tuple[int, int]:
        ends = os.pipe()
        opened.extend(ends)
        return ends

    try:
        stdin, feeding = open_pipe() if with_input else (subprocess.DEVNULL, -1)
        stdout, stdout_end = open_pipe()
        stderr, stderr_end = open_pipe()
        process = subprocess.Popen(  # noqa: S603 - the workflow names the program
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
            raise _make_start_error(argv[0], cwd, exc) from exc
        raise
    for end in (stdin, stdout_end, stderr_end):
        if end >= 0:
            os.close(end)
    return StartedProcess(process, feeding, stdout, stderr)


class ExitWatch:
    """Calls a function on the event loop when the process has exited.

    The process is not reaped if the system allows it: until then its id is not reused, so a signal to its group reaches
    no other process.
    """

    def __init__(self, process: subprocess.Popen[bytes], on_exit: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._on_exit = on_exit
        self._descriptor = -1
        try:
            self._descriptor = os.pidfd_open(process.pid)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait_in_thread, args=(process,), daemon=True).start()
        else:
            self._loop.add_reader(self._descriptor, self._handle_exit)

    def close(self) -> None:
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _handle_exit(self) -> None:
        self.close()
        self._on_exit()

    def _wait_in_thread(self, process: subprocess.Popen[bytes]) -> None:
        if hasattr(os, "waitid"):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        else:
            process.wait()
        with suppress(RuntimeError):  # the loop may have given up on a child that not even SIGKILL could end
            self._loop.call_soon_threadsafe(self._on_exit)


class InputFeeder:
    """Writes a child's input into its pipe as fast as it is read, then closes it."""

    def __init__(self, descriptor: int, data: bytes) -> None:
        os.set_blocking(descriptor, False)
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._left = memoryview(data)
        self._loop.add_writer(descriptor, self._write_as_much_as_possible)

    def close(self) -> None:
        if self._descriptor >= 0:
            self._loop.remove_writer(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1

    def _write_as_much_as_possible(self) -> None:
        try:
            self._left = self._left[os.write(self._descriptor, self._left) :]
        except BlockingIOError:
            return
        except OSError:  # it ended, or closed its input, without reading all of it, as it may
            self._left = self._left[:0]
        if not self._left:
            self.close()


def _make_start_error(program: str, cwd: Path, exc: OSError | ValueError) -> NodeFailed:
    if isinstance(exc, ValueError):
        return NodeFailed(
            f"'{program}' could not be started: {exc}.", hint="Arguments and environment are text without NUL."
        )
    if not cwd.is_dir():
        return NodeFailed(f"There is no folder {str(cwd)!r} to run in.", hint="Create it first, or set another `cwd`.")
    if isinstance(exc, FileNotFoundError):
        return NodeFailed(f"There is no program '{program}'.", hint="Install it, or put its folder into PATH.")
    if exc.errno == errno.E2BIG:
        return NodeFailed(
            f"'{program}' could not be started: its arguments or its environment are too long.",
            hint="Pass a large value through `stdin` or a file. One argument has at most 128 KiB here.",
        )
    return NodeFailed(f"'{program}' could not be started: {exc.strerror or exc}.")
