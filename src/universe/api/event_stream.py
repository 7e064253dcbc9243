"""Event streams of universes: the changes since a version, then all new changes."""

import asyncio
from time import monotonic
from typing import Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from universe.service.live_universe import LiveUniverse
from universe.service.universe_feed import FRAMES_PER_WRITE, Feed, format_checked_frame
from universe.service.universes import UniverseService
from universe.store.replica import read_entry_pages
from uraniborg.kernel.errors import as_error
from uraniborg.kernel.http.secure_app import WANTS_NO_BODY
from uraniborg.kernel.logging import get_logger

_HEADERS: Final = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]
_HELLO: Final = b": connected\nretry: 2000\n\n"
_HEARTBEAT: Final = b": heartbeat\n\n"
_DELETED: Final = b"event: deleted\ndata: {}\n\n"

_log = get_logger(__name__)


class EventStreams:
    """All event streams of a server, with their heartbeats; stalled streams are ended."""

    def __init__(self, service: UniverseService, *, heartbeat_s: float, stall_s: float) -> None:
        self.service = service
        self._heartbeat_s = heartbeat_s
        self._stall_s = stall_s
        self._open: set[EventStream] = set()
        self.is_closing = False

    def close(self) -> None:
        """End all streams, so that the server can stop."""
        self.is_closing = True
        self.service.wake_event_streams()

    @property
    def open_count(self) -> int:
        return len(self._open)

    def add_stream(self, stream: "EventStream") -> None:
        self._open.add(stream)

    def discard_stream(self, stream: "EventStream") -> None:
        """Remove a stream that has ended."""
        self._open.discard(stream)

    async def send_heartbeats_and_end_stalled(self) -> None:
        """Send heartbeats and end stalled streams until cancelled."""
        period = min(self._heartbeat_s, self._stall_s / 2)
        next_beat = monotonic() + self._heartbeat_s
        while True:
            await asyncio.sleep(period)
            if monotonic() >= next_beat:
                self.service.wake_event_streams()
                next_beat = monotonic() + self._heartbeat_s
            for stream in [one for one in self._open if one.stalled_s > self._stall_s]:
                stream.cancel_stalled()


class EventStream(Response):
    """The event stream of one listener. A listener that falls behind continues from the log."""

    def __init__(self, streams: EventStreams, universe_id: str, since: int | None) -> None:
        self.universe_id = universe_id
        self.background = None
        self.status_code = 200
        self._streams = streams
        self._since = since
        self._sending_since: float | None = None
        self._task: asyncio.Task[None] | None = None
        self._dropped_after_s: float | None = None

    @property
    def stalled_s(self) -> float:
        """The number of seconds since the listener last received data."""
        return 0.0 if self._sending_since is None else monotonic() - self._sending_since

    def cancel_stalled(self) -> None:
        """End the stream of a listener that has stalled."""
        if self._task is not None:
            self._dropped_after_s = self.stalled_s
            self._task.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if WANTS_NO_BODY in scope:
            await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
            await send({"type": "http.response.body", "body": b""})
            return
        async with self._streams.service.keep_in_memory(self.universe_id) as live:
            self._task = asyncio.create_task(self._send_events(live, send))
            disconnecting = asyncio.create_task(_wait_for_disconnect(receive))
            self._streams.add_stream(self)
            try:
                await asyncio.wait((self._task, disconnecting), return_when=asyncio.FIRST_COMPLETED)
            finally:
                if self._dropped_after_s is not None:
                    _log.warning("listener dropped", universe=self.universe_id, stalled_s=round(self._dropped_after_s))
                self._streams.discard_stream(self)
                for task in (self._task, disconnecting):
                    task.cancel()
                ended, _ = await asyncio.gather(self._task, disconnecting, return_exceptions=True)
                if isinstance(ended, Exception):
                    _log.warning("stream ended with an error", universe=self.universe_id, reason=as_error(ended).code)

    async def _send_events(self, live: LiveUniverse, send: Send) -> None:
        feed = live.get_or_open_feed()
        version = feed.version if self._since is None else min(self._since, feed.version)
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await self._send_body_part(send, _HELLO)
        beats = feed.beats
        while True:
            frames = feed.get_joined_frames_after(version)
            if frames is None:
                version = await self._send_from_log(live, feed, version, send)
            elif frames[0]:
                await self._send_body_part(send, frames[0])
                version = frames[1]
            elif feed.is_closed:
                await self._send_body_part(send, _DELETED, more=False)
                return
            elif self._streams.is_closing:
                await self._send_body_part(send, b"", more=False)
                return
            elif feed.beats != beats:
                await self._send_body_part(send, _HEARTBEAT)
            else:
                await feed.wait_for_wakeup()
                continue
            beats = feed.beats

    async def _send_from_log(self, live: LiveUniverse, feed: Feed, version: int, send: Send) -> int:
        """Send entries of the log up to the version of the feed, and return that version."""
        upto = feed.version
        async for entries in read_entry_pages(self._streams.service.store, live.id, after=version, upto=upto):
            for start in range(0, len(entries), FRAMES_PER_WRITE):
                await self._send_body_part(
                    send,
                    b"".join(
                        format_checked_frame(live.id, entry) for entry in entries[start : start + FRAMES_PER_WRITE]
                    ),
                )
            version = entries[-1].version
        return max(version, upto)

    async def _send_body_part(self, send: Send, body: bytes, *, more: bool = True) -> None:
        self._sending_since = monotonic()
        await send({"type": "http.response.body", "body": body, "more_body": more})
        self._sending_since = None


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
