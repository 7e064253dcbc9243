"""Feed listeners of one universe: log entries as frames of an event stream, made once for all."""

import asyncio
from collections import deque
from typing import Final

from universe.store.interface import StoredEntry

MAX_FRAMES: Final = 1_024
"""The most frames in memory; a listener that is further behind reads the log."""
MAX_FRAMES_BYTES: Final = 8 * 1024 * 1024
FRAMES_PER_WRITE: Final = 64
"""The most frames in one write, so that a slow listener is noticed early."""
BYTES_PER_WRITE: Final = 256 * 1024


def format_checked_frame(universe_id: str, entry: StoredEntry) -> bytes:
    """Return an entry of the log as an event of an event stream; a damaged entry becomes a `damaged` event."""
    if entry.is_intact(universe_id):
        return format_frame(entry)
    return b'id: %d\nevent: damaged\ndata: {"version":%d}\n\n' % (entry.version, entry.version)


def format_frame(entry: StoredEntry) -> bytes:
    """Return an entry as an event of an event stream."""
    if not entry.is_restore:
        return b'id: %d\nevent: command\ndata: {"version":%d,"command":%b,"events":%b}\n\n' % (
            entry.version,
            entry.version,
            entry.body,
            entry.events,
        )
    return b'id: %d\nevent: restore\ndata: {"version":%d,"events":%b}\n\n' % (
        entry.version,
        entry.version,
        entry.events,
    )


class Feed:
    """The latest frames of a universe, and a wait for the next one."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.beats = 0
        self.is_closed = False
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._joined: dict[int, tuple[bytes, int]] = {}
        self._waiting: list[asyncio.Future[None]] = []

    def publish(self, entries: list[StoredEntry]) -> None:
        """Add the frames of new entries and wake all listeners."""
        for entry in entries:
            self._frames.append(format_frame(entry))
            self._bytes += len(self._frames[-1])
        while len(self._frames) > MAX_FRAMES or (self._bytes > MAX_FRAMES_BYTES and self._frames):
            self._bytes -= len(self._frames.popleft())
        self.version = entries[-1].version
        self._joined.clear()
        self._wake_listeners()

    def wake_for_heartbeat(self) -> None:
        """Wake all listeners, so that idle ones can send a heartbeat."""
        self.beats += 1
        self._wake_listeners()

    def close(self) -> None:
        """End the feed of a deleted universe."""
        self.is_closed = True
        self._wake_listeners()

    def get_joined_frames_after(self, version: int) -> tuple[bytes, int] | None:
        """Return the next frames after a version, joined for one write, and the version of the last of them.

        Return None if some of the frames are not in memory any more. The joined bytes are shared by all listeners.
        """
        missing = self.version - version
        if missing > len(self._frames):
            return None
        known = self._joined.get(version)
        if known is None:
            known = self._joined[version] = self._join_frames(version, len(self._frames) - missing)
        return known

    def _join_frames(self, version: int, first: int) -> tuple[bytes, int]:
        frames: list[bytes] = []
        size = 0
        for index in range(first, min(first + FRAMES_PER_WRITE, len(self._frames))):
            frames.append(self._frames[index])
            size += len(frames[-1])
            if size > BYTES_PER_WRITE:
                break
        return b"".join(frames), version + len(frames)

    async def wait_for_wakeup(self) -> None:
        """Wait for the next event. Call `get_joined_frames_after` first, without an await in between."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future

    def _wake_listeners(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
