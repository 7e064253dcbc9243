"""Event streams: every change once, in order, from any version on, for fast and slow listeners."""

import asyncio
import json
import logging
import random
import socket
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Self

import httpx
import pytest
import uvicorn
from starlette.types import ASGIApp

from tests.requirements import requirement
from tests.universe.api.rest.processes import run_server_process
from tests.universe.api.rest.rest_server import run_in_thread
from tests.universe.api.rest.stream_listener import (
    SOON,
    Event,
    Listener,
    count_listeners,
    open_client,
    open_listener,
    post_command,
    run_stream_server,
    wait_for_listeners,
)
from tests.universe.chosen_store import make_chosen_store
from tests.universe.domain.samples import add_star
from universe.api.app import make_app
from universe.config import UniverseConfig
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.http import uvicorn_server
from uraniborg.kernel.http.connection_limits import Limits, make_protocol
from uraniborg.kernel.http.uvicorn_server import StoppingServer

TICK = {"type": "tick"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all tests that want nothing special of it."""
    store = make_chosen_store(lambda: SqliteStore(tmp_path_factory.mktemp("streams") / "universes.db"))
    with run_in_thread(make_app(UniverseConfig(), store)) as address:
        yield address


@pytest.fixture
async def client(url: str) -> AsyncIterator[httpx.AsyncClient]:
    """Provide a client of a server with an empty universe `u`."""
    async with open_client(url) as connected:
        await connected.delete("/universes/u")
        await wait_for_listeners(connected, 0)
        assert (await connected.post("/universes", json={"name": "Hven", "id": "u"})).status_code == 201
        yield connected


def resuming(client: httpx.AsyncClient, how: str, version: int) -> AbstractAsyncContextManager[Listener]:
    """Open a listener to the events after a version, by the `since` parameter or by Last-Event-ID."""
    return open_listener(client, since=version) if how == "since" else open_listener(client, last=version)


def ids(events: list[Event]) -> list[int | None]:
    return [event.id for event in events]


@requirement("UN-24")
async def test_a_command_is_sent_with_its_version_as_id_and_its_events(client: httpx.AsyncClient) -> None:
    async with open_listener(client) as stream:
        assert stream.headers["Content-Type"].split(";")[0] == "text/event-stream"
        assert stream.headers["Cache-Control"] == "no-cache"
        await post_command(client, add_star("sun"))
        assert await stream.next() == Event(
            1,
            "command",
            {"version": 1, "command": add_star("sun"), "events": [{"type": "starAdded", "id": "sun"}]},
        )
        await post_command(client, TICK)
        assert await stream.next() == Event(
            2, "command", {"version": 2, "command": {"type": "tick", "dt": 1}, "events": []}
        )
        await client.post("/universes/u/undo")
        restored = {"type": "stateRestored", "reason": "undo", "toVersion": 1}
        assert await stream.next() == Event(3, "restore", {"version": 3, "events": [restored]})
        assert stream.retry is not None


async def test_a_refused_command_is_sent_to_no_listener(client: httpx.AsyncClient) -> None:
    async with open_listener(client) as stream:
        assert (await client.post("/universes/u/commands", json={"type": "removeStar", "id": "x"})).status_code == 422
        assert (await client.post("/universes/u/commands", json={"type": "explode"})).status_code == 400
        assert (await client.post("/universes/u/commands", json=[TICK, {"type": "removeStar", "id": "x"}])).is_error
        await post_command(client, add_star("sun"))
        assert ids(await stream.take(1)) == [1]


async def test_a_list_is_sent_one_by_one(client: httpx.AsyncClient) -> None:
    async with open_listener(client) as stream:
        await post_command(client, [add_star("a"), TICK, add_star("b")])
        events = await stream.take(3)
        assert ids(events) == [1, 2, 3]
        assert [event.data["command"]["type"] for event in events] == ["addStar", "tick", "addStar"]


async def test_text_with_line_ends_stays_in_one_event(client: httpx.AsyncClient) -> None:
    name = "a\nid: 99\r\n\r\nevent: deleted\ndata: {}\n\n\u2028\u2029\x85\x0b"
    async with open_listener(client) as stream:
        await post_command(client, add_star(name, note=name))
        event = await stream.next()
        assert event is not None
        assert (event.id, event.data["command"]["payload"]["note"]) == (1, name)
        await post_command(client, TICK)
        assert ids(await stream.take(1)) == [2]


class TestReplay:
    @pytest.mark.parametrize("how", ["since", "last"])
    async def test_a_reconnecting_listener_receives_missed_and_then_new_events(
        self, client: httpx.AsyncClient, how: str
    ) -> None:
        await post_command(client, [add_star(f"s{n}") for n in range(1, 11)])
        for away_since in (0, 1, 9, 10):
            async with resuming(client, how, away_since) as stream:
                events = await stream.take(10 - away_since)
                assert ids(events) == list(range(away_since + 1, 11))
                assert [one.data["command"]["id"] for one in events] == [f"s{one.id}" for one in events]
        async with resuming(client, how, 4) as stream:
            await post_command(client, TICK)
            assert ids(await stream.take(7)) == [5, 6, 7, 8, 9, 10, 11]

    async def test_a_listener_without_a_position_receives_only_new_events(self, client: httpx.AsyncClient) -> None:
        await post_command(client, [TICK] * 5)
        async with open_listener(client) as stream:
            await post_command(client, TICK)
            assert ids(await stream.take(1)) == [6]

    @pytest.mark.parametrize("how", [{"params": {"since": 6}}, {"headers": {"Last-Event-ID": "6"}}])
    async def test_a_version_that_does_not_exist_yet_is_refused(
        self, client: httpx.AsyncClient, how: dict[str, Any]
    ) -> None:
        await post_command(client, [TICK] * 5)
        answer = await client.get("/universes/u/events", **how)
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "version_not_found")

    async def test_a_browser_that_reconnects_to_the_address_it_began_with_receives_nothing_twice(
        self, client: httpx.AsyncClient
    ) -> None:
        """Repeat the whole address with `since`, and add the id of the last received event."""
        await post_command(client, [TICK] * 5)
        async with open_listener(client, since=0, last=5) as stream:
            await post_command(client, TICK)
            assert ids(await stream.take(1)) == [6]

    @pytest.mark.parametrize("how", ["since", "last"])
    async def test_a_listener_that_leaves_and_comes_back_again_and_again_misses_nothing_and_receives_nothing_twice(
        self, client: httpx.AsyncClient, how: str
    ) -> None:
        chance = random.Random(1572)
        total = 200
        received: list[Event] = []

        async def write(client: httpx.AsyncClient, start: int) -> None:
            for number in range(start, total, 4):
                await post_command(client, add_star(f"s{number}"))

        writing = [asyncio.create_task(write(client, start)) for start in range(4)]
        visits = 0
        while len(received) < total:
            visits += 1
            async with resuming(client, how, len(received)) as stream:
                received += await stream.take(min(chance.randrange(0, 25), total - len(received)))
        await asyncio.gather(*writing)
        assert visits > 10
        assert ids(received) == list(range(1, total + 1))
        assert {one.data["command"]["id"] for one in received} == {f"s{n}" for n in range(total)}

    async def test_a_listener_thousands_behind_receives_everything_while_more_comes(
        self, client: httpx.AsyncClient
    ) -> None:
        for _ in range(5):
            await post_command(client, [TICK] * 600)

        async def write() -> None:
            for _ in range(20):
                await post_command(client, [TICK] * 10)

        writing = asyncio.create_task(write())
        async with open_listener(client, since=0) as stream:
            assert ids(await stream.take(3_200)) == list(range(1, 3_201))
        await writing

    async def test_a_listener_that_falls_thousands_behind_receives_everything(self, client: httpx.AsyncClient) -> None:
        note = "n" * 10_000
        async with open_listener(client) as stream:
            for start in range(0, 1_800, 100):
                await post_command(client, [add_star(f"s{start + n}", note=note) for n in range(100)])
            events = await stream.take(1_800)
            assert ids(events) == list(range(1, 1_801))
            assert events[-1].data["command"]["id"] == "s1799"

    async def test_after_a_restart_the_stream_resumes_where_it_was_left(self, tmp_path: Path) -> None:
        async with run_stream_server(tmp_path) as client, open_listener(client) as stream:
            await post_command(client, [TICK] * 7)
            await stream.take(3)
        async with run_stream_server(tmp_path) as client, open_listener(client, last=3) as stream:
            await post_command(client, TICK)
            assert ids(await stream.take(5)) == [4, 5, 6, 7, 8]

    async def test_a_damaged_entry_is_sent_as_damaged_and_the_others_unchanged(self, tmp_path: Path) -> None:
        async with run_stream_server(tmp_path, snapshot_every=5) as client:
            for number in range(1, 8):
                await post_command(client, add_star(f"s{number}"))
        with sqlite3.connect(tmp_path / "universes.db") as connection:
            connection.execute("UPDATE log SET body = CAST(replace(body, 's3', 's9') AS BLOB) WHERE version = 3")
        connection.close()
        async with run_stream_server(tmp_path, snapshot_every=5) as client, open_listener(client, since=0) as stream:
            await post_command(client, TICK)
            events = await stream.take(8)
            assert ids(events) == list(range(1, 9))
            assert [event.name for event in events] == ["command"] * 2 + ["damaged"] + ["command"] * 5
            assert events[2].data == {"version": 3}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/universes/u-missing/events", {}, 404),
        ("/universes/u-missing/events?since=0", {}, 404),
        ("/universes/u/events?since=-1", {}, 400),
        ("/universes/u/events?since=x", {}, 400),
        ("/universes/u/events", {"Last-Event-ID": "x"}, 400),
        ("/universes/u/events", {"Last-Event-ID": "-1"}, 400),
        ("/universes/u/events", {"Last-Event-ID": "9" * 17}, 400),
    ],
)
async def test_an_invalid_stream_request_is_refused_and_ends(
    client: httpx.AsyncClient, path: str, headers: dict[str, str], status: int
) -> None:
    answer = await client.get(path, headers=headers)
    assert answer.status_code == status
    reply = answer.json()["error"]
    assert {"code", "message", "hint"} <= reply.keys()
    assert status == 400 or reply["universeId"] == "u-missing"
    assert await count_listeners(client) == 0


async def test_a_stream_without_events_sends_heartbeats(tmp_path: Path) -> None:
    async with run_stream_server(tmp_path, heartbeat_s=0.1) as client, open_listener(client) as stream:
        assert await stream.comment(4) == ["connected", "heartbeat", "heartbeat", "heartbeat"]
        await post_command(client, TICK)
        assert ids(await stream.take(1)) == [1]


async def test_all_listeners_receive_the_same_in_the_same_order(client: httpx.AsyncClient) -> None:
    async with AsyncExitStack() as leave:
        streams = [await leave.enter_async_context(open_listener(client)) for _ in range(10)]
        writing = asyncio.gather(*(post_command(client, add_star(f"s{n}")) for n in range(100)))
        received = await asyncio.gather(*(stream.take(100) for stream in streams))
        await writing
        assert ids(received[0]) == list(range(1, 101))
        assert all(events == received[0] for events in received)
        assert await count_listeners(client) == 10


async def test_a_listener_receives_only_its_own_universe(client: httpx.AsyncClient) -> None:
    async with open_listener(client) as stream:
        await client.post("/universes", json={"name": "Other", "id": "v"})
        for _ in range(5):
            await post_command(client, TICK, "v")
        await post_command(client, add_star("mine"))
        (event,) = await stream.take(1)
        assert event.data["command"]["id"] == "mine"


async def test_changes_of_another_process_are_sent_too(tmp_path: Path) -> None:
    async with (
        run_stream_server(tmp_path) as here,
        run_stream_server(tmp_path) as there,
        open_listener(here, since=0) as stream,
    ):
        for number in range(10):
            await post_command((here, there)[number % 2], add_star(f"s{number}"))
        await post_command(there, TICK)
        assert ids(await stream.take(11)) == list(range(1, 12))


class TestLeaving:
    async def test_a_listener_that_leaves_is_removed(self, client: httpx.AsyncClient) -> None:
        async with AsyncExitStack() as leave:
            for _ in range(20):
                await leave.enter_async_context(open_listener(client))
            assert await count_listeners(client) == 20
        await wait_for_listeners(client, 0)
        assert await post_command(client, TICK) == 1

    async def test_a_universe_deleted_while_it_is_listened_to_ends_the_stream_with_a_word(
        self, client: httpx.AsyncClient
    ) -> None:
        async with open_listener(client) as stream, open_listener(client, since=0) as other:
            await post_command(client, TICK)
            assert (await client.delete("/universes/u")).status_code == 204
            for one in (stream, other):
                events = await one.rest()
                assert [(event.id, event.name) for event in events] == [(1, "command"), (None, "deleted")]
            await wait_for_listeners(client, 0)
            again = await client.get("/universes/u/events", headers={"Last-Event-ID": "1"})
            assert again.status_code == 404

    async def test_a_universe_deleted_by_another_process_ends_the_stream_too(self, tmp_path: Path) -> None:
        async with (
            run_stream_server(tmp_path) as here,
            run_stream_server(tmp_path) as there,
            open_listener(here) as stream,
        ):
            await post_command(there, TICK)
            await stream.take(1)
            await there.delete("/universes/u")
            assert [event.name for event in await stream.rest()] == ["deleted"]

    async def test_a_server_that_stops_ends_its_streams_and_itself_at_once(self, tmp_path: Path) -> None:
        with run_server_process(tmp_path / "universes.db") as served:
            async with httpx.AsyncClient(base_url=served.url, timeout=SOON) as client:
                await client.post("/universes", json={"name": "Hven", "id": "u"})
                async with AsyncExitStack() as leave:
                    streams = [await leave.enter_async_context(open_listener(client, since=0)) for _ in range(3)]
                    await post_command(client, TICK)
                    for stream in streams:
                        await stream.take(1)
                    started = monotonic()
                    assert await asyncio.to_thread(served.stop) in (0, -15)
                    took = monotonic() - started
            assert "Traceback" not in served.stderr
            assert took < 5, "it waited for who listened"


class Stalled:
    """A listener that takes nothing at all once it was let in."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        self.socket.settimeout(SOON)
        url = client.base_url
        self.socket.connect((url.host, url.port))
        self.socket.sendall(f"GET /universes/u/events HTTP/1.1\r\nHost: {url.host}:{url.port}\r\n\r\n".encode())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.socket.close()

    def drained(self) -> bytes:
        """Return all bytes received until the connection ends."""
        parts: list[bytes] = []
        try:
            while part := self.socket.recv(1_000_000):
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)


def large(number: int) -> list[dict[str, Any]]:
    return [add_star(f"s{number}.{n}", note="n" * 50_000) for n in range(20)]


class TestStalling:
    async def test_a_listener_that_takes_nothing_slows_no_other_listener_and_is_dropped_and_can_catch_up(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        logger = logging.getLogger(
            "universe.api.event_stream"
        )  # also where another test has taken over the root logger
        logger.addHandler(caplog.handler)
        caplog.set_level(logging.WARNING, logger.name)
        async with (
            run_stream_server(tmp_path, stall_s=0.4) as client,
            open_listener(client) as stream,
            Stalled(client) as stalled,
        ):
            await wait_for_listeners(client, 2)
            received: list[Event] = []
            for number in range(15):
                await post_command(client, large(number))
                received += await stream.take(20)
            await wait_for_listeners(client, 1)
            logger.removeHandler(caplog.handler)
            [dropped] = {line for line in caplog.messages if line.startswith("listener dropped")}
            assert "request_id='" in dropped
            assert ids(received) == list(range(1, 301))
            await post_command(client, TICK)
            assert ids(await stream.take(1)) == [301]
            taken = await asyncio.to_thread(stalled.drained)
            whole = taken.rpartition(b"\n\n")[0]
            last = max(
                [int(line.split(b": ")[1]) for line in whole.split(b"\n") if line.startswith(b"id: ")], default=0
            )
            assert last < 301
            async with open_listener(client, last=last) as again:
                assert ids(await again.take(301 - last)) == list(range(last + 1, 302))

    async def test_a_dropped_listener_that_still_takes_nothing_is_cut_off(self, tmp_path: Path) -> None:
        """Otherwise what was to be sent to it would be kept for as long as it likes."""
        app = make_app(UniverseConfig(stall_s=0.2), SqliteStore(tmp_path / "universes.db"))
        async with served_within(Limits(stall_s=0.3), app) as url, open_client(url) as client:
            await client.post("/universes", json={"name": "Hven", "id": "u"})
            stalled = Stalled(client)
            here = stalled.socket.getsockname()
            await wait_for_listeners(client, 1)
            for number in range(10):
                await post_command(client, large(number))
            await wait_for_listeners(client, 0)
            try:
                async with asyncio.timeout(SOON):
                    while is_connected_to(here):
                        await client.get("/health")
            finally:
                stalled.socket.close()

    async def test_a_listener_that_only_receives_heartbeats_is_not_dropped(self, tmp_path: Path) -> None:
        async with (
            run_stream_server(tmp_path, stall_s=0.1, heartbeat_s=0.05) as client,
            open_listener(client) as stream,
        ):
            await stream.comment(10)
            await post_command(client, TICK)
            assert ids(await stream.take(1)) == [1]


@asynccontextmanager
async def served_within(limits: Limits, app: ASGIApp) -> AsyncGenerator[str]:
    """Serve the app with connections within these limits."""
    with uvicorn_server.open_listener("127.0.0.1", 0) as listener:
        options: Any = {
            "http": make_protocol(limits),
            "log_level": "critical",
            "ws": "none",
            "timeout_graceful_shutdown": 1,
        }
        serving = StoppingServer(uvicorn.Config(app, **options))
        task = asyncio.create_task(serving.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            serving.should_exit = True
            await task


def is_connected_to(address: tuple[str, int]) -> bool:
    """Return True if this machine has an established connection to this address."""
    octets, port = address
    remote = f"{int.from_bytes(socket.inet_aton(octets), 'little'):08X}:{port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[2] == remote and row[3] == "01" for row in rows)


async def test_a_thousand_events_at_once_are_sent_in_pieces_that_are_whole_events(client: httpx.AsyncClient) -> None:
    await post_command(client, [TICK] * 1_000)
    chunks: list[bytes] = []
    async with client.stream("GET", "/universes/u/events", params={"since": 0}) as response:
        async with asyncio.timeout(SOON):
            async for chunk in response.aiter_raw():
                chunks.append(chunk)
                if b"id: 1000\n" in chunk:
                    break
    text = b"".join(chunks)
    versions = [json.loads(line[6:])["version"] for line in text.split(b"\n") if line.startswith(b"data: ")]
    assert versions == list(range(1, 1_001))
