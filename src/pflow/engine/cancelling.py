"""Taking back a run that is under way, from any thread."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress


class Cancellation:
    """Whoever starts a run may keep one of these, and take the run back with it. It works once, before or during."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self.ended = threading.Event()
        self.is_asked = False

    def cancel(self) -> None:
        with self._lock:
            self.is_asked = True
            if self._stop is not None:
                self._stop()

    def bind(self, loop: asyncio.AbstractEventLoop, task: "asyncio.Task[object]") -> None:
        """From now on to cancel means to cancel this task."""

        def stop() -> None:
            with suppress(RuntimeError):  # the loop is closed: it has ended
                loop.call_soon_threadsafe(task.cancel)

        with self._lock:
            self._stop = stop
            if self.is_asked:
                stop()

    def release(self) -> None:
        """The run has ended: there is nothing left to cancel."""
        with self._lock:
            self._stop = None
        self.ended.set()


_live: set[Cancellation] = set()
_live_lock = threading.Lock()


def add_live(cancellation: Cancellation) -> None:
    with _live_lock:
        _live.add(cancellation)


def drop_live(cancellation: Cancellation) -> None:
    with _live_lock:
        _live.discard(cancellation)


def cancel_all(wait_s: float) -> None:
    """Take back every run of this process, and wait a little for them: they end their processes and write down how far
    they came."""
    with _live_lock:
        running = list(_live)
    for one in running:
        one.cancel()
    for one in running:
        one.ended.wait(wait_s)
