"""Run a workflow on an event loop of its own, and end it early: on a cancellation or a time limit."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from pflow.errors import PflowError, RunCancelled, RunInterrupted
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.store.files import make_private_folder, write_atomic

T = TypeVar("T")

CANCEL_TIMEOUT_S: Final = 5.0
"""How long to wait for a coroutine that is cancelled."""
_FOLDER: Final = "cancel"
_POLL_S: Final = 0.2
_live: Final[set["Cancellation"]] = set()
_live_lock: Final = threading.Lock()


class Cancellation:
    """Cancels one run, before or while it runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self.ended = threading.Event()
        self.is_requested = False
        self.is_interruption = False

    def cancel(self) -> None:
        """Cancel the run, or let it end as soon as it begins."""
        with self._lock:
            self.is_requested = True
            if self._stop is not None:
                self._stop()

    def interrupt(self) -> None:
        """Cancel the run because the server that runs it has ended: nobody has cancelled it."""
        self.is_interruption = True
        self.cancel()

    def make_error(self, node: str | None) -> RunCancelled:
        """Return the error of a run that was cancelled while `node` ran."""
        hint = "Run it again to resume it."
        if self.is_interruption:
            return RunInterrupted("The run was interrupted: the server that ran it has ended.", hint=hint, node=node)
        return RunCancelled("The run was cancelled.", hint=hint, node=node)

    def run_on_new_loop(self, run: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end on a loop of its own, and let this, and Ctrl-C in the main thread, cancel it."""
        loop = asyncio.new_event_loop()
        with _live_lock:
            _live.add(self)
        try:
            task = loop.create_task(run)
            self._bind_task(loop, task)
            try:
                with _cancel_at_interrupt(loop, self.cancel):
                    return loop.run_until_complete(task)
            finally:
                _cancel_remaining_tasks(loop)
        finally:
            # The loop's own threads are not waited for: one of them may never end.
            loop.close()
            with self._lock:
                self._stop = None
            self.ended.set()
            with _live_lock:
                _live.discard(self)

    def _bind_task(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[T]) -> None:
        """Let `cancel` cancel this task from now on."""

        def cancel_task() -> None:
            with suppress(RuntimeError):  # the loop is closed: it has ended
                loop.call_soon_threadsafe(task.cancel)

        with self._lock:
            self._stop = cancel_task
            if self.is_requested:
                cancel_task()


def cancel_all_runs_and_wait(timeout_s_per_run: float) -> None:
    """Cancel every run of this process, and wait up to `timeout_s_per_run` seconds for each to record its results."""
    with _live_lock:
        running = list(_live)
    for one in running:
        one.cancel()
    for one in running:
        one.ended.wait(timeout_s_per_run)


def request_cancel(home: Path, run_id: str) -> None:
    """Ask the process of this run, whichever it is, to cancel it. Raise OSError."""
    make_private_folder(home / _FOLDER)
    write_atomic(home / _FOLDER / run_id, b"")


@contextmanager
def watch_cancel_requests(home: Path, run_id: str) -> Generator[None]:
    """Cancel the current task when another process requests it for this run; delete the request at the end."""
    path, task, loop = home / _FOLDER / run_id, asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None

    def check() -> None:
        nonlocal timer
        if os.path.lexists(path):
            task.cancel()
        else:
            timer = loop.call_later(_POLL_S, check)

    timer = loop.call_later(_POLL_S, check)
    try:
        yield
    finally:
        timer.cancel()
        with suppress(OSError):
            path.unlink()


@asynccontextmanager
async def limit_time(make_error: Callable[[str], PflowError], *limits: float | None) -> AsyncGenerator[None]:
    """Raise an error if the block takes longer than one of the limits, in seconds.

    `make_error` gets the limit as text.
    """
    seconds = min((one for one in limits if one is not None), default=None)
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise make_error(plural(seconds or 0, "second")) from None


@contextmanager
def _cancel_at_interrupt(loop: asyncio.AbstractEventLoop, cancel: Callable[[], None]) -> Generator[None]:
    if threading.current_thread() is not threading.main_thread():  # other threads cannot handle signals
        yield
        return
    with suppress(NotImplementedError, ValueError):
        loop.add_signal_handler(signal.SIGINT, cancel)
    try:
        yield
    finally:
        with suppress(NotImplementedError, ValueError):
            loop.remove_signal_handler(signal.SIGINT)


def _cancel_remaining_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel the tasks that are left on a loop, and wait for them for a while."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        _, unending = loop.run_until_complete(asyncio.wait(left, timeout=CANCEL_TIMEOUT_S))
        if unending:
            loop.set_exception_handler(lambda _loop, _context: None)
    loop.run_until_complete(loop.shutdown_asyncgens())
