import asyncio
from typing import Any

from tests.uraniborg.kernel.mcp.asgi_client import client_of
from tests.uraniborg.kernel.mcp.raw_messages import call, request, wire_to
from uraniborg.kernel.mcp import Server, is_cancelled, make_server, make_stateful_app, tool
from uraniborg.kernel.mcp.testing import connect_client, get_json

SOON_S = 20


class Waiting:
    """A server with a tool that waits until it is cancelled, and records `is_taken_back` then."""

    def __init__(self) -> None:
        self.server: Server = make_server("waiting", version="1", instructions="")
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.ended: asyncio.Queue[tuple[str, bool]] = asyncio.Queue()

        @tool(self.server, title="Wait", read_only=True)
        async def wait(name: str) -> str:
            """Wait until it is cancelled."""
            self.begun.put_nowait(name)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.ended.put_nowait((name, is_cancelled()))
                raise
            return ""

        @tool(self.server, title="Ask", read_only=True)
        async def ask() -> list[bool]:
            """Return `is_cancelled()` of the call itself, of a task and of a thread."""
            return [is_cancelled(), await asyncio.create_task(asked()), await asyncio.to_thread(is_cancelled)]

    async def end(self) -> tuple[str, bool]:
        async with asyncio.timeout(SOON_S):
            return await self.ended.get()


async def asked() -> bool:
    return is_cancelled()


def wait(name: str) -> dict[str, Any]:
    return {**call("wait", {"name": name}), "id": name}


def cancelled(request_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


async def test_a_call_that_its_client_cancels_was_taken_back_and_the_server_serves_on() -> None:
    waiting = Waiting()
    async with wire_to(waiting.server) as wire:
        await wire.send(wait("one"))
        assert await waiting.begun.get() == "one"
        await wire.send(cancelled("one"))
        assert await waiting.end() == ("one", True)
        answer = await wire.receive()
        assert answer["id"] == "one"
        assert "error" in answer
        assert (await wire.ask(request("ping", id="next")))["id"] == "next"


async def test_of_two_calls_only_the_one_that_is_cancelled_was_taken_back() -> None:
    waiting = Waiting()
    async with wire_to(waiting.server) as wire:
        for name in ("one", "two"):
            await wire.send(wait(name))
            assert await waiting.begun.get() == name
        await wire.send(cancelled("two"))
        assert await waiting.end() == ("two", True)
        assert waiting.ended.empty()
    assert await waiting.end() == ("one", False)


async def test_a_call_whose_client_is_gone_was_not_taken_back() -> None:
    waiting = Waiting()
    async with wire_to(waiting.server) as wire:
        await wire.send(wait("one"))
        assert await waiting.begun.get() == "one"
    assert await waiting.end() == ("one", False)


async def test_nothing_is_taken_back_while_it_runs_or_where_there_is_no_call() -> None:
    assert is_cancelled() is False
    waiting = Waiting()
    async with connect_client(waiting.server) as client:
        assert get_json(await client.call_tool("ask", {})) == [False, False, False]
    assert is_cancelled() is False


async def test_a_call_that_was_taken_back_says_nothing_of_the_next_one() -> None:
    waiting = Waiting()
    async with wire_to(waiting.server) as wire:
        await wire.send(wait("one"))
        assert await waiting.begun.get() == "one"
        await wire.send(cancelled("one"))
        assert await waiting.end() == ("one", True)
        await wire.receive()
        answer = await wire.ask({**call("ask", {}), "id": "one"})
        assert answer["result"]["structuredContent"] == {"result": [False, False, False]}


async def test_a_task_of_the_call_gets_the_same_answer() -> None:
    server = make_server("tasks", version="1", instructions="")
    answers: asyncio.Queue[bool] = asyncio.Queue()
    begun = asyncio.Event()

    @tool(server, title="Start", read_only=True)
    async def start() -> str:
        """Wait in a separate task."""

        async def work() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                answers.put_nowait(is_cancelled())
                raise

        await asyncio.create_task(work())
        return ""

    async with wire_to(server) as wire:
        await wire.send({**call("start", {}), "id": "it"})
        await begun.wait()
        await wire.send(cancelled("it"))
        async with asyncio.timeout(SOON_S):
            assert await answers.get() is True


async def test_over_http_a_call_of_a_session_can_be_taken_back_too() -> None:
    waiting = Waiting()
    async with client_of(make_stateful_app(waiting.server)) as client:
        session = await client.begin()
        exchange = client.send("POST", wait("one"), session)
        assert await waiting.begun.get() == "one"
        assert (await client.post(cancelled("one"), session)).status == 202
        assert await waiting.end() == ("one", True)
        answer = await exchange.answer()
    assert [message["id"] for message in answer.messages if "error" in message] == ["one"]
