import asyncio

import pytest

from tests.uraniborg.kernel.mcp.asgi_client import Client, client_of
from tests.uraniborg.kernel.mcp.raw_messages import call
from tests.uraniborg.kernel.mcp.test_stateless_load import Hall
from uraniborg.kernel.mcp import make_stateful_app
from uraniborg.kernel.mcp.testing import connect_http_client, get_json, serve_app

CLIENTS = 64


async def test_calls_of_64_official_clients_are_all_under_way_at_once_and_each_gets_its_own_answer() -> None:
    hall = Hall(CLIENTS)

    async def visit(url: str, number: int) -> int:
        async with connect_http_client(f"{url}/mcp") as client:
            return get_json(await client.call_tool("enter", {"number": number}))

    async with asyncio.timeout(50), serve_app(make_stateful_app(hall.server)) as url:
        visits = [asyncio.create_task(visit(url, number)) for number in range(CLIENTS)]
        await hall.full.wait()
        hall.doors.set()
        assert await asyncio.gather(*visits) == list(range(CLIENTS))


@pytest.mark.parametrize("json_answers", [False, True])
async def test_calls_of_one_session_are_all_under_way_at_once(json_answers: bool) -> None:
    hall = Hall(CLIENTS)
    async with asyncio.timeout(50), client_of(make_stateful_app(hall.server, json_answers=json_answers)) as client:
        session = await client.begin()
        calls = [
            client.send("POST", call("enter", {"number": number}) | {"id": number}, session)
            for number in range(CLIENTS)
        ]
        await hall.full.wait()
        hall.doors.set()
        answers = [(await each.answer()).messages[-1] for each in calls]
    assert [answer["id"] for answer in answers] == list(range(CLIENTS))
    assert [answer["result"]["structuredContent"]["result"] for answer in answers] == list(range(CLIENTS))


async def test_64_clients_calling_again_and_again_lose_and_mix_up_nothing() -> None:
    hall = Hall(1)
    hall.doors.set()

    async def visit(client: Client, visitor: int) -> list[int]:
        session = await client.begin()
        results: list[int] = []
        for number in range(10):
            answer = await client.post(call("enter", {"number": visitor * 100 + number}), session)
            (message,) = answer.messages
            results.append(message["result"]["structuredContent"]["result"])
        return results

    async with asyncio.timeout(50), client_of(make_stateful_app(hall.server)) as client:
        visits = await asyncio.gather(*(visit(client, visitor) for visitor in range(CLIENTS)))
    assert visits == [[visitor * 100 + number for number in range(10)] for visitor in range(CLIENTS)]
    assert hall.left == CLIENTS * 10
