"""Invalid messages, batches and disconnecting clients do not disturb the server."""

import asyncio
import json
from typing import Any

import pytest

from tests.requirements import requirement
from tests.universe.domain.samples import command
from tests.universe.mcp.agents import TOOLS, agent, send_command
from tests.universe.mcp.hostile_values import get_error_of_response, is_alive
from tests.universe.mcp.served_universes import Served, wait_briefly
from tests.universe.mcp.wire import SESSION, Wire, call, refusal_in, request

TICK = command("tick")


# Messages that are none


@requirement("UN-15")
@pytest.mark.parametrize("arguments", [None, [], "x", 7])
async def test_arguments_that_are_not_an_object_are_refused(wire: Wire, u: str, arguments: Any) -> None:
    session = await wire.begin()
    for tool in TOOLS:
        response = await session.post(request("tools/call", {"name": tool, "arguments": arguments}))
        assert get_error_of_response(response)["code"]
    assert await is_alive(session, u)


@requirement("UN-15", "UN-17")
@pytest.mark.parametrize(
    "message",
    [
        {},
        [],
        "ping",
        7,
        True,
        {"jsonrpc": "2.0"},
        {"jsonrpc": "1.0", "id": 1, "method": "ping"},
        {"id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        {"jsonrpc": "2.0", "id": {}, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
        {"jsonrpc": "2.0", "id": True, "method": "ping"},
        {"jsonrpc": "2.0", "id": 1, "method": 7},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]},
        {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"},
    ],
    ids=json.dumps,
)
async def test_an_invalid_message_is_refused_and_the_session_continues(wire: Wire, u: str, message: Any) -> None:
    session = await wire.begin()
    response = await session.post(message)
    assert response.status_code == 400
    assert refusal_in(response)["code"] == "invalid_request"
    assert await is_alive(session, u)


@requirement("UN-15", "UN-17")
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such/method", None, -32601),
        ("prompts/get", {"name": "no_such_prompt"}, -32602),
        ("tools/call", None, -32602),
        ("tools/call", {"name": 7}, -32602),
        ("tools/call", {"arguments": {}}, -32602),
        ("resources/read", {}, -32602),
        ("resources/read", {"uri": "no uri"}, -32602),
        ("resources/subscribe", {"uri": 7}, -32602),
    ],
)
async def test_a_message_that_asks_for_nothing_there_is_gets_the_right_code(
    wire: Wire, u: str, method: str, params: Any, code: int
) -> None:
    session = await wire.begin()
    answered = await session.ask(method, params)
    assert answered["error"]["code"] == code
    assert answered["error"]["data"]["error"].keys() >= {"code", "message", "hint"}
    assert await is_alive(session, u)


@requirement("UN-17")
async def test_unrequested_answers_are_taken_and_forgotten(wire: Wire, u: str) -> None:
    session = await wire.begin()
    assert (await session.post({"jsonrpc": "2.0", "id": 99, "result": {}})).status_code == 202
    assert (await session.post({"jsonrpc": "2.0", "method": "notifications/unheard-of"})).status_code == 202
    assert await is_alive(session, u)


# Many messages at once


@requirement("UN-17")
async def test_a_batch_is_answered_together_in_the_version_that_has_batches(
    universe_server: Served, wire: Wire, u: str
) -> None:
    session = await wire.begin("2025-03-26")
    requests = [
        call("send_universe_command", universeId=u, command=TICK),
        call("get_universe_state", universeId="u-missing"),
        request("no/such/method"),
        request("ping"),
    ]
    unasked = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}}
    response = await session.post([*requests, unasked, 7])
    assert response.status_code == 200
    answers = {answer["id"]: answer for answer in response.json()}
    assert answers.keys() == {message["id"] for message in requests} | {None}
    kinds = [answers[message["id"]].keys() & {"result", "error"} for message in requests]
    assert kinds == [{"result"}, {"result"}, {"error"}, {"result"}]
    assert answers[None]["error"]["code"] == -32600
    assert await universe_server.version(u) == 4


@requirement("UN-17")
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_a_batch_is_refused_in_versions_without_them(
    universe_server: Served, wire: Wire, u: str, version: str
) -> None:
    session = await wire.begin(version)
    refused = await session.post([call("send_universe_command", universeId=u, command=TICK)])
    assert (refused.status_code, refusal_in(refused)["code"]) == (400, "invalid_request")
    assert await universe_server.version(u) == 3


@requirement("UN-17")
@pytest.mark.parametrize("batch", [[], [request("ping")] * 10_000], ids=["empty", "endless"])
async def test_a_batch_of_nothing_or_of_too_much_is_refused(wire: Wire, u: str, batch: list[Any]) -> None:
    session = await wire.begin("2025-03-26")
    refused = await wait_briefly(session.post(batch))
    assert (refused.status_code, refusal_in(refused)["code"]) == (400, "invalid_request")
    assert await is_alive(session, u)


@requirement("UN-21")
async def test_a_batch_starts_no_session(wire: Wire) -> None:
    started = await wire.post([request("initialize", {})])
    assert started.status_code == 400
    assert SESSION not in started.headers


# Clients that leave


@requirement("UN-15")
async def test_a_client_that_leaves_during_a_call_has_its_command_done(
    universe_server: Served, wire: Wire, u: str
) -> None:
    session = await wire.begin()
    leaving = [
        asyncio.create_task(session.post(call("send_universe_command", universeId=u, command=TICK))) for _ in range(20)
    ]
    await asyncio.wait(leaving, timeout=20, return_when=asyncio.FIRST_COMPLETED)
    for each in leaving:
        each.cancel()
    await wait_briefly(asyncio.gather(*leaving, return_exceptions=True))
    async with agent(universe_server.mcp) as client:
        printed = await send_command(client, u, TICK)
    assert printed["nextState"]["time"] == printed["version"] - 3
    assert (await session.ask("ping"))["result"] == {}


@requirement("UN-19")
async def test_a_client_that_does_not_read_its_stream_delays_no_other_client(
    universe_server: Served, wire: Wire, u: str
) -> None:
    deaf, hearing = await wire.begin(), await wire.begin()
    for session in (deaf, hearing):
        await session.ask("resources/subscribe", {"uri": f"universe://universes/{u}"})

    headers = {SESSION: deaf.id, "accept": "text/event-stream"}
    async with wire.http.stream("GET", "/mcp", headers=headers) as unread, hearing.open_listener() as read:
        assert unread.status_code == 200
        for _ in range(3):
            await universe_server.send(u, TICK)
            assert (await read.next()).data["method"] == "notifications/resources/updated"
        assert (await deaf.ask("ping"))["result"] == {}
