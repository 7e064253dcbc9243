"""MCP sessions: their start, isolation, end and clean-up."""

import asyncio
import gc
from typing import Any

import pytest
from mcp.server.session import ServerSession
from mcp.server.streamable_http import StreamableHTTPServerTransport

from tests.requirements import requirement
from tests.universe.domain.samples import add_star, command
from tests.universe.mcp.agents import agent, call_tool, read_state
from tests.universe.mcp.served_universes import Served, run_server, wait_briefly, wait_until
from tests.universe.mcp.stores import BrokenStore
from tests.universe.mcp.stream_listener import open_command_stream
from tests.universe.mcp.wire import INITIALIZED, SESSION, Session, Wire, call, initialize, refusal_in, request
from uraniborg.kernel.mcp import Subscriptions
from uraniborg.kernel.mcp.session import Session as KernelSession

TICK = command("tick")
MESSAGES = [
    request("ping"),
    request("tools/list"),
    call("list_universe_commands", universeId="u"),
    request("no/such/method"),
    INITIALIZED,
]


# How they begin


@requirement("UN-19", "UN-20")
async def test_two_clients_have_sessions_of_their_own(wire: Wire, u: str) -> None:
    one, other = await wire.begin(), await wire.begin()
    assert one.id != other.id
    for session in (one, other):
        assert not (await session.call("get_universe_state", universeId=u)).get("isError")
    await one.end()
    assert (await one.post(request("ping"))).status_code == 404
    assert (await other.post(request("ping"))).status_code == 200


@requirement("UN-19", "UN-20")
async def test_a_hundred_sessions_have_a_hundred_ids_that_cannot_be_guessed(wire: Wire) -> None:
    begun = [await wire.post(initialize()) for _ in range(100)]
    ids = [response.headers[SESSION] for response in begun]
    assert len(set(ids)) == 100
    for each in ids:
        assert len(each) >= 32
        assert each.isascii()
        assert each.isprintable()
        assert " " not in each
    for each in ids:
        await Session(wire, each).end()


@requirement("UN-21")
@pytest.mark.parametrize("named", [None, "session-expired", "x" * 1_000, "0" * 32])
async def test_initialize_starts_a_session_whether_or_not_it_names_one_that_is_gone(
    wire: Wire, named: str | None
) -> None:
    begun = await wire.post(initialize(), named)
    assert begun.status_code == 200
    assert begun.headers[SESSION] not in (named, "")
    assert (await Session(wire, begun.headers[SESSION]).ask("ping"))["result"] == {}


@requirement("UN-21")
async def test_initialize_with_the_id_of_an_ended_session_starts_another(wire: Wire) -> None:
    ended = await wire.begin()
    await ended.end()
    begun = await wire.post(initialize(), ended.id)
    assert begun.status_code == 200
    assert begun.headers[SESSION] != ended.id
    assert (await ended.post(request("ping"))).status_code == 404


@requirement("UN-21")
async def test_initialize_with_the_id_of_a_live_session_starts_another_and_leaves_that_alone(wire: Wire) -> None:
    live = await wire.begin()
    begun = await wire.post(initialize(), live.id)
    assert begun.headers[SESSION] != live.id
    assert (await live.ask("ping"))["result"] == {}


@requirement("UN-21")
async def test_initialize_without_required_fields_starts_no_session(wire: Wire) -> None:
    refused = await wire.post(request("initialize", {"protocolVersion": 7}))
    assert "result" not in refused.text
    assert SESSION not in refused.headers


@requirement("UN-21", "UN-23")
@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message["method"])
async def test_any_other_message_needs_a_session_that_is_there(wire: Wire, message: dict[str, Any]) -> None:
    missing = await wire.post(message)
    unknown = await wire.post(message, "session-expired")
    assert (missing.status_code, refusal_in(missing)["code"]) == (400, "session_required")
    assert (unknown.status_code, refusal_in(unknown)["code"]) == (404, "session_not_found")
    assert "initialize" in refusal_in(unknown)["hint"]


@requirement("UN-23")
@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_stream_and_an_end_need_a_session_that_is_there(wire: Wire, method: str) -> None:
    missing = await wire.send(method)
    unknown = await wire.send(method, session="session-expired")
    assert (missing.status_code, refusal_in(missing)["code"]) == (400, "session_required")
    assert (unknown.status_code, refusal_in(unknown)["code"]) == (404, "session_not_found")


# The stream of a session


@requirement("UN-18", "UN-19")
async def test_a_session_has_one_stream_at_a_time(wire: Wire) -> None:
    session = await wire.begin()
    async with session.open_listener():
        second = await wire.send("GET", session=session.id)
        assert (second.status_code, refusal_in(second)["code"]) == (409, "stream_already_open")
        assert (await session.ask("ping"))["result"] == {}


@requirement("UN-18")
async def test_a_stream_that_was_closed_can_be_opened_again(universe_server: Served, wire: Wire, u: str) -> None:
    session = await wire.begin()
    await session.ask("resources/subscribe", {"uri": f"universe://universes/{u}"})
    async with session.open_listener():
        pass
    async with session.listening_again() as stream:
        await universe_server.send(u, TICK)
        assert (await stream.next()).data["method"] == "notifications/resources/updated"


# How they end


@requirement("UN-22", "UN-23")
async def test_after_its_end_every_request_of_a_session_is_refused(wire: Wire) -> None:
    session = await wire.begin()
    ended = await session.end()
    assert ended.status_code in (200, 202, 204)
    for message in MESSAGES:
        assert (await session.post(message)).status_code == 404
    for method in ("GET", "DELETE"):
        refused = await wire.send(method, session=session.id)
        assert (refused.status_code, refusal_in(refused)["code"]) == (404, "session_not_found"), method


@requirement("UN-22")
async def test_the_end_of_a_session_closes_its_stream_and_no_other(wire: Wire) -> None:
    ending, staying = await wire.begin(), await wire.begin()
    async with ending.open_listener() as closing, staying.open_listener() as open_one:
        assert (await ending.end()).is_success
        assert await closing.rest() == []
        assert (await wire.send("GET", session=staying.id)).status_code == 409
        assert open_one.response.is_closed is False


@requirement("UN-22")
@pytest.mark.usefixtures("few_objects")
async def test_the_end_of_a_session_takes_its_subscriptions_with_it_and_leaves_those_of_others() -> None:
    async with run_server() as server:
        await server.make("u")
        wire = Wire(server.http)
        elsewhere = _count_subscriptions()
        ending, staying = await wire.begin(), await wire.begin()
        for session in (ending, staying):
            await session.ask("resources/subscribe", {"uri": "universe://universes/u"})
        assert _count_subscriptions() == elsewhere + 2
        async with staying.open_listener() as stream:
            await ending.end()
            await wait_until(lambda: _count_subscriptions() == elsewhere + 1)
            await server.send("u", TICK)
            assert (await stream.next()).data["params"]["uri"] == "universe://universes/u"
        await staying.end()
        await wait_until(lambda: _count_subscriptions() == elsewhere)


@requirement("UN-22")
@pytest.mark.usefixtures("few_objects")
async def test_thirty_ended_sessions_leave_nothing_behind() -> None:
    async with run_server() as server:
        await server.make("u", add_star("sun"))
        wire = Wire(server.http)
        await _run_session(wire)
        open_one = await wire.begin()
        tasks, kept = len(asyncio.all_tasks()), _count_session_objects()
        assert all(kept.values()), "each kind is counted while a session is open"
        for _ in range(3):
            await asyncio.gather(*(_run_session(wire) for _ in range(10)))
        await wait_until(lambda: len(asyncio.all_tasks()) <= tasks)
        await wait_until(lambda: all(now <= kept[kind] for kind, now in _count_session_objects().items()))
        await open_one.end()


@requirement("UN-22")
async def test_a_session_ends_by_its_own_name_alone(wire: Wire) -> None:
    ending, staying = await wire.begin(), await wire.begin()
    for other in (f"{ending.id}x", ending.id[:-1], ending.id.upper(), "", "*"):
        assert (await wire.send("DELETE", session=other)).status_code in (400, 404), other
    assert (await ending.post(request("ping"))).status_code == 200
    assert (await ending.end()).is_success
    assert (await ending.end()).status_code == 404
    assert (await staying.post(request("ping"))).status_code == 200


@requirement("UN-22")
async def test_an_ended_session_frees_its_place_at_once() -> None:
    async with run_server(max_sessions=1) as server:
        wire = Wire(server.http)
        for _ in range(3):
            session = await wire.begin()
            async with session.open_listener():
                assert (await wire.post(initialize())).status_code == 503
                assert (await session.end()).is_success


async def _run_session(wire: Wire) -> None:
    """Run a session with a subscription, a stream and a command, and end it."""
    session = await wire.begin()
    await session.ask("resources/subscribe", {"uri": "universe://universes/u"})
    async with session.open_listener():
        assert not (await session.call("send_universe_command", universeId="u", command=TICK)).get("isError")
        assert (await session.end()).is_success


def _count_session_objects() -> dict[str, int]:
    """Return the number of objects in memory of each class that a session uses."""
    gc.collect()
    kinds = (KernelSession, StreamableHTTPServerTransport, ServerSession)
    every = gc.get_objects()
    return {kind.__name__: sum(isinstance(one, kind) for one in every) for kind in kinds}


def _count_subscriptions() -> int:
    """Return the number of subscriptions of all servers of this process."""
    gc.collect()
    return sum(one.count for one in gc.get_objects() if isinstance(one, Subscriptions))


@requirement("UN-15", "UN-22")
async def test_a_session_that_ends_during_a_call_does_no_harm() -> None:
    store = BrokenStore()
    async with run_server(store) as server, agent(server.mcp) as client:
        await server.make("u", add_star("sun"))
        wire = Wire(server.http)
        session = await wire.begin()
        async with store.holding():
            message = call("send_universe_command", universeId="u", command=TICK)
            calling = asyncio.create_task(session.post(message))
            await wait_briefly(store.waiting.wait())
            assert (await session.end()).is_success
            await wait_briefly(asyncio.gather(calling, return_exceptions=True))
        assert (await call_tool(client, "send_universe_command", universeId="u", command=TICK))["version"] in (2, 3)
        assert (await session.post(request("ping"))).status_code == 404


# Those that nobody ends


@requirement("UN-21", "UN-23")
async def test_a_session_that_is_not_used_expires_and_its_client_starts_over() -> None:
    async with run_server(session_idle_s=0.2) as server:
        await server.make("u")
        wire = Wire(server.http)
        await (await wire.begin()).end()
        before = len(asyncio.all_tasks())
        expired = await wire.begin()
        await wait_until(lambda: len(asyncio.all_tasks()) <= before)
        for method in ("POST", "GET", "DELETE"):
            refused = await wire.send(method, request("ping") if method == "POST" else None, expired.id)
            assert (refused.status_code, refusal_in(refused)["code"]) == (404, "session_not_found"), method
        begun = await wire.post(initialize(), expired.id)
        assert begun.status_code == 200
        assert begun.headers[SESSION] != expired.id


@requirement("UN-19")
async def test_a_session_with_an_open_stream_does_not_expire() -> None:
    async with run_server(session_idle_s=0.2) as server:
        wire = Wire(server.http)
        listening = await wire.begin()
        async with listening.open_listener():
            before = len(asyncio.all_tasks())
            idle = await wire.begin()
            await wait_until(lambda: len(asyncio.all_tasks()) <= before)
            assert (await idle.post(request("ping"))).status_code == 404
            assert (await listening.ask("ping"))["result"] == {}


@requirement("UN-19", "UN-21")
async def test_at_the_limit_the_session_unused_for_longest_makes_room() -> None:
    async with run_server(max_sessions=5) as server:
        wire = Wire(server.http)
        in_use = await wire.begin()
        async with in_use.open_listener():
            sessions = [await wire.begin() for _ in range(4)]
            await sessions[0].ask("ping")
            newcomer = await wire.begin()
            assert (await sessions[1].post(request("ping"))).status_code == 404
            for session in (in_use, sessions[0], sessions[2], sessions[3], newcomer):
                assert (await session.ask("ping"))["result"] == {}


@requirement("UN-21")
async def test_where_all_sessions_are_in_use_a_newcomer_waits_for_one_to_end() -> None:
    async with run_server(max_sessions=2) as server:
        wire = Wire(server.http)
        one, other = await wire.begin(), await wire.begin()
        async with one.open_listener(), other.open_listener():
            refused = await wire.post(initialize())
            assert (refused.status_code, refusal_in(refused)["code"]) == (503, "too_many_sessions")
            await other.end()
            assert (await wire.post(initialize())).status_code == 200
            assert (await one.ask("ping"))["result"] == {}


@requirement("UN-19", "UN-21", "UN-24")
async def test_hundreds_of_sessions_left_open_exclude_no_new_client() -> None:
    async with run_server(max_sessions=200) as server:
        await server.make("u", add_star("sun"))
        wire = Wire(server.http)
        async with open_command_stream(server.http, "u") as listener:
            ids = [(await wire.post(initialize())).headers[SESSION] for _ in range(250)]
            assert len(set(ids)) == 250
            async with agent(server.mcp) as client:
                assert (await read_state(client, "u"))["stars"].keys() == {"sun"}
                await server.send("u", TICK)
                assert (await listener.next()).data["version"] == 2
        assert (await wire.post(request("ping"), ids[0])).status_code == 404
        assert (await wire.post(request("ping"), ids[-1])).status_code == 200
