"""Comments in a quiet event stream: proxies do not close it, and the server notices that a client has left."""

import asyncio
from contextlib import suppress
from typing import Final

from starlette.types import Message, Send

_COMMENT: Final[Message] = {"type": "http.response.body", "body": b": heartbeat\r\n\r\n", "more_body": True}


class Heartbeat:
    """A `send` that adds a comment to an event stream whenever nothing was sent for `period` seconds.

    The comments of the SDK's transport, which come at a pace of their own, are left out.
    """

    def __init__(self, send: Send, period: float) -> None:
        self._send = send
        self._period = period
        self._sending = asyncio.Lock()
        self._sent_at = 0.0
        self._beating: asyncio.Task[None] | None = None

    async def __call__(self, message: Message) -> None:
        if self._beating is not None and message.get("body", b"").startswith(b": ping"):
            return
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.stop()
        async with self._sending:
            await self._send(message)
        self._sent_at = asyncio.get_running_loop().time()
        if message["type"] == "http.response.start" and _is_event_stream(message):
            self._beating = asyncio.create_task(self._beat())

    def stop(self) -> None:
        """Send no more comments."""
        if self._beating is not None:
            self._beating.cancel()

    async def _beat(self) -> None:
        clock = asyncio.get_running_loop().time
        with suppress(OSError):
            while True:
                if (quiet := clock() - self._sent_at) < self._period:
                    await asyncio.sleep(self._period - quiet)
                    continue
                async with self._sending:
                    await self._send(_COMMENT)
                self._sent_at = clock()


def _is_event_stream(start: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in start["headers"]
    )
