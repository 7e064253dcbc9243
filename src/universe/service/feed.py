"""What happens in one universe, for everybody who listens: the same bytes in the same order."""

import asyncio
from collections import deque
from typing import Final

from universe.store.port import Entry

KEPT: Final = 1_024
"""How many of the last frames are at hand; who is further behind reads the log."""
AT_ONCE: Final = 64
"""The most frames in one write, so that a slow listener is found out while little is under way."""


def logged_frame(universe_id: str, entry: Entry) -> bytes:
    """An entry from the log as an event of an event stream; of one that was damaged, only that it is."""
    if entry.is_whole(universe_id):
        return frame(entry)
    return b'id: %d\nevent: damaged\ndata: {"version":%d}\n\n' % (entry.version, entry.version)


def frame(entry: Entry) -> bytes:
    """An entry as an event of an event stream."""
    if entry.kind == "command":
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
        self._frames: deque[bytes] = deque(maxlen=KEPT)
        self._joined: dict[int, bytes] = {}
        self._waiting: list[asyncio.Future[None]] = []

    def publish(self, entries: list[Entry]) -> None:
        self._frames.extend(frame(entry) for entry in entries)
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
        upto = version + min(missing, AT_ONCE)
        joined = self._joined.get(version)
        if joined is None:
            first = len(self._frames) - missing
            joined = b"".join(self._frames[index] for index in range(first, first + upto - version))
            self._joined[version] = joined
        return joined, upto

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
