"""What happens in one universe, for everybody who listens: the same bytes in the same order."""

import asyncio
from collections import deque
from typing import Final

from universe.store.port import Entry

KEPT: Final = 1_024
"""How many of the last frames are at hand; who is further behind reads the log."""
KEPT_BYTES: Final = 8 * 1024 * 1024
AT_ONCE: Final = 64
"""The most frames in one write, so that a slow listener is found out while little is under way."""
AT_ONCE_BYTES: Final = 256 * 1024


def logged_frame(universe_id: str, entry: Entry) -> bytes:
    """An entry from the log as an event of an event stream; of one that was damaged, only that it is."""
    if entry.is_whole(universe_id):
        return frame(entry)
    return b'id: %d\nevent: damaged\ndata: {"version":%d}\n\n' % (entry.version, entry.version)


def frame(entry: Entry) -> bytes:
    """An entry as an event of an event stream."""
    if entry.kind != "restore":
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
    """The latest frames of a universe, and a way to wait for the next."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.beats = 0
        self.is_closed = False
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._joined: dict[int, tuple[bytes, int]] = {}
        self._waiting: list[asyncio.Future[None]] = []

    def publish(self, entries: list[Entry]) -> None:
        for entry in entries:
            self._frames.append(frame(entry))
            self._bytes += len(self._frames[-1])
        while len(self._frames) > KEPT or (self._bytes > KEPT_BYTES and self._frames):
            self._bytes -= len(self._frames.popleft())
        self.version = entries[-1].version
        self._joined.clear()
        self._wake()

    def beat(self) -> None:
        """Wake everybody, so that those who have heard nothing for a while can be told that it is so."""
        self.beats += 1
        self._wake()

    def close(self) -> None:
        """The universe is gone."""
        self.is_closed = True
        self._wake()

    def after(self, version: int) -> tuple[bytes, int] | None:
        """The frames that follow a version, no more than a listener can take at once, and the version they lead to.

        None if that is further back than frames are kept. Most listeners ask for the same: it is put together once.
        """
        missing = self.version - version
        if missing > len(self._frames):
            return None
        known = self._joined.get(version)
        if known is None:
            known = self._joined[version] = self._join(version, len(self._frames) - missing)
        return known

    def _join(self, version: int, first: int) -> tuple[bytes, int]:
        frames: list[bytes] = []
        size = 0
        for index in range(first, min(first + AT_ONCE, len(self._frames))):
            frames.append(self._frames[index])
            size += len(frames[-1])
            if size > AT_ONCE_BYTES:
                break
        return b"".join(frames), version + len(frames)

    async def wait(self) -> None:
        """Until something happens. Look first, without awaiting anything in between."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
