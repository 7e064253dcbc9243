"""The cache of universes: idle universes are dropped and loaded again without loss."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.universe.domain.samples import add_star
from tests.universe.service.service_checks import (
    assert_log_intact,
    list_versions,
    read_state,
    read_version,
    wait_briefly,
    wait_for_version,
)
from tests.universe.service.stores import TroubledStore
from tests.universe.store.sample_logs import LATER, entries, record
from universe.service import universe_cache
from universe.service.universes import UniverseService
from universe.store.replica import rebuild_replica
from universe.store.sqlite import SqliteStore

TICK = {"type": "tick"}


async def made(service: UniverseService, count: int) -> list[str]:
    ids = [f"u{n}" for n in range(count)]
    for universe_id in ids:
        await service.create("Many", universe_id=universe_id)
    return ids


async def test_universes_that_leave_memory_lose_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(universe_cache, "MAX_IDLE", 2)
    async with UniverseService(SqliteStore(file), snapshot_every=3).running() as service:
        ids = await made(service, 6)
        for turn in range(5):
            for universe_id in ids:
                result = await service.send(universe_id, add_star(f"s{turn}"))
                assert result.version == turn + 1
        for universe_id in ids:
            assert (await read_state(service, universe_id))["rootIds"] == [f"s{n}" for n in range(5)]
            await assert_log_intact(service, universe_id)


async def test_a_universe_with_a_listener_stays_in_memory_and_receives_everything(
    store: TroubledStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(universe_cache, "MAX_IDLE", 2)
    async with UniverseService(store).running() as service:
        ids = await made(service, 6)
        async with service.keep_in_memory("u0") as live:
            feed = live.get_or_open_feed()
            for universe_id in ids[1:]:
                await service.send(universe_id, TICK)
            await service.send("u0", TICK)
            assert list_versions(feed) == [1]


async def test_every_listener_is_notified_also_when_more_universes_have_listeners_than_are_cached_without(
    store: TroubledStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(universe_cache, "MAX_IDLE", 3)
    async with UniverseService(store).running() as service, AsyncExitStack() as listeners:
        feeds = {
            universe_id: (await listeners.enter_async_context(service.keep_in_memory(universe_id))).get_or_open_feed()
            for universe_id in await made(service, 5)
        }
        for universe_id in feeds:
            await service.send(universe_id, TICK)
        assert {universe_id: list_versions(feed) for universe_id, feed in feeds.items()} == {
            name: [1] for name in feeds
        }


async def test_a_universe_requested_by_many_at_once_is_loaded_once(store: TroubledStore) -> None:
    async with UniverseService(store).running() as service:
        await service.create("Hven", universe_id="u")
        await service.send("u", [TICK] * 500)
    async with UniverseService(store).running() as service:
        store.entries_read = 0
        seen = await wait_briefly(asyncio.gather(*(service.view("u") for _ in range(20))))
        assert {one.version for one in seen} == {500}
        assert store.entries_read <= 500


async def restarted(store: TroubledStore, every: int, commands: list[dict[str, Any]]) -> None:
    """Each time the service ends, what it had begun to write is written."""
    async with UniverseService(store, snapshot_every=every).running() as service:
        for command in commands:
            await service.send("u", command)


async def test_snapshots_are_written_and_thinned_and_a_start_reads_little_more_than_the_last(
    store: TroubledStore,
) -> None:
    async with UniverseService(store, snapshot_every=5).running() as service:
        await service.create("Hven", universe_id="u")
    for _ in range(121):
        await restarted(store, 5, [TICK] * 5)
    versions = await store.list_snapshot_versions("u")
    assert versions[-2:] == [600, 605]
    assert {50 * n for n in range(1, 13)} <= set(versions)
    assert len(versions) <= 16
    async with UniverseService(store, snapshot_every=5).running() as service:
        store.entries_read = 0
        assert await read_version(service) == 605
        assert store.entries_read <= 5
        assert (await read_state(service, version=333))["time"] == 333
        await assert_log_intact(service)


async def test_a_snapshot_is_written_though_commands_come_in_lists(store: TroubledStore) -> None:
    async with UniverseService(store, snapshot_every=5).running() as service:
        await service.create("Hven", universe_id="u")
        await service.send("u", [TICK] * 13)
    assert await store.list_snapshot_versions("u") == [13]
    assert (await rebuild_replica(store, "u")).state.time == 13


async def test_a_service_that_ends_has_written_all_that_it_answered(file: Path) -> None:
    async with UniverseService(SqliteStore(file), snapshot_every=2).running() as service:
        await service.create("Hven", universe_id="u")
        for _ in range(9):
            await service.send("u", TICK)
        served = await read_state(service)
    async with UniverseService(SqliteStore(file)).running() as again:
        assert await read_state(again) == served
        assert await read_version(again) == 9
        await assert_log_intact(again)


async def test_a_feed_without_listeners_is_forgotten_and_begins_again_where_the_universe_is(
    service: UniverseService,
) -> None:
    async with service.keep_in_memory("u") as live:
        old = live.get_or_open_feed()
        await service.send("u", TICK)
    service.wake_event_streams()
    await service.send("u", TICK)
    async with service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        assert feed is not old
        assert (old.version, feed.version) == (1, 2)
        await service.send("u", TICK)
        await wait_for_version(feed, 3)
        assert list_versions(feed, 2) == [3]


async def test_a_universe_deleted_and_made_again_elsewhere_ends_the_feed_of_the_old_one(
    service: UniverseService, store: TroubledStore
) -> None:
    await service.send("u", [TICK] * 3)
    async with service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        await store.delete("u")
        await store.create(record("u", 5, LATER), entries(1, 5))
        async with asyncio.timeout(20):
            while not feed.is_closed:
                await feed.wait_for_wakeup()
        assert feed.version == 3, "changes of the new universe do not continue the old feed"
    assert await read_version(service) == 5
