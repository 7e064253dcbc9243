import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import Message

from tests.uraniborg.kernel.mcp.asgi_client import Exchange, client_of
from tests.uraniborg.kernel.mcp.raw_messages import call
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.mcp import make_stateful_app
from uraniborg.kernel.mcp.session import Heartbeat

BEAT = b": heartbeat\r\n\r\n"


async def next_body(exchange: Exchange) -> bytes:
    return (await exchange.next())["body"]


async def test_a_quiet_event_stream_and_a_slow_call_carry_heartbeats() -> None:
    async with client_of(make_stateful_app(sample_server(), heartbeat_s=0.01)) as client:
        session = await client.begin()
        async with client.stream(session) as stream:
            assert [await next_body(stream) for _ in range(3)] == [BEAT] * 3
        slow = client.send("POST", call("wait_forever", {}), session)
        assert (await slow.next())["status"] == 200
        assert [await next_body(slow) for _ in range(3)] == [BEAT] * 3
        await slow.leave()


async def test_a_stream_that_breaks_off_or_whose_request_is_cancelled_has_no_more_heartbeats() -> None:
    async with client_of(make_stateful_app(sample_server(), heartbeat_s=0.01)) as client:
        for is_cancelled in (False, True):
            slow = client.send("POST", call("wait_forever", {}), await client.begin())
            assert (await slow.next())["status"] == 200
            assert await next_body(slow) == BEAT
            if is_cancelled:
                slow.served.cancel()
                await asyncio.wait([slow.served])
            else:
                await slow.leave()
            ended = slow.count_unread()
            await asyncio.sleep(0.05)
            assert slow.count_unread() == ended


async def test_nothing_follows_the_end_of_a_stream_and_json_has_no_heartbeats() -> None:
    for json_answers in (False, True):
        async with client_of(
            make_stateful_app(sample_server(), heartbeat_s=0.001, json_answers=json_answers)
        ) as client:
            answer = await client.post(call("say", {"text": "x"}), await client.begin())
            assert len(answer.messages) == 1
            assert json_answers is not (b"data: " in answer.body)
            if json_answers:
                assert BEAT not in answer.body


def recording() -> tuple[list[bytes], Callable[[Message], Awaitable[None]]]:
    sent: list[bytes] = []

    async def send(message: Message) -> None:
        sent.append(message.get("body", b"start"))

    return sent, send


async def test_comments_of_the_transport_are_left_out_and_a_stream_that_ended_is_quiet() -> None:
    sent, send = recording()
    heartbeat = Heartbeat(send, 0.01)
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
    await heartbeat(start)
    await heartbeat({"type": "http.response.body", "body": b": ping - now\r\n\r\n", "more_body": True})
    await heartbeat({"type": "http.response.body", "body": b"data: {}\r\n\r\n", "more_body": True})
    while BEAT not in sent:  # noqa: ASYNC110 - there is nobody to set an event
        await asyncio.sleep(0.005)
    await heartbeat({"type": "http.response.body", "body": b"", "more_body": False})
    ended = len(sent)
    await asyncio.sleep(0.05)
    assert len(sent) == ended
    assert [part for part in sent if part != BEAT] == [b"start", b"data: {}\r\n\r\n", b""]
