"""Two services over one file, like two processes: each sees the changes of the other."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.universe.domain.samples import add_star
from tests.universe.service.service_checks import (
    SOON_S,
    assert_log_intact,
    list_versions,
    read_frames,
    read_state,
    read_version,
    wait_briefly,
    wait_for_version,
)
from universe.errors import StarNotFound, UniverseNotFound
from universe.service.universes import UniverseService
from universe.store import sqlite as sqlite_module
from universe.store.interface import LogChange
from universe.store.sqlite import SqliteStore

TICK = {"type": "tick"}


@pytest.fixture
async def here(file_service: UniverseService) -> UniverseService:
    return file_service


@pytest.fixture
async def there(here: UniverseService, file: Path) -> AsyncIterator[UniverseService]:
    assert here is not None
    async with UniverseService(SqliteStore(file)).running() as running:
        await wait_for_notifications(here, running)
        yield running


@pytest.fixture
async def unaware(here: UniverseService, file: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[UniverseService]:
    """Provide a service that does not poll for changes by other processes."""
    assert here is not None
    monkeypatch.setattr(sqlite_module, "_POLL_S", 60)
    async with UniverseService(SqliteStore(file)).running() as running:
        yield running


async def wait_for_notifications(here: UniverseService, there: UniverseService) -> None:
    """Wait until each service is notified of changes by the other; earlier changes are not notified."""
    for one, other in ((here, there), (there, here)):
        notified = asyncio.Event()
        leave = other.add_change_listener(
            lambda change, notified=notified: notified.set() if change.universe_id == "probe" else None
        )
        await one.create("Probe", universe_id="probe")
        async with asyncio.timeout(SOON_S):
            while not notified.is_set():
                await one.send("probe", TICK)
                try:
                    async with asyncio.timeout(0.5):
                        await notified.wait()
                except TimeoutError:
                    continue
        leave()
        await one.delete("probe")


async def test_changes_of_one_process_are_seen_at_once_in_the_other(
    here: UniverseService, there: UniverseService
) -> None:
    for number in range(1, 6):
        await here.send("u", add_star(f"s{number}"))
        assert await read_version(there) == number
        assert await read_state(there) == await read_state(here)
    await there.undo("u")
    assert await read_state(here) == await read_state(there)


async def test_listeners_in_both_processes_receive_the_same_in_the_same_order(
    here: UniverseService, there: UniverseService
) -> None:
    async with here.keep_in_memory("u") as one, there.keep_in_memory("u") as other:
        feeds = [one.get_or_open_feed(), other.get_or_open_feed()]
        for number in range(20):
            await (here, there)[number % 2].send("u", add_star(f"s{number}"))
        await here.undo("u")
        for feed in feeds:
            await wait_for_version(feed, 21)
            assert list_versions(feed) == list(range(1, 22))
        assert read_frames(feeds[0]) == read_frames(feeds[1])


async def test_a_listener_receives_the_changes_of_a_process_that_alone_writes(
    here: UniverseService, there: UniverseService
) -> None:
    async with there.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        await here.send("u", [TICK] * 5)
        await wait_for_version(feed, 5)
        assert list_versions(feed) == [1, 2, 3, 4, 5]


async def test_a_universe_deleted_in_one_process_is_gone_in_the_other_and_its_listeners_are_notified(
    here: UniverseService, there: UniverseService
) -> None:
    await there.send("u", TICK)
    async with there.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        await here.delete("u")
        async with asyncio.timeout(SOON_S):
            while not feed.is_closed:
                await feed.wait_for_wakeup()
    with pytest.raises(UniverseNotFound):
        await there.send("u", TICK)
    with pytest.raises(UniverseNotFound):
        await there.view("u")


async def test_a_universe_made_in_one_process_is_known_and_announced_in_the_other(
    here: UniverseService, there: UniverseService
) -> None:
    reply: asyncio.Queue[LogChange] = asyncio.Queue()
    there.add_change_listener(reply.put_nowait)
    made = await here.create("New")
    assert (await there.send(made.id, TICK)).version == 1
    async with asyncio.timeout(SOON_S):
        while (await reply.get()).universe_id != made.id:
            pass


@pytest.mark.parametrize("versions", [0, 2, 3, 5])
async def test_a_universe_deleted_and_made_again_in_one_process_is_the_new_one_in_the_other(
    here: UniverseService, there: UniverseService, versions: int
) -> None:
    await there.send("u", [add_star("old"), TICK, TICK])
    await here.delete("u")
    await here.create("Again", universe_id="u")
    for number in range(versions):
        await here.send("u", add_star(f"new{number}"))
    assert await read_state(there) == await read_state(here)
    assert (await wait_briefly(there.send("u", add_star("newest")))).version == versions + 1
    assert list((await read_state(here))["stars"]) == [*(f"new{number}" for number in range(versions)), "newest"]
    await assert_log_intact(there)


@pytest.mark.parametrize("versions", [0, 2, 3, 5])
async def test_a_command_sent_to_a_universe_made_again_elsewhere_is_done_in_the_new_one(
    here: UniverseService, unaware: UniverseService, versions: int
) -> None:
    there = unaware
    await there.send("u", [add_star("old"), TICK, TICK])
    await here.delete("u")
    await here.create("Again", universe_id="u")
    for number in range(versions):
        await here.send("u", add_star(f"new{number}"))
    with pytest.raises(StarNotFound):
        await wait_briefly(there.send("u", {"type": "updateStar", "id": "old", "payload": {"mass": 1}}))
    assert (await wait_briefly(there.send("u", add_star("newest")))).version == versions + 1
    await assert_log_intact(here)
    assert await read_state(there) == await read_state(here)


async def test_a_universe_renamed_in_one_process_has_its_name_in_the_other(
    here: UniverseService, there: UniverseService
) -> None:
    await there.send("u", TICK)
    await here.rename("u", "Stjerneborg")
    assert (await there.view("u")).record.name == "Stjerneborg"
    assert [one.name for one in await there.list_records(limit=10)] == ["Stjerneborg"]
