"""Many clients on one universe: no change is lost or applied twice, and all see one order."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import httpx
import pytest

from tests.requirements import requirement
from tests.universe.domain.samples import add_star, command
from tests.universe.mcp.agents import agent, send_command
from tests.universe.mcp.served_universes import SOON_S, Json, Served, run_server
from tests.universe.mcp.stream_listener import Event, open_command_stream
from tests.universe.mcp.wire import Wire, answer_in

CLIENTS: Final = 64
OFFICIAL: Final = 8
"""The number of official clients among them, which are ten times as slow."""
CALLS: Final = 8
LISTENERS: Final = 4

Send = Callable[[Json], Awaitable[Json]]


def body(client: int, number: int) -> str:
    return f"body {client} {number}"


@asynccontextmanager
async def sender(server: Served, *, official: bool) -> AsyncGenerator[Send]:
    """Provide a function that sends commands in its own session."""
    options: dict[str, Any] = {"return": "events"}
    if official:
        async with agent(server.mcp) as client:
            yield lambda sent: send_command(client, "u", sent, **options)
        return
    # One for all would spend its time looking for a free connection.
    async with httpx.AsyncClient(base_url=server.url, timeout=SOON_S) as http:
        session = await Wire(http).begin()

        async def tell(sent: Json) -> Json:
            return answer_in(await session.call("send_universe_command", universeId="u", command=sent, **options))

        yield tell
        await session.end()


@requirement("UN-8", "UN-19")
@pytest.mark.timeout(120)
async def test_64_clients_lose_nothing_double_nothing_and_all_listeners_see_one_order() -> None:
    async with run_server() as server:
        await server.make("u", add_star("sun"))
        answers: list[dict[int, int]] = [{} for _ in range(CLIENTS)]
        ready, go = asyncio.Semaphore(0), asyncio.Event()

        async def work(client: int) -> None:
            async with sender(server, official=client < OFFICIAL) as tell:
                ready.release()
                await go.wait()
                for number in range(CALLS):
                    answers[client][number] = (await tell(add_star(body(client, number), "sun")))["version"]

        async with AsyncExitStack() as stack:
            listeners = [
                await stack.enter_async_context(open_command_stream(server.http, "u")) for _ in range(LISTENERS)
            ]
            async with asyncio.TaskGroup() as tasks:
                for client in range(CLIENTS):
                    tasks.create_task(work(client))
                for _ in range(CLIENTS):
                    await ready.acquire()
                go.set()
            received = [await listener.take(CLIENTS * CALLS) for listener in listeners]
        stars = (await server.state("u"))["stars"]
    _assert_one_order(answers, received)
    assert stars.keys() == {"sun"} | {body(client, number) for client in range(CLIENTS) for number in range(CALLS)}
    assert len(stars["sun"]["children"]) == CLIENTS * CALLS


def _assert_one_order(answers: list[dict[int, int]], received: list[list[Event]]) -> None:
    versions = sorted(version for given in answers for version in given.values())
    assert versions == list(range(2, 2 + CLIENTS * CALLS)), "one version for each command, without a gap"
    for events in received:
        assert [event.data["version"] for event in events] == versions
        assert [event.data for event in events] == [event.data for event in received[0]]
    printed = {event.data["command"]["id"]: event.data["version"] for event in received[0]}
    for client, given in enumerate(answers):
        for number, version in given.items():
            assert printed[body(client, number)] == version, "an answer names the version that everybody saw"


@requirement("UN-8")
async def test_calls_of_one_session_at_once_and_rest_beside_them_are_all_done(
    universe_server: Served, wire: Wire, u: str
) -> None:
    session = await wire.begin()

    async def by_mcp(number: int) -> None:
        star = add_star(f"mcp {number}", "sun")
        printed = await session.call("send_universe_command", universeId=u, command=star, **{"return": "events"})
        assert not printed.get("isError")

    async def by_rest(number: int) -> None:
        await universe_server.send(u, add_star(f"rest {number}", "sun"), wanted="events")

    async with open_command_stream(universe_server.http, u) as listener:
        await asyncio.gather(*(way(number) for number in range(50) for way in (by_mcp, by_rest)))
        received = await listener.take(100)
    assert [event.data["version"] for event in received] == list(range(4, 104))
    assert len({event.data["command"]["id"] for event in received}) == 100
    assert len((await universe_server.state(u))["stars"]) == 103


@requirement("UN-19")
async def test_time_is_the_sum_of_all_ticks_from_every_sender(universe_server: Served, wire: Wire, u: str) -> None:
    sessions = [await wire.begin() for _ in range(10)]
    ticks = [(session, number) for session in sessions for number in range(1, 11)]
    await asyncio.gather(
        *(
            session.call("send_universe_command", universeId=u, command=command("tick", dt=number))
            for session, number in ticks
        )
    )
    assert (await universe_server.state(u))["time"] == sum(number for _, number in ticks)
    assert await universe_server.version(u) == 103
