import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, cast

import anyio
import pytest
from pydantic import AnyUrl

from uraniborg.kernel.mcp import subscriptions as subscriber
from uraniborg.kernel.mcp.session import ClientConnection
from uraniborg.kernel.mcp.subscriptions import Subscriber


class FakeConnection(ClientConnection):
    def __init__(self, *, listening: bool = True, has_room: bool = True) -> None:
        super().__init__()
        self.has_stream = listening
        self.is_roomy = has_room

    @property
    def is_listening(self) -> bool:
        return self.has_stream

    @property
    def has_room(self) -> bool:
        return self.is_roomy

    def listen(self) -> None:
        self.has_stream = True
        assert self.on_listening is not None
        self.on_listening()


class FakeSession:
    """Records notifications with their times; raises the exceptions in `failures` first."""

    def __init__(self) -> None:
        self.failures: list[Exception] = []
        self.notifications: asyncio.Queue[tuple[float, str]] = asyncio.Queue()
        self.open = asyncio.Event()
        self.open.set()

    async def send_resource_updated(self, uri: AnyUrl) -> None:
        await self.open.wait()
        if self.failures:
            raise self.failures.pop()
        self.notifications.put_nowait((asyncio.get_running_loop().time(), str(uri)))

    async def next(self) -> tuple[float, str]:
        async with asyncio.timeout(20):
            return await self.notifications.get()


class Scene:
    def __init__(self, connection: FakeConnection) -> None:
        self.connection = connection
        self.session = FakeSession()
        self.subscriber = Subscriber(connection, cast("Any", self.session))
        self._tasks_before = asyncio.all_tasks()

    def updated(self, *uris: str) -> None:
        for uri in uris:
            self.subscriber.add_change(uri)

    def at_work(self) -> set[asyncio.Task[Any]]:
        return asyncio.all_tasks() - self._tasks_before

    async def at_rest(self) -> None:
        async with asyncio.timeout(20):
            await asyncio.gather(*self.at_work(), return_exceptions=True)


@asynccontextmanager
async def scene(**connection: bool) -> AsyncGenerator[Scene]:
    made = Scene(FakeConnection(**connection))
    yield made
    made.subscriber.close()
    await made.at_rest()


def uris(count: int) -> list[str]:
    return [f"x://{number}" for number in range(count)]


async def test_a_burst_of_changes_is_notified_at_once_and_once_by_one_task() -> None:
    async with scene() as it:
        for _ in range(100):
            it.updated(*uris(50))
        assert len(it.at_work()) == 1
        assert [(await it.session.next())[1] for _ in range(50)] == uris(50)
        await it.at_rest()
        assert it.session.notifications.empty()


async def test_a_change_after_a_notification_is_notified_again_but_not_before_the_interval() -> None:
    async with scene() as it:
        it.updated("x://a")
        first, _ = await it.session.next()
        for _ in range(1_000):
            it.updated("x://a")
        second, _ = await it.session.next()
        assert subscriber.PACE_S == 0.1
        assert second - first >= 0.099
        await it.at_rest()
        assert it.session.notifications.empty()


async def test_the_last_of_many_changes_is_notified() -> None:
    async with scene() as it:
        it.updated("x://a")
        last_change = 0.0
        for _ in range(4):
            notified, _ = await it.session.next()
            it.updated("x://a")
            last_change = asyncio.get_running_loop().time()
        notified, _ = await it.session.next()
        assert notified >= last_change
        await it.at_rest()
        assert it.session.notifications.empty()


async def test_a_change_while_a_notification_waits_is_notified_after_it() -> None:
    async with scene() as it:
        it.session.open.clear()
        it.updated("x://a")
        await asyncio.sleep(0)
        it.updated("x://a", "x://a")
        it.session.open.set()
        await it.session.next()
        await it.session.next()
        await it.at_rest()
        assert it.session.notifications.empty()


async def test_a_client_that_does_not_listen_is_notified_later() -> None:
    async with scene(listening=False) as it:
        for _ in range(100):
            it.updated("x://a", "x://b")
        assert it.at_work() == set()
        it.connection.listen()
        assert {(await it.session.next())[1] for _ in range(2)} == {"x://a", "x://b"}
        await it.at_rest()
        assert it.session.notifications.empty()


async def test_a_client_that_stops_listening_is_notified_of_the_rest_later() -> None:
    async with scene(has_room=False) as it:
        it.updated("x://a")
        assert len(it.at_work()) == 1
        it.connection.has_stream = False
        await it.at_rest()
        it.connection.is_roomy = True
        it.connection.listen()
        assert (await it.session.next())[1] == "x://a"


async def test_a_client_without_room_costs_one_task_and_receives_everything_later() -> None:
    async with scene(has_room=False) as stalled, scene() as other:
        for _ in range(100):
            stalled.updated(*uris(20))
        assert len(stalled.at_work()) == 1
        other.updated("x://a")
        assert (await other.session.next())[1] == "x://a"
        stalled.connection.is_roomy = True
        assert [(await stalled.session.next())[1] for _ in range(20)] == uris(20)


async def test_a_waiting_notification_keeps_nothing_of_the_caller_alive() -> None:
    class Baggage:
        pass

    carried: ContextVar[Baggage] = ContextVar("carried")

    async def update(it: Scene) -> None:
        carried.set(Baggage())
        it.updated("x://a")

    async with scene(has_room=False) as it:
        await asyncio.create_task(update(it))
        await asyncio.sleep(0)
        assert len(it.at_work()) == 1
        gc.collect()
        assert [thing for thing in gc.get_objects() if isinstance(thing, Baggage)] == []


async def test_a_resource_that_is_forgotten_is_not_notified() -> None:
    async with scene(has_room=False) as it:
        it.updated("x://a", "x://b")
        await asyncio.sleep(0)
        it.subscriber.forget("x://a")
        it.connection.is_roomy = True
        assert (await it.session.next())[1] == "x://b"


@pytest.mark.parametrize("failure", [anyio.ClosedResourceError, anyio.BrokenResourceError])
async def test_a_session_that_is_ending_is_left_alone(
    failure: type[Exception], caplog: pytest.LogCaptureFixture
) -> None:
    async with scene() as it:
        it.session.failures.append(failure())
        it.updated("x://a")
        await it.at_rest()
    assert caplog.records == []


async def test_a_failure_is_logged_and_the_next_change_is_notified(caplog: pytest.LogCaptureFixture) -> None:
    async with scene() as it:
        it.session.failures.append(RuntimeError("a bad day"))
        it.updated("x://a")
        await it.at_rest()
        assert "a bad day" in caplog.text
        it.updated("x://b")
        assert (await it.session.next())[1] == "x://b"


async def test_closing_a_subscriber_ends_its_tasks() -> None:
    async with scene(has_room=False) as it:
        it.updated("x://a")
        assert len(it.at_work()) == 1
        it.subscriber.close()
        await it.at_rest()
        assert it.connection.on_listening is None
