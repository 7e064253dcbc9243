"""Hostile input gets an error, and the next call works."""

import asyncio
import json
from typing import Any

import pytest

from tests.requirements import requirement
from tests.universe.domain import samples
from tests.universe.domain.samples import add_star, command
from tests.universe.mcp.agents import (
    agent,
    call_failing_tool,
    call_tool,
    read_state,
    send_command,
    send_refused_command,
)
from tests.universe.mcp.hostile_values import get_error_of_response, is_alive, send_raw_command
from tests.universe.mcp.served_universes import Served, wait_briefly
from tests.universe.mcp.wire import Wire, call, message_in, refusal_in
from uraniborg.kernel.mcp.testing import get_text

TICK = command("tick")
MEGABYTE = 1_000_000
HOSTILE_IDS = [
    "",
    " ",
    "__proto__",
    "constructor",
    "🌌",
    "x" * 10_240,
    "../../etc/passwd",
    "a\x00b",
    "%00",
    "'; DROP--",
]


# Too much


@requirement("UN-15")
async def test_a_command_of_more_than_ten_megabytes_is_refused_and_the_session_continues(wire: Wire, u: str) -> None:
    session = await wire.begin()
    large = call("send_universe_command", universeId=u, command=add_star("x", name="x" * 10 * MEGABYTE))
    refused = await session.post(large)
    assert (refused.status_code, refusal_in(refused)["code"]) == (413, "body_too_large")
    assert await is_alive(session, u)


@requirement("UN-15")
async def test_a_command_of_nine_megabytes_is_answered_while_others_continue(
    universe_server: Served, wire: Wire, u: str
) -> None:
    large, other = await wire.begin(), await wire.begin()
    await universe_server.make(f"{u}-large")
    star = add_star("x", name="x" * 9 * MEGABYTE)
    sending = asyncio.create_task(
        large.call("send_universe_command", universeId=f"{u}-large", command=star, **{"return": "events"})
    )
    assert await wait_briefly(is_alive(other, u))
    printed = await wait_briefly(sending)
    assert json.loads(printed["content"][0]["text"])["version" if not printed.get("isError") else "error"]
    assert await is_alive(large, u)


@requirement("UN-15")
async def test_twenty_thousand_nested_groups_are_answered_in_good_time(
    universe_server: Served, wire: Wire, u: str
) -> None:
    session = await wire.begin()
    await universe_server.make(f"{u}-nested")
    groups = {str(key): samples.a_group(str(key), str(key - 1) if key else None, name="") for key in range(20_000)}
    snapshot = {"stars": {}, "rootIds": [], "groups": groups, "rootGroupIds": ["0"]}
    written = json.dumps(command("replaceSnapshot", snapshot=snapshot), separators=(",", ":"))
    response = await wait_briefly(send_raw_command(session, f"{u}-nested", written))
    if message_in(response)["result"].get("isError"):
        assert get_error_of_response(response)["code"] == "hierarchy_refused"
    else:
        inwards = command("moveToGroup", childId="0", childType="group", targetGroupId="19999")
        circle = json.dumps(inwards)
        assert (
            get_error_of_response(await wait_briefly(send_raw_command(session, f"{u}-nested", circle)))["code"]
            == "hierarchy_refused"
        )
    assert await is_alive(session, u)


@requirement("UN-15")
@pytest.mark.parametrize("depth", [100, 1_000, 100_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")], ids=["lists", "objects"])
async def test_json_that_is_nested_deep_is_refused(wire: Wire, u: str, depth: int, opened: str, closed: str) -> None:
    session = await wire.begin()
    inner = f"{opened * depth}1{closed * depth}"
    payload = json.dumps(samples.a_payload())[:-1]
    response = await wait_briefly(
        send_raw_command(session, u, f'{{"type":"addStar","id":"x","payload":{payload},"deep":{inner}}}}}')
    )
    assert get_error_of_response(response)["code"]
    assert await is_alive(session, u)


# Numbers and texts that JSON does not have


@requirement("UN-12", "UN-15")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400])
async def test_an_invalid_number_never_becomes_the_time(wire: Wire, u: str, number: str) -> None:
    session = await wire.begin()
    answer = message_in(await send_raw_command(session, u, f'{{"type":"tick","dt":{number}}}'))
    assert answer["result"]["isError"] is True
    error = json.loads(answer["result"]["content"][0]["text"])["error"]
    assert error["universeId"] == u
    assert error["path"].endswith("dt")
    state = json.loads((await session.call("get_universe_state", universeId=u))["content"][0]["text"])
    assert state["time"] == 0


@requirement("UN-12", "UN-15")
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
async def test_the_official_client_cannot_make_time_undefined_either(
    universe_server: Served, u: str, number: float
) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, u, command("tick", dt=number))
        assert (error["code"], error["path"]) == ("malformed_command", "dt")
        assert (await read_state(client, u))["time"] == 0


@requirement("UN-15")
async def test_half_a_character_is_refused(wire: Wire, u: str) -> None:
    session = await wire.begin()
    payload = json.dumps(samples.a_payload(name="HALF")).replace("HALF", r"\ud83d")
    assert get_error_of_response(
        await send_raw_command(session, u, f'{{"type":"addStar","id":"x","payload":{payload}}}')
    )["code"]
    halved = json.dumps(call("get_universe_state", universeId="HALF")).replace("HALF", r"\ud83d")
    assert get_error_of_response(await session.post(halved.encode()))["code"]
    assert await is_alive(session, u)


@requirement("UN-15")
@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"jsonrpc"', b"null\x00", b"[" * 100_000])
async def test_invalid_json_is_refused(wire: Wire, u: str, body: bytes) -> None:
    session = await wire.begin()
    refused = await session.post(body)
    assert refused.status_code == 400
    assert refusal_in(refused)["code"] in {"invalid_json", "invalid_request"}
    assert await is_alive(session, u)


# Ids


@requirement("UN-14", "UN-15", "UN-16")
@pytest.mark.parametrize("tool", ["get_universe_state", "send_universe_command"])
async def test_an_id_that_no_universe_has_is_an_error_of_moderate_length(universe_server: Served, tool: str) -> None:
    given = {"command": TICK} if tool == "send_universe_command" else {}
    async with agent(universe_server.mcp) as client:
        for each in HOSTILE_IDS:
            result = await client.call_tool(tool, {"universeId": each, **given})
            assert result.isError is True, each
            assert len(get_text(result)) < 3_000
            error = json.loads(get_text(result))["error"]
            assert error["code"] == "universe_not_found" or error["argument"] == "universeId", each


@requirement("UN-7")
async def test_the_listing_survives_any_id(universe_server: Served) -> None:
    async with agent(universe_server.mcp) as client:
        for each in HOSTILE_IDS:
            result = await client.call_tool("list_universe_commands", {"universeId": each})
            assert result.isError is (len(each) > 1_000), each[:80]


@requirement("UN-15")
@pytest.mark.parametrize("key", ["__proto__", "constructor", "toString", "🌌", "a/b", " ", "x" * 100, "a\nb"])
async def test_a_body_may_have_an_odd_id(universe_server: Served, u: str, key: str) -> None:
    async with agent(universe_server.mcp) as client:
        missing = await send_refused_command(client, u, command("updateStar", id=key, payload={"mass": 1}))
        assert missing["event"] == {"type": "starNotFound", "id": key}
        printed = await send_command(client, u, add_star(key, "sun"))
        assert printed["nextState"]["stars"][key]["id"] == key
        part = await call_tool(client, "get_universe_state", universeId=u, ids=[key], fields=["id"])
        assert part["stars"] == {key: {"id": key}}
        await send_command(client, u, command("removeStar", id=key))
        assert (await read_state(client, u))["stars"].keys() == {"sun", "earth", "moon"}


@requirement("UN-15")
async def test_the_longest_id_is_whole_in_the_event_of_a_refusal(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, u, command("removeStar", id="x" * 256))
    assert error["event"] == {"type": "starNotFound", "id": "x" * 256}


@requirement("UN-15")
@pytest.mark.parametrize("key", ["", "x" * 10_240, None, 7, ["x"]])
async def test_a_body_may_not_have_an_impossible_id(universe_server: Served, u: str, key: Any) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, u, command("addStar", id=key, payload=samples.a_payload()))
    assert (error["code"], error["path"]) == ("malformed_command", "id")
    assert await universe_server.version(u) == 3


# Commands that are something else


@requirement("UN-5", "UN-15")
@pytest.mark.parametrize("given", [None, 1, True, "tick", "", "[]", '"tick"', [], "{", '{"type": NaN}'], ids=repr)
async def test_a_command_that_is_not_an_object_is_refused(universe_server: Served, u: str, given: Any) -> None:
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, "send_universe_command", universeId=u, command=given)
    assert error.get("argument") == "command" or error["code"] == "malformed_command"
    assert await universe_server.version(u) == 3


@requirement("UN-5")
async def test_a_list_of_commands_is_not_a_command(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        await call_failing_tool(client, "send_universe_command", universeId=u, command=[TICK, TICK])
    assert await universe_server.version(u) == 3
