"""A batch sent to a session: each of its messages goes its own way, and the answers come back together."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Final, cast

from mcp.types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from uraniborg.kernel.mcp.jsonrpc import (
    BATCHING_VERSION,
    Request,
    batch_problem,
    invalid_message,
    refusal,
    request_in,
)
from uraniborg.kernel.mcp.protocol import InvalidMessage
from uraniborg.kernel.mcp.session import IdInUse, Session

_DATA: Final = b"data: "


class _Failed(Exception):
    """A member of a batch was refused for a reason that holds for all of them."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.response = Response(body, status)


async def answer_batch(session: Session, messages: list[Any], scope: Scope, send: Send) -> None:
    """Answer a batch with a JSON array, or, if nothing in it asks for an answer, with nothing.

    Progress is not told: it would have to be in the array. Raises InvalidMessage for a batch that may not be sent.
    """
    version = Headers(scope=scope).get("mcp-protocol-version", BATCHING_VERSION)
    if problem := batch_problem(messages, version):
        raise problem
    try:
        answers = await asyncio.gather(*(_answer(session, message, scope) for message in messages))
    except _Failed as failed:
        response = failed.response
    else:
        bodies = [answer for answer in answers if answer]
        headers = {"mcp-session-id": session.id}
        body = b"[%b]" % b",".join(bodies) if bodies else None
        response = Response(body, 200 if bodies else 202, headers, "application/json" if bodies else None)
    await response(scope, _nothing_more, send)


async def _answer(session: Session, message: Any, scope: Scope) -> bytes:
    """The answer to one message, which is empty for what has none. Raises _Failed."""
    if not isinstance(message, dict):
        return invalid_message().body
    member = cast("dict[str, Any]", message)
    request = request_in(member)
    if not isinstance(request, Request):
        return request.body or await _post(session, None, member, scope)
    if request.method == "initialize":
        error = InvalidMessage("initialize cannot be part of a batch.", hint="Send it alone.")
        return invalid_message(request.id, error).body
    try:
        return await _post(session, request.id, member, scope)
    except IdInUse as error:
        return refusal(request.id, error, INVALID_REQUEST)


async def _post(session: Session, request_id: str | int | None, message: dict[str, Any], scope: Scope) -> bytes:
    sent: list[Message] = []

    async def collect(part: Message) -> None:
        sent.append(part)

    await session.handle(request_id, scope, _request(json.dumps(message).encode()), collect)
    body = b"".join(part.get("body", b"") for part in sent[1:])
    if sent[0]["status"] >= 400:
        raise _Failed(sent[0]["status"], body)
    return body if body.startswith(b"{") else next(answers_in(body), b"")


def _request(body: bytes) -> Receive:
    waiting = [body]

    async def receive() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await _nothing_more()

    return receive


async def _nothing_more() -> Message:
    """Whoever sent the batch may leave: that cancels none of its calls."""
    await asyncio.Event().wait()
    raise AssertionError


def answers_in(events: bytes) -> Iterator[bytes]:
    """Return the JSON of each answer in an event stream, without the notifications between them."""
    for line in events.split(b"\r\n"):
        data = line.removeprefix(_DATA)
        if data != line and "method" not in json.loads(data):
            yield data
