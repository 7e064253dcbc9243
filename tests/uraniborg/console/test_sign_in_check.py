"""Event streams of clients whose key ended: their responses are complete, also without any event."""

import asyncio
from typing import Final

from starlette.types import Message, Receive, Scope, Send

from uraniborg.console.request_checks import answer_while_valid

START: Final[Message] = {"type": "http.response.start", "status": 200, "headers": []}


async def start_and_wait(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer with headers, and send no event."""
    await send(START)
    await asyncio.sleep(60)


async def receive_nothing() -> Message:
    return {"type": "http.request"}


def test_a_stream_without_events_is_ended_when_its_key_ends() -> None:
    sent: list[Message] = []
    answers = iter((True, False))

    async def send(message: Message) -> None:
        sent.append(message)

    async def is_valid() -> bool:
        return next(answers)

    asyncio.run(answer_while_valid(start_and_wait, {}, receive_nothing, send, is_valid))
    assert sent == [START, {"type": "http.response.body", "body": b"", "more_body": False}]
