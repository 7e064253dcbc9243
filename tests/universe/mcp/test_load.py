"""Many agents on one universe: nothing is lost, nothing is done twice, everybody sees the same order."""

import asyncio
from contextlib import AsyncExitStack
from typing import Final

import pytest

from tests.requirements import requirement
from tests.universe.domain.samples import add_star, command
from tests.universe.mcp.agents import agent, send
from tests.universe.mcp.listening import Event, commands_of
from tests.universe.mcp.served import Served, served
from tests.universe.mcp.wire import Wire

CLIENTS: Final = 64
CALLS: Final = 8
LISTENERS: Final = 4


def body(client: int, number: int) -> str:
    return f"body {client} {number}"


@requirement("UN-8", "UN-19")
@pytest.mark.timeout(120)
async def test_64_agents_lose_nothing_double_nothing_and_all_listeners_see_one_order() -> None:
    """Official clients, all at once, each with a session of its own."""
    async with served() as server:
        await server.make("u", add_star("sun"))
        answers: list[dict[int, int]] = [{} for _ in range(CLIENTS)]

        async def work(client_number: int) -> None:
            async with agent(server.mcp) as client:
                ready.release()
                await go.wait()
                for number in range(CALLS):
                    star = add_star(body(client_number, number), "sun")
                    said = await send(client, "u", star, **{"return": "events"})
                    answers[client_number][number] = said["version"]

        ready, go = asyncio.Semaphore(0), asyncio.Event()
        async with AsyncExitStack() as stack:
            listeners = [await stack.enter_async_context(commands_of(server.http, "u")) for _ in range(LISTENERS)]
            async with asyncio.TaskGroup() as tasks:
                for client_number in range(CLIENTS):
                    tasks.create_task(work(client_number))
                for _ in range(CLIENTS):
                    await ready.acquire()
                go.set()
            heard = [await listener.take(CLIENTS * CALLS) for listener in listeners]
        state = await server.state("u")
    _assert_one_order(answers, heard)
    assert state["stars"].keys() == {"sun"} | {
        body(client, number) for client in range(CLIENTS) for number in range(CALLS)
    }
    assert len(state["stars"]["sun"]["children"]) == CLIENTS * CALLS


def _assert_one_order(answers: list[dict[int, int]], heard: list[list[Event]]) -> None:
    versions = sorted(version for given in answers for version in given.values())
    assert versions == list(range(2, 2 + CLIENTS * CALLS)), "one version for each command, without a gap"
    for events in heard:
        assert [event.data["version"] for event in events] == versions
        assert [event.data for event in events] == [event.data for event in heard[0]]
    said = {event.data["command"]["id"]: event.data["version"] for event in heard[0]}
    for client, given in enumerate(answers):
        for number, version in given.items():
            assert said[body(client, number)] == version, "an answer names the version that everybody saw"


@requirement("UN-8")
async def test_calls_of_one_session_at_once_and_rest_beside_them_are_all_done(hven: Served, wire: Wire, u: str) -> None:
    session = await wire.begin()

    async def by_mcp(number: int) -> None:
        star = add_star(f"mcp {number}", "sun")
        said = await session.call("send_universe_command", universeId=u, command=star, **{"return": "events"})
        assert not said.get("isError")

    async def by_rest(number: int) -> None:
        await hven.send(u, add_star(f"rest {number}", "sun"), wanted="events")

    async with commands_of(hven.http, u) as listener:
        await asyncio.gather(*(way(number) for number in range(50) for way in (by_mcp, by_rest)))
        heard = await listener.take(100)
    assert [event.data["version"] for event in heard] == list(range(4, 104))
    assert len({event.data["command"]["id"] for event in heard}) == 100
    assert len((await hven.state(u))["stars"]) == 103


@requirement("UN-19")
async def test_time_is_the_sum_of_all_ticks_whoever_sent_them(hven: Served, wire: Wire, u: str) -> None:
    sessions = [await wire.begin() for _ in range(10)]
    ticks = [(session, number) for session in sessions for number in range(1, 11)]
    await asyncio.gather(
        *(
            session.call("send_universe_command", universeId=u, command=command("tick", dt=number))
            for session, number in ticks
        )
    )
    assert (await hven.state(u))["time"] == sum(number for _, number in ticks)
    assert await hven.version(u) == 103
