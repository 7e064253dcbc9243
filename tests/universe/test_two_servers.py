"""Two servers of one PostgreSQL database: one order and one state for all clients."""

import asyncio
import json
import os
import selectors
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from tests.installed_programs import find_program
from tests.universe.api.rest.processes import SOON, Served
from tests.universe.api.rest.stream_listener import Event, Listener, open_client, open_listener, post_command
from tests.universe.domain.samples import add_star
from tests.universe.postgres_server import PostgresServer

CLIENTS: Final = 8
EACH: Final = 25
ALL: Final = CLIENTS * EACH


@contextmanager
def starting(folder: Path, name: str, dsn: str) -> Generator[Served]:
    """Start a server during the block; its address is not known yet."""
    errors = folder / f"{name}.stderr"
    env = {key: value for key, value in os.environ.items() if not key.startswith("URANIBORG_")}
    with errors.open("w") as stderr:
        child = subprocess.Popen(
            [find_program("universe"), "serve", "--db", dsn, "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=folder,
            env={**env, "URANIBORG_HOME": str(folder / name)},
        )
    assert child.stdout is not None
    try:
        yield Served(child, "", errors)
    finally:
        child.kill()
        child.wait(SOON)
        child.stdout.close()


def wait_for(server: Served) -> str:
    """Wait until the server answers, and return its address."""
    assert server.child.stdout is not None
    with selectors.DefaultSelector() as waiting:
        waiting.register(server.child.stdout, selectors.EVENT_READ)
        assert waiting.select(SOON), "the server printed nothing"
    line = server.child.stdout.readline()
    assert line, server.stderr
    server.url = json.loads(line)["url"]
    server.wait_until_it_answers()
    return server.url


@pytest.fixture(scope="module")
def urls(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[str, str]]:
    """Two servers that were started at once on an empty database."""
    dsn = postgres_server.dsn(search_path=postgres_server.schema())
    folder = tmp_path_factory.mktemp("servers")
    with starting(folder, "one", dsn) as one, starting(folder, "other", dsn) as other:
        yield wait_for(one), wait_for(other)
        for server in (one, other):
            server.stop()
            assert "Traceback" not in server.stderr


@asynccontextmanager
async def both(urls: tuple[str, str]) -> AsyncGenerator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    """Provide a client of each server, and create the universe `u` with the first."""
    async with open_client(urls[0]) as one, open_client(urls[1]) as other:
        await one.delete("/universes/u")
        assert (await one.post("/universes", json={"name": "Hven", "id": "u"})).status_code == 201
        yield one, other


async def one_client(url: str, number: int) -> list[int]:
    """Send the commands of one client and return the versions that they lead to."""
    async with open_client(url) as client:
        return [await post_command(client, add_star(f"s{number}-{turn}")) for turn in range(EACH)]


def reply(events: list[Event]) -> list[tuple[int | None, str]]:
    return [(event.id, event.data["command"]["id"]) for event in events]


async def test_commands_to_both_are_all_stored_once_and_sent_by_both_in_one_order(urls: tuple[str, str]) -> None:
    async with both(urls) as (one, other), AsyncExitStack() as streams:
        received: list[Listener] = [await streams.enter_async_context(open_listener(client)) for client in (one, other)]
        async with asyncio.timeout(SOON):
            versions = await asyncio.gather(*(one_client(urls[number % 2], number) for number in range(CLIENTS)))
        assert all(mine == sorted(mine) for mine in versions)
        assert sorted(version for mine in versions for version in mine) == list(range(1, ALL + 1))

        by_one, by_other = [reply(await stream.take(ALL)) for stream in received]
        assert by_one == by_other
        assert [version for version, _ in by_one] == list(range(1, ALL + 1))
        acknowledged = {
            (version, f"s{number}-{turn}") for number, mine in enumerate(versions) for turn, version in enumerate(mine)
        }
        assert set(by_one) == acknowledged

        served = [(await client.get("/universes/u")).json() for client in (one, other)]
        assert served[0] == served[1]
        assert served[0]["version"] == ALL
        assert sorted(served[0]["state"]["rootIds"]) == sorted(name for _, name in acknowledged)


async def test_a_deletion_by_one_server_ends_the_streams_of_the_other(urls: tuple[str, str]) -> None:
    async with both(urls) as (one, other), open_listener(other) as stream:
        assert await post_command(one, {"type": "tick"}) == 1
        assert [event.name for event in await stream.take(1)] == ["command"]  # a deletion drops unsent ones
        assert (await one.delete("/universes/u")).is_success
        assert [event.name for event in await stream.rest()] == ["deleted"]
        assert (await other.get("/universes/u")).status_code == 404


async def test_of_two_that_expect_the_same_version_at_two_servers_one_is_refused(urls: tuple[str, str]) -> None:
    async with both(urls) as clients, asyncio.timeout(SOON):
        answers = await asyncio.gather(
            *(
                client.post("/universes/u/commands", params={"expectedVersion": 0}, json={"type": "tick"})
                for client in clients
            )
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
