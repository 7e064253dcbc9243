"""End event streams soon after the key or token of their client is no longer valid."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CHECK_S: Final = 1.0
"""The time between two checks of a stream. Another server may have ended the key, so nothing wakes the stream."""


def is_event_stream(scope: Scope) -> bool:
    """Return True for a request whose response does not end by itself."""
    return scope["method"] == "GET" and scope["path"].endswith("/events")


async def answer_while_valid(
    app: ASGIApp, scope: Scope, receive: Receive, send: Send, is_valid: Callable[[], Awaitable[bool]]
) -> None:
    """Let the app answer, and end its response when `is_valid` returns False."""
    has_started = False

    async def send_and_note(message: Message) -> None:
        nonlocal has_started
        has_started = has_started or message["type"] == "http.response.start"
        await send(message)

    answering = asyncio.ensure_future(app(scope, receive, send_and_note))
    checking = asyncio.create_task(_wait_until_invalid(is_valid))
    try:
        await asyncio.wait((answering, checking), return_when=asyncio.FIRST_COMPLETED)
        is_ended = not answering.done()
    finally:
        for task in (answering, checking):
            task.cancel()
        await asyncio.wait((answering, checking))
    if not is_ended:
        await answering
    elif has_started:
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _wait_until_invalid(is_valid: Callable[[], Awaitable[bool]]) -> None:
    while await is_valid():  # noqa: ASYNC110 - other processes end keys, too
        await asyncio.sleep(CHECK_S)
