import asyncio
import gc
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import AnyUrl

from tests.uraniborg.kernel.mcp import subscribable_server as script
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, Wire, call, request, wire_to, without_request_id
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from tests.uraniborg.kernel.mcp.subscribable_server import subscribable_server
from uraniborg.kernel.mcp import (
    Server,
    Subscriptions,
    add_subscriptions,
    make_server,
    make_stateful_app,
    make_stateless_app,
)
from uraniborg.kernel.mcp.http_apps import Dispatcher
from uraniborg.kernel.mcp.subscriptions import Subscriber
from uraniborg.kernel.mcp.testing import (
    ClientSession,
    connect_client,
    connect_http_client,
    connect_stdio_client,
    get_json,
    serve_app,
)

TITLE, FIRST = "page://title", "page://number/1"


class ChangeRecorder:
    """Records notifications of changes."""

    def __init__(self) -> None:
        self._received: asyncio.Queue[str] = asyncio.Queue()

    def __call__(self, uri: str) -> None:
        self._received.put_nowait(uri)

    async def next(self) -> str:
        async with asyncio.timeout(20):
            return await self._received.get()


@asynccontextmanager
async def in_memory(recorder: ChangeRecorder) -> AsyncGenerator[ClientSession]:
    async with connect_client(subscribable_server()[0], on_updated=recorder) as client:
        yield client


@asynccontextmanager
async def over_stdio(recorder: ChangeRecorder) -> AsyncGenerator[ClientSession]:
    root = str(Path(__file__).parents[4])
    async with connect_stdio_client(
        sys.executable, ["-m", script.__name__], {"PYTHONPATH": root}, cwd=root, on_updated=recorder
    ) as client:
        yield client


@asynccontextmanager
async def over_http(recorder: ChangeRecorder) -> AsyncGenerator[ClientSession]:
    async with (
        serve_app(make_stateful_app(subscribable_server()[0])) as url,
        connect_http_client(f"{url}/mcp", on_updated=recorder) as client,
    ):
        yield client


@pytest.mark.parametrize("open_client", [in_memory, over_stdio, over_http])
async def test_the_official_client_receives_updates_of_its_subscriptions_only(open_client: Any) -> None:
    recorder = ChangeRecorder()
    async with open_client(recorder) as client:
        await client.subscribe_resource(AnyUrl(TITLE))
        await client.subscribe_resource(AnyUrl(FIRST))
        assert get_json(await client.call_tool("change", {"uri": TITLE})) == 2
        assert await recorder.next() == TITLE
        await client.unsubscribe_resource(AnyUrl(TITLE))
        for uri in (TITLE, "page://number/2", FIRST):
            assert get_json(await client.call_tool("change", {"uri": uri})) == 1
        assert await recorder.next() == FIRST


async def subscribe(wire: Wire, uri: str) -> dict[str, Any]:
    return await wire.ask(request("resources/subscribe", {"uri": uri}, id=f"subscribe {uri}"))


async def test_the_subscribe_capability_is_declared_by_servers_that_have_it() -> None:
    able, _ = subscribable_server()
    for server, expected in ((able, True), (sample_server(), False)):
        async with wire_to(server, initialized=False) as wire:
            capabilities = (await wire.ask(INITIALIZE))["result"]["capabilities"]
        assert capabilities["resources"] == {"subscribe": expected, "listChanged": False}


async def test_without_a_session_nobody_can_subscribe() -> None:
    server, subscribed = subscribable_server()
    async with serve_app(make_stateless_app(server)) as url, connect_http_client(f"{url}/mcp") as client:
        capabilities = client.get_server_capabilities()
        assert capabilities is not None
        assert capabilities.resources is not None
        assert capabilities.resources.subscribe is False
    for method in ("resources/subscribe", "resources/unsubscribe"):
        body = b'{"jsonrpc": "2.0", "id": 1, "method": "%b", "params": {"uri": "page://title"}}' % method.encode()
        answer = await Dispatcher(server).answer(body, "2025-11-25")
        assert b'"unknown_method"' in answer.body
        assert b"resources/read" in answer.body
        assert b"resources/subscribe," not in answer.body
    assert subscribed.count == 0


@pytest.mark.parametrize("uri", ["other://nowhere", "page://number/one", "page://number/1/2", "page://number/"])
async def test_subscribing_to_an_unreadable_resource_fails_with_the_error_of_reading_it(uri: str) -> None:
    server, subscribed = subscribable_server()
    async with wire_to(server) as wire:
        refused = await subscribe(wire, uri)
        unread = await wire.ask(request("resources/read", {"uri": uri}))
    assert refused["error"]["data"]["error"]["hint"]
    assert without_request_id(refused["error"]) == without_request_id(unread["error"])
    assert subscribed.count == 0


async def test_a_listed_resource_can_be_subscribed_to_even_if_it_cannot_be_read() -> None:
    server, subscribed = subscribable_server()
    async with wire_to(server) as wire:
        assert (await subscribe(wire, "page://loose"))["result"] == {}
        subscribed.notify_updated("page://loose")
        assert (await wire.receive())["params"] == {"uri": "page://loose"}


async def test_the_number_of_subscriptions_of_a_session_is_limited() -> None:
    server, subscribed = subscribable_server(most=2)
    async with wire_to(server) as wire, wire_to(server) as another:
        for uri in (TITLE, FIRST, FIRST):
            assert "result" in await subscribe(wire, uri)
        refused = (await subscribe(wire, "page://number/2"))["error"]
        assert (refused["code"], refused["data"]["error"]["code"]) == (-32602, "too_many_subscriptions")
        assert refused["data"]["error"]["limit"] == 2
        assert "result" in await subscribe(another, "page://number/2")
        assert "result" in await wire.ask(request("resources/unsubscribe", {"uri": FIRST}))
        assert "result" in await subscribe(wire, "page://number/2")
        assert subscribed.count == 3


async def test_to_subscribe_twice_is_to_subscribe_once() -> None:
    server, subscribed = subscribable_server()
    async with wire_to(server) as wire:
        for _ in range(2):
            assert (await subscribe(wire, TITLE))["result"] == {}
        assert subscribed.count == 1
        for _ in range(2):
            assert (await wire.ask(request("resources/unsubscribe", {"uri": TITLE})))["result"] == {}
        assert subscribed.count == 0


async def test_a_change_is_known_by_either_spelling_of_its_uri() -> None:
    server = sample_server()
    subscribed = add_subscriptions(server)
    async with wire_to(server) as wire:
        await subscribe(wire, "sample://Ü/text")
        for spelling in ("sample://Ü/text", "sample://%C3%9C/text"):
            subscribed.notify_updated(spelling)
            assert (await wire.receive())["params"] == {"uri": "sample://%C3%9C/text"}


@pytest.mark.parametrize("uri", ["", "no uri", "page://unknown", "x" * 100_000])
async def test_a_change_without_a_subscription_is_ignored(uri: str) -> None:
    server, subscribed = subscribable_server()
    subscribed.notify_updated(uri)
    async with wire_to(server) as wire:
        await subscribe(wire, TITLE)
        subscribed.notify_updated(uri)
        subscribed.notify_updated(TITLE)
        assert (await wire.receive())["params"] == {"uri": TITLE}


async def test_a_thousand_changes_at_once_are_notified_once() -> None:
    server, _ = subscribable_server()
    async with wire_to(server) as wire:
        await subscribe(wire, TITLE)
        await subscribe(wire, FIRST)
        messages = [await wire.ask(call("change", {"uri": TITLE, "times": 1_000})), await wire.receive()]
        assert sorted(message.get("method", "answer") for message in messages) == [
            "answer",
            "notifications/resources/updated",
        ]
        messages = [await wire.ask(call("change", {"uri": FIRST})), await wire.receive()]
        assert {message.get("params", {}).get("uri") for message in messages} == {None, FIRST}


async def test_all_subscribed_sessions_are_notified() -> None:
    server, subscribed = subscribable_server()
    async with wire_to(server) as first, wire_to(server) as second, wire_to(server) as third:
        await subscribe(first, TITLE)
        await subscribe(second, TITLE)
        await subscribe(third, FIRST)
        subscribed.notify_updated(TITLE)
        subscribed.notify_updated(FIRST)
        received = [(await wire.receive())["params"]["uri"] for wire in (first, second, third)]
    assert received == [TITLE, TITLE, FIRST]


@pytest.mark.usefixtures("few_objects")
async def test_a_client_that_leaves_leaves_nothing_behind() -> None:
    server, subscribed = subscribable_server()
    tasks_before, before = asyncio.all_tasks(), subscribers()
    async with wire_to(server) as wire:
        await subscribe(wire, TITLE)
        subscribed.notify_updated(TITLE)
        assert subscribers() == before + 1
    async with asyncio.timeout(20):
        await asyncio.gather(*(asyncio.all_tasks() - tasks_before), return_exceptions=True)
    assert subscribed.count == 0
    assert subscribers() == before


def subscribers() -> int:
    gc.collect()
    return sum(isinstance(thing, Subscriber) for thing in gc.get_objects())


def test_a_server_has_one_book_of_subscriptions() -> None:
    server: Server = make_server("twice", version="1", instructions="")
    assert isinstance(add_subscriptions(server), Subscriptions)
    with pytest.raises(TypeError, match="already"):
        add_subscriptions(server)
