"""Feeds for event loops: changes wait in a queue for a moment, and are written together."""

import asyncio
import threading
from typing import Any, Final

from uraniborg.kernel.store.change_feed import Announcement, ChangeFeed

BATCH_S: Final = 0.03
"""The time for which a queued change waits for others."""


class _ChangeQueue:
    """The changes that wait to be written. Of a node that changed several times, only the last state is in it."""

    def __init__(self) -> None:
        self._changes: dict[object, Announcement] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._changes)

    def add(self, change: Announcement) -> None:
        kind, subject, facts = change
        key = id(change) if kind != "node" else f"{subject} {facts.get('node')}"
        with self._lock:
            self._changes[key] = change

    def write_to(self, feed: ChangeFeed) -> None:
        """Write the changes in one write, and forget them."""
        with self._lock:
            changes, self._changes = self._changes, {}
        if changes:
            feed.publish_all(changes.values())


class QueuedChangeFeed:
    """A feed for event loops: `publish` returns at once, and a thread writes the changes in order.

    The thread writes what has been published within `batch_s` seconds at once.
    """

    def __init__(self, feed: ChangeFeed | None = None, *, batch_s: float = BATCH_S) -> None:
        self._feed = feed or ChangeFeed()
        self._batch_s = batch_s
        self._queue = _ChangeQueue()
        self._lock = threading.Lock()
        self._has_changes = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def publish(self, kind: str, subject: str, /, **facts: Any) -> None:
        """Append a change soon, if there is a feed."""
        self._queue.add((kind, subject, facts))
        if not self._has_changes.is_set():
            self._wake_thread()

    def close(self) -> None:
        """Write the changes that are queued, and close the file. The next call of `publish` opens it again."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._closing.set()
                self._has_changes.set()
                thread.join()
                self._closing.clear()
                self._has_changes.clear()
        if self._queue:  # published by another thread meanwhile
            self._wake_thread()

    def _wake_thread(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_changes, name="change-feed", daemon=True)
                self._thread.start()
            self._has_changes.set()

    def _write_changes(self) -> None:
        while not self._closing.is_set():
            self._has_changes.wait()
            self._closing.wait(self._batch_s)
            self._has_changes.clear()
            self._queue.write_to(self._feed)
        self._feed.close()


class TimedChangeFeed:
    """A feed for a busy event loop that may write to the disk itself, such as that of a run of a workflow.

    A timer of the loop writes what has been published within BATCH_S at once. There is no thread: the loop and a thread
    would take turns in holding the interpreter, which costs more than the writing.
    """

    def __init__(self, feed: ChangeFeed | None = None) -> None:
        self._feed = feed or ChangeFeed()
        self._queue = _ChangeQueue()
        self._timer: asyncio.TimerHandle | None = None

    def publish(self, kind: str, subject: str, /, **facts: Any) -> None:
        """Append a change soon, if there is a feed; at once where no event loop runs."""
        self._queue.add((kind, subject, facts))
        if self._timer is None:
            try:
                self._timer = asyncio.get_running_loop().call_later(BATCH_S, self._write_changes)
            except RuntimeError:
                self._write_changes()

    def close(self) -> None:
        """Write the changes that are queued, and close the file. The next call of `publish` opens it again."""
        if self._timer is not None:
            self._timer.cancel()
        self._write_changes()
        self._feed.close()

    def _write_changes(self) -> None:
        self._timer = None
        self._queue.write_to(self._feed)
