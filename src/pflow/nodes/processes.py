"""The one way to run a child process: a session of its own, none of our streams, bounded output, and a sure end."""

import asyncio
import os
import signal
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pflow.errors import NodeFailed, NodeTimedOut
from pflow.node import Context
from pflow.nodes.child_output import Allowance, Printed, Stream
from pflow.nodes.child_process import Feeder, Started, Watch, start
from uraniborg.kernel.child_environment import child_environment

_KILLED_S: Final = 5.0  # a child that waits for a broken disk does not even heed SIGKILL
_live: set[int] = set()


@dataclass(frozen=True, slots=True)
class Limits:
    kept: int = 1 << 24
    """Bytes of each output that are kept in memory."""
    spooled: int = 2 << 30
    """Bytes of both outputs together that may go to the disk."""
    grace_s: float = 2.0
    """From SIGTERM to SIGKILL."""
    drain_s: float = 0.25
    """How long an output is waited for when the child has ended and something it started holds it open."""


LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended. One that a signal ended has the exit code that a shell tells: 128 and the signal's number."""

    exit_code: int
    signal: str | None
    stdout: Printed
    stderr: Printed

    def ending(self) -> str:
        """As a sentence ends that tells of it."""
        return f"was ended by {self.signal}" if self.signal else f"ended with exit code {self.exit_code}"


async def run(
    argv: Sequence[str],
    context: Context,
    *,
    stdin: bytes | None = None,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
    pass_fds: Sequence[int] = (),
    limits: Limits = LIMITS,
) -> Finished:
    """Run a program to its end. `environment` is added to what every child inherits; `cwd` is the context's folder
    unless given.

    Raises NodeFailed when it cannot be started or its output cannot be kept, and NodeTimedOut, both with what was
    printed until then. Whatever is raised, cancellation too: the child and all of its process group have ended.
    """
    started = start(
        argv,
        cwd=cwd or context.folder,
        environment=child_environment(context.pass_env) | dict(environment or {}),
        with_input=stdin is not None,
        pass_fds=pass_fds,
    )
    child = _Child(started, stdin or b"", context.spool, limits)
    try:
        if await child.ends_within(timeout_s):
            await child.drain()
            return child.finished()
        await _surely(child.end())
    except BaseException as exc:
        await _surely(child.end())
        child.discard()
        if isinstance(exc, NodeFailed):
            exc.outputs |= child.outputs()
        raise
    finally:
        child.reap()
    raise NodeTimedOut(
        f"It was still running after {timeout_s:g} s, and was ended.",
        hint="Give it more time with `timeout`, or less to do.",
        outputs=child.outputs(),
    )


def end_all() -> None:
    """Kill every child that runs. For a process that is about to end; may be called from any thread."""
    for pid in list(_live):
        _signal(pid, signal.SIGKILL)


class _Child:
    """A child that runs, or has ended and is not yet reaped."""

    def __init__(self, started: Started, stdin: bytes, spool: Path, limits: Limits) -> None:
        self._process = started.process
        self._limits = limits
        _live.add(started.process.pid)
        loop = asyncio.get_running_loop()
        self._exited: asyncio.Future[None] = loop.create_future()
        self._over: asyncio.Future[None] = loop.create_future()  # by its exit, or because an output failed
        self._watch = Watch(started.process, self._ended)
        self._feeder = Feeder(started.stdin, stdin) if started.stdin >= 0 else None
        allowance = Allowance(limits.spooled)
        self._stdout = Stream("stdout", started.stdout, spool, limits.kept, allowance)
        self._stderr = Stream("stderr", started.stderr, spool, limits.kept, allowance)
        self._readers = [asyncio.create_task(stream.read()) for stream in (self._stdout, self._stderr)]
        for reader in self._readers:
            reader.add_done_callback(self._read)

    def _ended(self) -> None:
        for future in (self._exited, self._over):
            if not future.done():
                future.set_result(None)

    def _read(self, reader: asyncio.Task[None]) -> None:
        if not reader.cancelled() and (failure := reader.exception()) and not self._over.done():
            self._over.set_exception(failure)

    async def ends_within(self, seconds: float | None) -> bool:
        """Whether it ended in time. Raises NodeFailed as soon as an output fails."""
        ended, _ = await asyncio.wait({self._over}, timeout=seconds)
        if ended:
            self._over.result()
        return bool(ended)

    async def drain(self) -> None:
        """Read what is left of the outputs. Something that the child started may hold them open, and print on."""
        await asyncio.wait(self._readers, timeout=self._limits.drain_s)
        await self._stop_reading()
        for reader in self._readers:
            reader.result()

    async def end(self) -> None:
        """End it and all of its group: asked first, then not."""
        if not self._exited.done():
            _signal(self._process.pid, signal.SIGTERM)
            await asyncio.wait({self._exited, *self._readers}, timeout=self._limits.grace_s)
        _signal(self._process.pid, signal.SIGKILL)
        await asyncio.wait({self._exited}, timeout=_KILLED_S)
        await self._stop_reading()

    async def _stop_reading(self) -> None:
        self._stdout.stop()
        self._stderr.stop()
        await asyncio.wait(self._readers)

    def finished(self) -> Finished:
        code = self._process.wait()
        name = _signal_name(-code) if code < 0 else None
        return Finished(128 - code if code < 0 else code, name, self._stdout.printed(), self._stderr.printed())

    def outputs(self) -> dict[str, Any]:
        return self._stdout.printed().outputs("stdout") | self._stderr.printed().outputs("stderr")

    def discard(self) -> None:
        self._stdout.discard()
        self._stderr.discard()

    def reap(self) -> None:
        if not self._over.cancel():
            self._over.exception()  # or asyncio tells of one that nobody looked at
        self._watch.close()
        if self._feeder:
            self._feeder.close()
        _live.discard(self._process.pid)
        self._process.poll()


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # gone, or no longer ours: it became another user's
        os.killpg(pid, number)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # the real-time signals have no names of their own
        return f"signal {number}"


async def _surely(work: Coroutine[Any, Any, None]) -> None:
    """Do this to its end, however often whoever waits for it is cancelled meanwhile; then be cancelled."""
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
