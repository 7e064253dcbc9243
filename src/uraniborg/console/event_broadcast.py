"""Stream every change of every process and file, with ids from which a client resumes without a gap.

One task reads the change feed for all clients. A client that resumes further back than the frames in memory reads the
feed itself until it has reached them.
"""

import asyncio
import os
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from uraniborg.connect.clients import list_clients
from uraniborg.installation.folders_and_settings import list_locations
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.change_feed import RESET, Change, ChangeFeed, ChangeReader

POLL_S: Final = 0.04
_HEARTBEAT_S: Final = 15.0
_MAX_FRAMES: Final = 10_000
_MAX_CLIENTS: Final = 200
_HELLO: Final = b"retry: 1000\n\n"
_HEARTBEAT: Final = b": heartbeat\n\n"

_log = get_logger(__name__)


class TooManyStreams(Unavailable):
    code = "too_many_streams"


class _EventFrame(NamedTuple):
    number: int
    position: str
    text: bytes


class EventBroadcast:
    """The changes of the feed, as frames of server-sent events, for any number of clients of one event loop."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._reader: ChangeReader | None = None
        self._frames: deque[_EventFrame] = deque(maxlen=_MAX_FRAMES)
        self._number = 0
        self._start_position = ""
        self._news = asyncio.Event()
        self._poll_lock = asyncio.Lock()
        self._clients = 0
        self._listeners: list[Callable[[Change], Awaitable[None]]] = []
        self._is_closed = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Read the feed from its end until the block ends. Raise OSError or Locked if the feed cannot be created."""
        await self.start()
        reading = asyncio.create_task(self.run())
        try:
            yield
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def start(self) -> None:
        """Start to read the feed at its end. Raise OSError or Locked if the feed cannot be created."""
        self._reader = await asyncio.to_thread(ChangeReader, self._folder)
        self._start_position = self._reader.position

    async def run(self) -> None:
        """Read the feed and wake the clients until cancelled."""
        while True:
            await asyncio.sleep(POLL_S)
            try:
                await self.poll()
            except Exception as exc:  # an error must not end all streams
                _log.exception("the change feed cannot be read", exc=exc)

    async def poll(self) -> None:
        """Read the changes since the last poll, and wake the clients if there are any."""
        async with self._poll_lock:
            assert self._reader is not None
            changes = await asyncio.to_thread(self._reader.read)
            for change in changes:
                self._number += 1
                self._frames.append(_EventFrame(self._number, change.position, format_frame(change)))
            if changes:
                self._wake_clients()
        for change in changes:
            for listener in self._listeners:
                await listener(change)

    def add_listener(self, listener: Callable[[Change], Awaitable[None]]) -> None:
        """Await `listener` for every change from now on."""
        self._listeners.append(listener)

    def close(self) -> None:
        """End all streams, so that the server can stop."""
        self._is_closed = True
        self._wake_clients()

    @property
    def has_clients(self) -> bool:
        """Return True while a stream is open."""
        return self._clients > 0

    def check_room(self) -> None:
        """Raise TooManyStreams if no more streams can be opened."""
        if self._clients >= _MAX_CLIENTS:
            raise TooManyStreams(
                f"{self._clients} event streams are open, which is the limit.",
                hint="Close other windows of the console.",
            )

    async def stream(self, last_event_id: str | None) -> AsyncGenerator[bytes]:
        """Yield the frames after `last_event_id`, or from now on. Call `check_room` before."""
        self._clients += 1
        try:
            yield _HELLO
            number, missed = await self._find_start(last_event_id)
            if missed:
                yield missed
            while not self._is_closed:
                news = self._news
                if text := self._join_frames_after(number):
                    number = self._number
                    yield text
                    continue
                try:
                    await asyncio.wait_for(news.wait(), _HEARTBEAT_S)
                except TimeoutError:
                    yield _HEARTBEAT
        finally:
            self._clients -= 1

    async def _find_start(self, last_event_id: str | None) -> tuple[int, bytes]:
        """Return the number of the last frame that the client has, and the frames that it must read from the feed."""
        await self.poll()
        end = self._frames[-1].position if self._frames else self._start_position
        if last_event_id is None:  # an id without data: a client that loses the connection now misses nothing
            return self._number, b"id: %s\n\n" % end.encode()
        for frame in self._frames:  # changes that share a line share its position: repeat them rather than miss one
            if frame.position == last_event_id:
                return frame.number, b""
        number = self._number
        if last_event_id == end:
            return number, b""
        return number, await asyncio.to_thread(self._read_missed_frames, last_event_id, end)

    def _read_missed_frames(self, position: str, end: str) -> bytes:
        """Return the frames between two positions; a reset if the feed no longer holds them all."""
        reader = ChangeReader(self._folder, position)
        frames: list[bytes] = []
        while len(frames) < _MAX_FRAMES and (changes := reader.read()):
            for change in changes:
                frames.append(format_frame(change))
                if change.position == end:
                    return b"".join(frames)
                if change.kind == RESET:
                    break
        return format_frame(Change(RESET, "", {}, "", end))

    def _join_frames_after(self, number: int) -> bytes:
        count = self._number - number
        if count > len(self._frames):
            return format_frame(Change(RESET, "", {}, "", self._frames[-1].position))
        return b"".join(self._frames[index].text for index in range(len(self._frames) - count, len(self._frames)))

    def _wake_clients(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


def format_frame(change: Change) -> bytes:
    """Return a change as one server-sent event."""
    data = orjson.dumps({**change.facts, "kind": change.kind, "subject": change.subject, "at": change.at})
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (change.position.encode(), _clean_kind(change.kind), data)


def _clean_kind(kind: str) -> bytes:
    return kind.encode("ascii", "replace").translate(None, b"\r\n")


KIND: Final = "installation"
_LOOK_S: Final = 1.0


class InstallationChanges:
    """Compares the files with those of the last look, whichever program writes them. The methods block."""

    def __init__(self) -> None:
        settings_file = next(one.path for one in list_locations() if one.name == "config")
        self._settings_files = (settings_file, Path(".env").absolute())
        self._stamps = self._read_stamps()

    def find_changes(self) -> list[Path]:
        """Return the files that were written or deleted since the last look."""
        before, self._stamps = self._stamps, self._read_stamps()
        return [file for file, stamp in self._stamps.items() if before.get(file) != stamp]

    def _read_stamps(self) -> dict[Path, tuple[int, ...]]:
        files = [*self._settings_files, *(client.file for client in list_clients())]
        return {file: _make_stamp(file) for file in files}


def _make_stamp(file: Path) -> tuple[int, ...]:
    """Return numbers that change with the file. Without a file, its folder counts: a client may be installed there."""
    try:
        found = file.stat()
    except OSError:
        return (int(os.path.isdir(file.parent)),)  # unlike Path.is_dir, raises nothing
    return (found.st_mtime_ns, found.st_size, found.st_ino)


async def announce_installation_changes(broadcast: EventBroadcast) -> None:
    """Announce the files that any program writes or deletes until cancelled. Read nothing while no stream is open."""
    changes = await asyncio.to_thread(InstallationChanges)
    while True:
        await asyncio.sleep(_LOOK_S)
        if broadcast.has_clients:
            for file in await asyncio.to_thread(changes.find_changes):
                await asyncio.to_thread(ChangeFeed().publish, KIND, str(file))
