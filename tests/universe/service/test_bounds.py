"""Limits of the memory that the service uses."""

# pyright: reportPrivateUsage=false

import asyncio
from typing import Any

import pytest

from tests.universe.service.service_checks import wait_briefly
from tests.universe.service.stores import TroubledStore
from tests.universe.store.sample_logs import entry
from universe.domain.entities import Entity
from universe.errors import TooBusy
from universe.service import state_views as positions_module
from universe.service.state_views import BodyPositions
from universe.service.universe_feed import Feed
from universe.service.universes import UniverseService
from universe.store.interface import StoredEntry, Superseded

TICK = {"type": "tick"}


async def test_of_unused_universes_sixty_four_stay_in_memory_those_used_last(
    service: UniverseService,
) -> None:
    ids = [f"u{n}" for n in range(70)]
    for universe_id in ids:
        await service.create("Many", universe_id=universe_id)
        await service.send(universe_id, TICK)
    assert list(service._cache.cached) == ids[-64:]


async def test_ten_thousand_changes_wait_and_one_more_is_refused_while_two_hundred_and_fifty_six_are_written_at_once(
    service: UniverseService, store: TroubledStore
) -> None:
    async with store.holding("u") as held:
        first = asyncio.create_task(service.send("u", TICK))
        await wait_briefly(held.reached.wait())
        waiting = [asyncio.create_task(service.send("u", TICK)) for _ in range(10_000)]
        while len(service._cache.cached["u"]._jobs) < 10_000:  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0)
        with pytest.raises(TooBusy, match="10,000 changes of this universe are waiting"):
            await wait_briefly(service.send("u", TICK))
        before = store.appends
    results = await wait_briefly(asyncio.gather(first, *waiting))
    assert sorted(result.version for result in results) == list(range(1, 10_002))
    assert store.appends - before == 40, "10,000 in groups of 256"


def entry_of(version: int, size: int) -> StoredEntry:
    return entry(version, body=b'{"type":"tick","dt":1,"note":"%b"}' % (b"x" * size))


def test_a_feed_has_the_last_1024_frames_at_hand_and_gives_sixty_four_of_them_at_once() -> None:
    feed = Feed(0)
    feed.publish([entry_of(version, 0) for version in range(1, 2_001)])
    assert feed.get_joined_frames_after(2_000 - 1_025) is None
    found = feed.get_joined_frames_after(2_000 - 1_024)
    assert found is not None
    frames, upto = found
    assert upto == 2_000 - 1_024 + 64
    assert frames.count(b"\nevent: command\n") == 64


def test_a_feed_stores_at_most_eight_megabytes_and_returns_about_256_kilobytes_at_once() -> None:
    feed = Feed(0)
    feed.publish([entry_of(version, 1024 * 1024) for version in range(1, 11)])
    at_hand = [version for version in range(10) if feed.get_joined_frames_after(version) is not None]
    assert at_hand == list(range(3, 10)), "eight would be more, with what is around them"
    feed.publish([entry_of(version, 100 * 1024) for version in range(11, 21)])
    found = feed.get_joined_frames_after(10)
    assert found is not None
    assert found[1] == 13, "two would be less than 256 kB"


async def test_positions_of_eight_universes_are_prepared_and_those_of_a_ninth_in_the_place_of_the_first(
    service: UniverseService, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = 0
    prepare = positions_module._make_orrery

    def counted(stars: dict[str, Entity]) -> object:
        nonlocal prepared
        prepared += 1
        return prepare(stars)

    monkeypatch.setattr(positions_module, "_make_orrery", counted)
    positions = BodyPositions()
    replicas = {f"p{n}": (await service.view("u")).replica for n in range(9)}
    for key in [*list(replicas)[:8], *list(replicas)[:8]]:
        await positions.compute_at(key, replicas[key], 0)
    assert prepared == 8
    await positions.compute_at("p8", replicas["p8"], 0)
    await positions.compute_at("p1", replicas["p1"], 0)
    assert prepared == 9
    await positions.compute_at("p0", replicas["p0"], 0)
    assert prepared == 10


async def test_a_snapshot_is_written_after_five_hundred_changes(service: UniverseService, store: TroubledStore) -> None:
    await service.send("u", [TICK] * 499)
    await service._cache.cached["u"].wait_for_running_tasks()
    assert await store.list_snapshot_versions("u") == []
    await service.send("u", TICK)
    await service._cache.cached["u"].wait_for_running_tasks()
    assert await store.list_snapshot_versions("u") == [500]


@pytest.mark.parametrize(("others", "is_written"), [(49, True), (50, False)])
async def test_a_change_is_tried_fifty_times_while_others_are_faster(
    service: UniverseService, store: TroubledStore, monkeypatch: pytest.MonkeyPatch, others: int, is_written: bool
) -> None:
    await service.send("u", TICK)
    append, tries = store.append, 0

    async def late(*given: Any, **named: Any) -> None:
        nonlocal tries
        tries += 1
        if tries <= others:
            raise Superseded(1)
        await append(*given, **named)

    monkeypatch.setattr(store, "append", late)
    if is_written:
        assert (await wait_briefly(service.send("u", TICK))).version == 2
    else:
        with pytest.raises(TooBusy, match="Other processes change this universe all the time"):
            await wait_briefly(service.send("u", TICK))
    assert tries == 50
