"""Cancel runs from any thread."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress


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

    def bind_task(self, loop: asyncio.AbstractEventLoop, task: "asyncio.Task[object]") -> None:
        """Let `cancel` cancel this task from now on."""

        def cancel_task() -> None:
            with suppress(RuntimeError):  # the loop is closed: it has ended
                loop.call_soon_threadsafe(task.cancel)

        with self._lock:
            self._stop = cancel_task
            if self.is_requested:
                cancel_task()

    def mark_ended(self) -> None:
        """Record that the run has ended: there is nothing left to cancel."""
        with self._lock:
            self._stop = None
        self.ended.set()


_live: set[Cancellation] = set()
_live_lock = threading.Lock()


def register_run(cancellation: Cancellation) -> None:
    """Let `cancel_all_runs_and_wait` cancel this run from now on."""
    with _live_lock:
        _live.add(cancellation)


def unregister_run(cancellation: Cancellation) -> None:
    """Remove a run that has ended from those that `cancel_all_runs_and_wait` cancels."""
    with _live_lock:
        _live.discard(cancellation)


def cancel_all_runs_and_wait(timeout_s_per_run: float) -> None:
    """Cancel every run of this process, and wait up to `timeout_s_per_run` seconds for each to record its results."""
    with _live_lock:
        running = list(_live)
    for one in running:
        one.cancel()
    for one in running:
        one.ended.wait(timeout_s_per_run)
