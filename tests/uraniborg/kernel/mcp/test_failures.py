"""If a tool or a resource raises any exception, its caller receives an error and other callers are not affected."""

import asyncio
import json
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.uraniborg.kernel.mcp.asgi_client import client_of
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call, request, wire_to
from uraniborg.kernel.mcp import Server, make_server, make_stateful_app, make_stateless_app, resource, tool

Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class Panic(BaseException):
    """An exception as extensions written in other languages raise it."""


async def wait_for_a_task_that_was_cancelled() -> None:
    task = asyncio.create_task(asyncio.Event().wait())
    task.cancel()
    await task


async def raise_several() -> None:
    raise BaseExceptionGroup("several", [Panic("sk-secret"), RuntimeError("sk-secret")])


async def panic() -> None:
    raise Panic("sk-secret")


async def leave() -> None:
    raise SystemExit("sk-secret")


async def recurse() -> None:
    await recurse()


WAYS = {way.__name__: way for way in (wait_for_a_task_that_was_cancelled, raise_several, panic, leave, recurse)}


def failing_server() -> Server:
    server = make_server("failing", version="1", instructions="")

    @tool(server, title="Fail", read_only=True)
    async def fail(way: str) -> str:
        """Fails in some way."""
        await WAYS[way]()
        return "unharmed"

    @resource(server, "failing://{way}", title="Failure")
    async def failure(way: str) -> str:
        """Fails in some way."""
        await WAYS[way]()
        return "unharmed"

    return server


@asynccontextmanager
async def in_memory(server: Server) -> AsyncGenerator[Ask]:
    async with wire_to(server) as wire:
        yield wire.ask


@asynccontextmanager
async def with_a_session(server: Server) -> AsyncGenerator[Ask]:
    async with client_of(make_stateful_app(server)) as client:
        session = await client.begin()

        async def ask(message: dict[str, Any]) -> dict[str, Any]:
            return (await client.post(message, session)).messages[-1]

        yield ask


@asynccontextmanager
async def without_a_session(server: Server) -> AsyncGenerator[Ask]:
    async with client_of(make_stateless_app(server)) as client:

        async def ask(message: dict[str, Any]) -> dict[str, Any]:
            return (await client.post(message)).messages[-1]

        yield ask


@pytest.mark.parametrize("way", list(WAYS))
@pytest.mark.parametrize("asking", [in_memory, with_a_session, without_a_session])
async def test_anything_raised_is_a_failure_of_that_call_alone(
    asking: Any, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with asking(failing_server()) as ask:
        result = (await ask(call("fail", {"way": way})))["result"]
        assert result["isError"]
        assert json.loads(result["content"][0]["text"])["error"]["code"] == "internal_error"
        unread = (await ask(request("resources/read", {"uri": f"failing://{way}"})))["error"]
        assert unread["data"]["error"]["code"] == "internal_error"
        assert "sk-secret" not in json.dumps([result, unread])
        assert (await ask(request("ping", id="after")))["result"] == {}
    assert "tool fail" in caplog.text


async def test_calls_that_overlap_leave_the_warnings_of_the_process_alone() -> None:
    server = make_server("slow", version="1", instructions="")
    first_may_end = asyncio.Event()

    @tool(server, title="Slow", read_only=True)
    async def slow(first: bool) -> str:
        """End in the order of the starts, which nested blocks of code never do."""
        if first:
            await first_may_end.wait()
        return "done"

    def state() -> tuple[Any, ...]:
        return warnings.showwarning, getattr(warnings, "_showwarnmsg_impl"), list(warnings.filters)  # noqa: B009

    before = state()
    async with wire_to(server, initialized=False) as wire:
        await wire.ask(INITIALIZE)
        await wire.send(INITIALIZED)
        await wire.send(call("slow", {"first": True}))
        assert (await wire.ask(call("slow", {"first": False}) | {"id": 2}))["id"] == 2
        during = state()
        first_may_end.set()
        assert (await wire.receive())["id"] == 1
    assert before == during == state()
