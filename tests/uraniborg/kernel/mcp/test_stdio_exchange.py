"""Every line of a stdio client gets the answer it deserves, and the server goes on."""

import json
import logging
from typing import Any

import pytest

from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, Wire, call, request, wire_to
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.mcp import stdio_exchange as exchange

DEEP = "[" * 100_000
PING = '{"jsonrpc": "2.0", "id": %s, "method": "ping"}'
BATCHING = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": "2025-03-26"}}


async def still_answers(wire: Wire) -> bool:
    return (await wire.ask(request("ping", id="after"))) == {"jsonrpc": "2.0", "id": "after", "result": {}}


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        ("not JSON: sk-secret", None, -32700),
        ("[]", None, -32600),
        ("3", None, -32600),
        ("null", None, -32600),
        ('"text"', None, -32600),
        ('{"id": 5}', 5, -32600),
        ('{"id": true, "x": "sk-secret"}', None, -32600),
        (PING % "null", None, -32600),
        (PING % "1.5", None, -32600),
        (PING % "1e400", None, -32600),
        (PING % "NaN", None, -32600),
        (PING % "true", None, -32600),
        (PING % "[1]", None, -32600),
        (PING % '"\\ud800"', None, -32700),
        (PING % ("9" * 5_000), None, -32700),
        ('{"jsonrpc": "2.0", "id": 7, "method": "\\ud800"}', 7, -32602),
        ('{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\\ud83d"}}', 7, -32602),
        (DEEP, None, -32700),
        (f'{{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {DEEP}', 7, -32602),
        (f'{{"params": {DEEP}{"]" * 100_000}, "id": "last"}}', "last", -32602),
        (f'{{"params": {DEEP}{"]" * 100_000}, "id": "\\q"}}', None, -32700),
        (f'{{"params": {DEEP}{"]" * 100_000}, "id": {"9" * 5_000}}}', None, -32700),
        (f'{{"params": {DEEP}' + '\\"' * 60_000, None, -32700),
        (f'{{"params": {DEEP}"id": 1}}', None, -32700),
        ('{"params": {"id": 5, "deep": ' + '{"deep": ' * 100_000, None, -32700),
        (b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 1, "method": "ping"}', None, -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "p\xffng"}', None, -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping\x00"}', None, -32700),
        (b"\x00", None, -32700),
    ],
    ids=lambda value: repr(value)[:60],
)
async def test_a_line_that_is_not_a_request_gets_one_error_and_the_server_continues(
    line: str | bytes, request_id: object, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask(line)
        assert (answer["id"], answer["error"]["code"]) == (request_id, code)
        assert answer["error"]["data"]["error"]["message"] == answer["error"]["message"]
        assert await still_answers(wire)
    assert "sk-secret" not in caplog.text + json.dumps(answer)


@pytest.mark.parametrize("request_id", [0, -1, 2**70, 10**4000, "", "Ж\u2028 量", "x" * 100_000])
async def test_an_answer_carries_the_id_of_its_request(request_id: object) -> None:
    async with wire_to(sample_server()) as wire:
        assert (await wire.ask(request("ping", id=request_id))) == {"jsonrpc": "2.0", "id": request_id, "result": {}}


async def test_a_name_that_is_given_twice_counts_as_its_last_value() -> None:
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask('{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping", "method": "ping"}')
    assert answer["id"] == 2


async def test_a_line_of_ten_megabytes_is_a_line() -> None:
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask(call("say", {"text": "x" * 10_000_000}))
    assert len(answer["result"]["content"][0]["text"]) == 10_000_000


async def test_a_line_beyond_the_limit_is_refused_under_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "LINE_LIMIT", 1_000)
    async with wire_to(sample_server()) as wire:
        answer = await wire.ask(call("say", {"text": "x" * 1_000}))
        assert (answer["id"], answer["error"]["data"]["error"]["code"]) == (1, "line_too_long")
        assert await still_answers(wire)


async def test_requests_with_the_same_id_have_an_answer_each() -> None:
    async with wire_to(sample_server()) as wire:
        for text in "abc":
            await wire.send(call("say", {"text": text}))
        answers = [await wire.receive() for _ in range(3)]
    assert sorted(answer["result"]["content"][0]["text"] for answer in answers) == ["a", "b", "c"]


async def batching(wire: Wire) -> None:
    assert (await wire.ask(BATCHING))["result"]["protocolVersion"] == "2025-03-26"
    await wire.send(INITIALIZED)


async def test_a_batch_is_answered_with_one_array() -> None:
    async with wire_to(sample_server(), initialized=False) as wire:
        await batching(wire)
        members: list[Any] = [
            request("ping", id=1),
            INITIALIZED,
            call("say", {"text": "two"}) | {"id": 2},
            request("explode", id=3),
            {**INITIALIZE, "id": 4},
            {"id": 1.5},
            7,
        ]
        answers = await wire.ask(members)
        assert await still_answers(wire)
    named = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    assert named[1]["result"] == {}
    assert named[2]["result"]["content"][0]["text"] == "two"
    assert [named[number]["error"]["code"] for number in (3, 4)] == [-32601, -32600]
    assert [answer["error"]["code"] for answer in answers if answer["id"] is None] == [-32600, -32600]
    assert len(answers) == 6


async def test_a_batch_that_asks_for_nothing_gets_nothing() -> None:
    async with wire_to(sample_server(), initialized=False) as wire:
        await batching(wire)
        await wire.send([INITIALIZED, {"jsonrpc": "2.0", "id": 1, "result": {}}])
        assert await still_answers(wire)


async def test_a_batch_may_follow_initialize_at_once_and_the_end_of_input_a_batch() -> None:
    async with wire_to(sample_server(), initialized=False) as wire:
        await wire.send(BATCHING)
        await wire.send(INITIALIZED)
        await wire.send([request("ping", id=1), call("say", {"text": "x"}) | {"id": 2}])
        wire.end()
        assert (await wire.receive())["id"] == "init"
        assert {answer["id"] for answer in await wire.receive()} == {1, 2}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25", "1999-01-01"])
async def test_a_batch_is_refused_in_versions_without_batches(version: str) -> None:
    async with wire_to(sample_server(), initialized=False) as wire:
        await wire.ask({**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version}})
        answer = await wire.ask([request("ping")])
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
        assert "2025-03-26" in answer["error"]["data"]["error"]["hint"]
        assert await still_answers(wire)


async def test_a_batch_before_initialize_and_one_of_more_than_a_hundred_are_refused() -> None:
    async with wire_to(sample_server(), initialized=False) as wire:
        assert (await wire.ask([request("ping")]))["error"]["data"]["error"]["hint"] == "Send initialize first."
        await batching(wire)
        answer = await wire.ask([request("ping", id=number) for number in range(101)])
        assert "at most 100" in answer["error"]["data"]["error"]["hint"]


async def test_a_cancelled_call_has_one_answer_and_holds_up_no_end() -> None:
    async with wire_to(sample_server()) as wire:
        await wire.send(call("wait_forever", {}))
        await wire.ask(request("ping", id=2))
        await wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        wire.end()
        assert (await wire.receive())["error"]["message"] == "Request cancelled"
        await wire.over()
        assert not wire.has_more


async def test_when_the_patience_ends_each_request_without_an_answer_is_refused_and_batches_are_completed() -> None:
    async with wire_to(sample_server(), initialized=False, patience=0.05) as wire:
        await batching(wire)
        await wire.send([call("wait_forever", {}), request("ping", id=2)])
        await wire.send(call("wait_forever", {}) | {"id": 3})
        wire.end()
        answers = [await wire.receive(), await wire.receive()]
        await wire.over()
        assert not wire.has_more
    together, alone = sorted(answers, key=lambda answer: isinstance(answer, dict))
    assert sorted(answer["id"] for answer in together) == [1, 2]
    assert (alone["id"], alone["error"]["data"]["error"]["code"]) == (3, "input_ended")
    assert "stdin open" in alone["error"]["data"]["error"]["hint"]
