"""Start child processes and run them with a new session, separate streams, bounded output, and a guaranteed end."""

import asyncio
import errno
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pflow.domain.node import NodeContext
from pflow.errors import NodeFailed, NodeTimedOut
from pflow.nodes.child_output import ChildOutput, OutputBudget, OutputStream, PrintedOutputs, join_outputs
from uraniborg.kernel.processes.child_processes import build_child_environment


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


_KILLED_S: Final = 5.0  # a child that waits for a broken disk does not react even to SIGKILL
_live_pids: set[int] = set()


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    memory_bytes: int = 1 << 24
    """Bytes of each output in memory."""
    disk_bytes: int = 2 << 30
    """Bytes of both outputs together that may go to the disk."""
    grace_s: float = 2.0
    """From SIGTERM to SIGKILL."""
    drain_s: float = 0.25
    """How long an output is waited for when the child has ended and something it started holds it open."""


LIMITS: Final = ProcessLimits()


@dataclass(frozen=True, slots=True)
class FinishedProcess:
    """The result of a child. If a signal ended it, the exit code is 128 and the signal's number."""

    exit_code: int
    signal: str | None
    stdout: ChildOutput
    stderr: ChildOutput

    def describe_ending(self) -> str:
        """Return the end of a sentence that describes how the child ended."""
        return f"was ended by {self.signal}" if self.signal else f"ended with exit code {self.exit_code}"


async def run_process(
    argv: Sequence[str],
    context: NodeContext,
    *,
    stdin: bytes | None = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    pass_fds: Sequence[int] = (),
    limits: ProcessLimits = LIMITS,
) -> FinishedProcess:
    """Run a program to its end.

    `environment` is added to the variables that every child inherits; `cwd` is by default the context's folder. Raises
    NodeFailed if the program cannot be started or its output cannot be stored, and NodeTimedOut, both with the output
    so far. After every exception, also cancellation, the child and its process group have ended.
    """
    started = start_process(
        argv,
        cwd=cwd or context.folder,
        environment=build_child_environment(context.pass_env) | dict(environment or {}),
        with_input=stdin is not None,
        pass_fds=pass_fds,
    )
    child = _Child(started, stdin or b"", context.spool, limits)
    try:
        if await child.wait_for_end(timeout_s):
            await child.drain_outputs()
            return child.wait_and_get_result()
        await _complete_despite_cancellation(child.terminate())
    except BaseException as exc:
        await _complete_despite_cancellation(child.terminate())
        child.delete_output_files()
        if isinstance(exc, NodeFailed):
            exc.outputs.update(child.get_outputs_so_far())
        raise
    finally:
        child.reap_and_release()
    raise NodeTimedOut(
        f"It was still running after {timeout_s:g} s, and was ended.",
        hint="Increase `timeout`, or reduce the work.",
        outputs=child.get_outputs_so_far(),
    )


def kill_all_children() -> None:
    """Kill every child that runs. For a process that is about to end; may be called from any thread."""
    for pid in list(_live_pids):
        _signal_group(pid, signal.SIGKILL)


class _Child:
    """A child that runs, or has ended and is not yet reaped."""

    def __init__(self, started: StartedProcess, stdin: bytes, spool: Path, limits: ProcessLimits) -> None:
        self._process = started.process
        self._limits = limits
        _live_pids.add(started.process.pid)
        loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[None] = loop.create_future()
        self._over: asyncio.Future[None] = loop.create_future()  # by its exit, or because an output failed
        self._watch = ExitWatch(started.process, self._mark_ended)
        self._feeder = InputFeeder(started.stdin, stdin) if started.stdin >= 0 else None
        allowance = OutputBudget(limits.disk_bytes)
        self._stdout = OutputStream("stdout", started.stdout, spool, limits.memory_bytes, allowance)
        self._stderr = OutputStream("stderr", started.stderr, spool, limits.memory_bytes, allowance)
        self._readers = [asyncio.create_task(stream.read_to_end()) for stream in (self._stdout, self._stderr)]
        for reader in self._readers:
            reader.add_done_callback(self._end_on_reader_failure)

    def _mark_ended(self) -> None:
        for future in (self._exited, self._over):
            if not future.done():
                future.set_result(None)

    def _end_on_reader_failure(self, reader: asyncio.Task[None]) -> None:
        if not reader.cancelled() and (failure := reader.exception()) and not self._over.done():
            self._over.set_exception(failure)

    async def wait_for_end(self, seconds: float | None) -> bool:
        """Wait for the end of the child. Return False after a timeout. Raise NodeFailed if an output fails."""
        ended, _ = await asyncio.wait({self._over}, timeout=seconds)
        if ended:
            self._over.result()
        return bool(ended)

    async def drain_outputs(self) -> None:
        """Read the rest of the outputs. Processes of the child may hold them open and continue to print."""
        await asyncio.wait(self._readers, timeout=self._limits.drain_s)
        await self._stop_reading()
        for reader in self._readers:
            reader.result()

    async def terminate(self) -> None:
        """End the process group: with SIGTERM, then with SIGKILL."""
        if not self._exited.done():
            _signal_group(self._process.pid, signal.SIGTERM)
            await asyncio.wait({self._exited, *self._readers}, timeout=self._limits.grace_s)
        _signal_group(self._process.pid, signal.SIGKILL)
        await asyncio.wait({self._exited}, timeout=_KILLED_S)
        await self._stop_reading()

    async def _stop_reading(self) -> None:
        self._stdout.stop_reading()
        self._stderr.stop_reading()
        await asyncio.wait(self._readers)

    def wait_and_get_result(self) -> FinishedProcess:
        code = self._process.wait()
        name = _get_signal_name(-code) if code < 0 else None
        return FinishedProcess(
            128 - code if code < 0 else code, name, self._stdout.get_output(), self._stderr.get_output()
        )

    def get_outputs_so_far(self) -> PrintedOutputs:
        return join_outputs(self._stdout.get_output(), self._stderr.get_output())

    def delete_output_files(self) -> None:
        self._stdout.delete_file()
        self._stderr.delete_file()

    def reap_and_release(self) -> None:
        if not self._over.cancel():
            self._over.exception()  # or asyncio reports an exception that was never retrieved
        self._watch.close()
        if self._feeder:
            self._feeder.close()
        _live_pids.discard(self._process.pid)
        self._process.poll()


def _signal_group(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # gone, or owned by another user now
        os.killpg(pid, number)


def _get_signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals are unnamed
        return f"signal {number}"


async def _complete_despite_cancellation(work: Coroutine[Any, Any, None]) -> None:
    """Await the work to its end even if the caller is cancelled meanwhile; then raise the cancellation."""
    task = asyncio.create_task(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
