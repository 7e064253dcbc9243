"""What nobody should send, and what the server makes of it: an error, and the next call."""

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from tests.requirements import requirement
from tests.universe.domain import samples
from tests.universe.domain.samples import add_star, command
from tests.universe.mcp.agents import TOOLS, agent, answer, failure, refused, send, state_of
from tests.universe.mcp.listening import Listener
from tests.universe.mcp.served import Served, soon
from tests.universe.mcp.wire import SESSION, Session, Wire, call, message_in, refusal_in, request
from uraniborg.kernel.mcp.testing import text_of

TICK = command("tick")
MEGABYTE = 1_000_000
HOSTILE_IDS = ["", " ", "__proto__", "constructor", "🌌", "x" * 10_240, "../../etc/passwd", "a\x00b", "%00", "'; DROP--"]


async def alive(session: Session, u: str) -> bool:
    """Whether the session and the universe are as good as before."""
    said = await session.call("get_universe_state", universeId=u)
    return not said.get("isError") and len(json.loads(said["content"][0]["text"])["stars"]) == 3


async def sent(session: Session, u: str, written: str) -> Any:
    """The answer to a command that is written by hand."""
    message = json.dumps(call("send_universe_command", universeId=u, command="COMMAND"))
    return await session.post(message.replace('"COMMAND"', written).encode())


def error_of(response: Any) -> dict[str, Any]:
    """The error in an answer, be it an HTTP refusal, a JSON-RPC error or a failed result."""
    if response.status_code >= 400:
        return refusal_in(response)
    message = message_in(response)
    if "error" in message:
        return message["error"]["data"]["error"]
    assert message["result"]["isError"] is True, response.text[:500]
    return json.loads(message["result"]["content"][0]["text"])["error"]


# Too much


@requirement("UN-15")
async def test_a_command_of_more_than_ten_megabytes_is_refused_and_the_session_goes_on(wire: Wire, u: str) -> None:
    session = await wire.begin()
    large = call("send_universe_command", universeId=u, command=add_star("x", name="x" * 10 * MEGABYTE))
    refused = await session.post(large)
    assert (refused.status_code, refusal_in(refused)["code"]) == (413, "body_too_large")
    assert await alive(session, u)


@requirement("UN-15")
async def test_a_command_of_nine_megabytes_is_answered_while_others_go_on(hven: Served, wire: Wire, u: str) -> None:
    large, other = await wire.begin(), await wire.begin()
    await hven.make(f"{u}-large")
    star = add_star("x", name="x" * 9 * MEGABYTE)
    sending = asyncio.create_task(
        large.call("send_universe_command", universeId=f"{u}-large", command=star, **{"return": "events"})
    )
    assert await soon(alive(other, u))
    said = await soon(sending)
    assert json.loads(said["content"][0]["text"])["version" if not said.get("isError") else "error"]
    assert await alive(large, u)


@requirement("UN-15")
async def test_a_hundred_thousand_nested_groups_are_refused_in_good_time(wire: Wire, u: str) -> None:
    session = await wire.begin()
    depth = 100_000
    groups = ",".join(
        f'"{key}":{{"id":"{key}","name":"","children":[],"parentGroupId":{json.dumps(str(key - 1)) if key else "null"}}}'
        for key in range(depth)
    )
    written = '{"type":"replaceSnapshot","snapshot":{"stars":{},"rootIds":[],"groups":{%s},"rootGroupIds":["0"]}}'
    error = error_of(await soon(sent(session, u, written % groups)))
    assert error["code"] in {"hierarchy_refused", "malformed_command"}
    assert error["universeId"] == u
    assert await alive(session, u)


@requirement("UN-15")
@pytest.mark.parametrize("depth", [100, 1_000, 100_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")], ids=["lists", "objects"])
async def test_json_that_is_nested_deep_is_refused(wire: Wire, u: str, depth: int, opened: str, closed: str) -> None:
    session = await wire.begin()
    inner = f"{opened * depth}1{closed * depth}"
    payload = json.dumps(samples.a_payload())[:-1]
    response = await soon(sent(session, u, f'{{"type":"addStar","id":"x","payload":{payload},"deep":{inner}}}}}'))
    assert error_of(response)["code"]
    assert await alive(session, u)


# Numbers and texts that JSON does not have


@requirement("UN-12", "UN-15")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400])
async def test_a_number_that_is_none_never_becomes_the_time(wire: Wire, u: str, number: str) -> None:
    session = await wire.begin()
    assert error_of(await sent(session, u, f'{{"type":"tick","dt":{number}}}'))["code"]
    state = json.loads((await session.call("get_universe_state", universeId=u))["content"][0]["text"])
    assert state["time"] == 0


@requirement("UN-12", "UN-15")
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
async def test_the_official_client_cannot_make_time_undefined_either(hven: Served, u: str, number: float) -> None:
    async with agent(hven.mcp) as client:
        error = await refused(client, u, command("tick", dt=number))
        assert (error["code"], error["path"]) == ("malformed_command", "dt")
        assert (await state_of(client, u))["time"] == 0


@requirement("UN-15")
async def test_half_a_character_is_refused(wire: Wire, u: str) -> None:
    session = await wire.begin()
    payload = json.dumps(samples.a_payload(name="HALF")).replace("HALF", r"\ud83d")
    assert error_of(await sent(session, u, f'{{"type":"addStar","id":"x","payload":{payload}}}'))["code"]
    halved = json.dumps(call("get_universe_state", universeId="HALF")).replace("HALF", r"\ud83d")
    assert error_of(await session.post(halved.encode()))["code"]
    assert await alive(session, u)


@requirement("UN-15")
@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b'{"jsonrpc"', b"null\x00", b"[" * 100_000])
async def test_what_is_no_json_is_refused(wire: Wire, u: str, body: bytes) -> None:
    session = await wire.begin()
    refused = await session.post(body)
    assert refused.status_code == 400
    assert refusal_in(refused)["code"] in {"invalid_json", "invalid_request"}
    assert await alive(session, u)


# Ids


@requirement("UN-14", "UN-15", "UN-16")
@pytest.mark.parametrize("tool", ["get_universe_state", "send_universe_command"])
async def test_an_id_that_no_universe_has_is_an_error_of_moderate_length(hven: Served, tool: str) -> None:
    given = {"command": TICK} if tool == "send_universe_command" else {}
    async with agent(hven.mcp) as client:
        for each in HOSTILE_IDS:
            result = await client.call_tool(tool, {"universeId": each, **given})
            assert result.isError is True, each
            assert len(text_of(result)) < 3_000
            error = json.loads(text_of(result))["error"]
            assert error["code"] == "universe_not_found" or error["argument"] == "universeId", each


@requirement("UN-7")
async def test_the_listing_survives_any_id(hven: Served) -> None:
    async with agent(hven.mcp) as client:
        for each in HOSTILE_IDS:
            result = await client.call_tool("list_universe_commands", {"universeId": each})
            assert result.isError is (len(each) > 1_000), each[:80]


@requirement("UN-15")
@pytest.mark.parametrize("key", ["__proto__", "constructor", "toString", "🌌", "a/b", " ", "x" * 100, "a\nb"])
async def test_a_body_may_have_an_odd_id(hven: Served, u: str, key: str) -> None:
    async with agent(hven.mcp) as client:
        missing = await refused(client, u, command("updateStar", id=key, payload={"mass": 1}))
        assert missing["event"] == {"type": "starNotFound", "id": key}
        said = await send(client, u, add_star(key, "sun"))
        assert said["nextState"]["stars"][key]["id"] == key
        part = await answer(client, "get_universe_state", universeId=u, ids=[key], fields=["id"])
        assert part["stars"] == {key: {"id": key}}
        await send(client, u, command("removeStar", id=key))
        assert (await state_of(client, u))["stars"].keys() == {"sun", "earth", "moon"}


@requirement("UN-15")
@pytest.mark.xfail(strict=True, reason="the texts in the event of a refusal are cut off after 100 characters")
async def test_the_longest_id_is_whole_in_the_event_of_a_refusal(hven: Served, u: str) -> None:
    async with agent(hven.mcp) as client:
        error = await refused(client, u, command("removeStar", id="x" * 256))
    assert error["event"] == {"type": "starNotFound", "id": "x" * 256}


@requirement("UN-15")
@pytest.mark.parametrize("key", ["", "x" * 10_240, None, 7, ["x"]])
async def test_a_body_may_not_have_an_impossible_id(hven: Served, u: str, key: Any) -> None:
    async with agent(hven.mcp) as client:
        error = await refused(client, u, command("addStar", id=key, payload=samples.a_payload()))
    assert (error["code"], error["path"]) == ("malformed_command", "id")
    assert await hven.version(u) == 3


# Commands that are something else


@requirement("UN-5", "UN-15")
@pytest.mark.parametrize("given", [None, 1, True, "tick", "", "[]", '"tick"', [], [TICK], "{", '{"type": NaN}'], ids=repr)
async def test_a_command_that_is_no_object_is_refused(hven: Served, u: str, given: Any) -> None:
    async with agent(hven.mcp) as client:
        error = await failure(client, "send_universe_command", universeId=u, command=given)
    assert error.get("argument") == "command" or error["code"] == "malformed_command"
    assert await hven.version(u) == 3


@requirement("UN-15")
@pytest.mark.parametrize("arguments", [None, [], "x", 7])
async def test_arguments_that_are_no_object_are_refused(wire: Wire, u: str, arguments: Any) -> None:
    session = await wire.begin()
    for tool in TOOLS:
        response = await session.post(request("tools/call", {"name": tool, "arguments": arguments}))
        assert error_of(response)["code"]
    assert await alive(session, u)


# Messages that are none


@requirement("UN-15", "UN-17")
@pytest.mark.parametrize(
    "message",
    [
        {},
        [],
        "ping",
        7,
        pytest.param(None, marks=pytest.mark.xfail(strict=True, reason="null is said not to be JSON")),
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
async def test_what_is_no_message_is_refused_and_the_session_goes_on(wire: Wire, u: str, message: Any) -> None:
    session = await wire.begin()
    response = await session.post(message)
    assert response.status_code == 400
    assert refusal_in(response)["code"] == "invalid_request"
    assert await alive(session, u)


@requirement("UN-15", "UN-17")
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("no/such/method", None, -32601),
        ("prompts/list", None, -32601),
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
    assert await alive(session, u)


@requirement("UN-17")
async def test_answers_that_nobody_asked_for_are_taken_and_forgotten(wire: Wire, u: str) -> None:
    session = await wire.begin()
    assert (await session.post({"jsonrpc": "2.0", "id": 99, "result": {}})).status_code == 202
    assert (await session.post({"jsonrpc": "2.0", "method": "notifications/unheard-of"})).status_code == 202
    assert await alive(session, u)


# Many messages at once


@requirement("UN-17")
async def test_a_batch_is_answered_together_in_the_version_that_has_batches(hven: Served, wire: Wire, u: str) -> None:
    session = await wire.begin("2025-03-26")
    batch = [
        call("send_universe_command", universeId=u, command=TICK),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        call("get_universe_state", universeId="u-missing"),
        request("no/such/method"),
        7,
        request("ping"),
    ]
    response = await session.post(batch)
    assert response.status_code == 200
    answers = {answer["id"]: answer for answer in response.json()}
    asked = [message["id"] for message in batch if isinstance(message, dict) and "id" in message]
    assert answers.keys() == {*asked, None}
    assert [answers[each].keys() & {"result", "error"} for each in asked] == [
        {"result"},
        {"result"},
        {"error"},
        {"result"},
    ]
    assert await hven.version(u) == 4


@requirement("UN-17")
@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_a_batch_is_refused_in_versions_without_them(hven: Served, wire: Wire, u: str, version: str) -> None:
    session = await wire.begin(version)
    refused = await session.post([call("send_universe_command", universeId=u, command=TICK)])
    assert (refused.status_code, refusal_in(refused)["code"]) == (400, "invalid_request")
    assert await hven.version(u) == 3


@requirement("UN-17")
@pytest.mark.parametrize("batch", [[], [request("ping")] * 10_000], ids=["empty", "endless"])
async def test_a_batch_of_nothing_or_of_too_much_is_refused(wire: Wire, u: str, batch: list[Any]) -> None:
    session = await wire.begin("2025-03-26")
    refused = await soon(session.post(batch))
    assert (refused.status_code, refusal_in(refused)["code"]) == (400, "invalid_request")
    assert await alive(session, u)


@requirement("UN-21")
async def test_a_batch_starts_no_session(wire: Wire) -> None:
    started = await wire.post([request("initialize", {})])
    assert started.status_code == 400
    assert SESSION not in started.headers


# Clients that leave


@requirement("UN-15")
async def test_a_client_that_leaves_during_a_call_has_its_command_done(hven: Served, wire: Wire, u: str) -> None:
    session = await wire.begin()
    leaving = [
        asyncio.create_task(session.post(call("send_universe_command", universeId=u, command=TICK))) for _ in range(20)
    ]
    await asyncio.wait(leaving, timeout=20, return_when=asyncio.FIRST_COMPLETED)
    for each in leaving:
        each.cancel()
    await soon(asyncio.gather(*leaving, return_exceptions=True))
    async with agent(hven.mcp) as client:
        said = await send(client, u, TICK)
    assert said["nextState"]["time"] == said["version"] - 3
    assert (await session.ask("ping"))["result"] == {}


@requirement("UN-19")
async def test_a_client_that_does_not_read_its_stream_holds_up_nobody(hven: Served, wire: Wire, u: str) -> None:
    deaf, hearing = await wire.begin(), await wire.begin()
    for session in (deaf, hearing):
        await session.ask("resources/subscribe", {"uri": f"universe://universes/{u}"})

    def stream() -> AbstractAsyncContextManager[Listener]:
        return hearing.listening()

    headers = {SESSION: deaf.id, "accept": "text/event-stream"}
    async with wire.http.stream("GET", "/mcp", headers=headers) as unread, stream() as read:
        assert unread.status_code == 200
        for _ in range(3):
            await hven.send(u, TICK)
            assert (await read.next()).data["method"] == "notifications/resources/updated"
        assert (await deaf.ask("ping"))["result"] == {}
