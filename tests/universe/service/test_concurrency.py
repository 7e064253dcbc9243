"""Concurrent changes: one order for all clients, and no universe waits for another."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.universe.domain.samples import EMPTY_STATE, add_star
from tests.universe.service.service_checks import (
    assert_log_intact,
    gather_results,
    list_commands,
    list_versions,
    read_log,
    read_state,
    read_version,
    wait_briefly,
)
from tests.universe.service.stores import TroubledStore
from universe.domain import reducer, systems
from universe.domain.provenance import citations
from universe.errors import NothingToUndo, TooBusy, UniverseNotFound, VersionConflict
from universe.service import batch as batch_module
from universe.service import live_universe as live_module
from universe.service import reply_encoding
from universe.service.batch import ChangeResult
from universe.service.universes import UniverseService
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.errors import NotFound

READING: dict[str, Callable[[UniverseService], Awaitable[object]]] = {
    "undo": lambda service: service.undo("u"),
    "restore": lambda service: service.restore("u", 2),
    "branch": lambda service: service.branch("u", version=2),
    "look at a version": lambda service: service.view("u", 2),
    "look": lambda service: service.view("u"),
    "send": lambda service: service.send("u", {"type": "tick"}),
}
"""Calls that read the log of a universe that is not in memory."""


@pytest.fixture
async def pair(file: Path) -> AsyncIterator[tuple[UniverseService, UniverseService]]:
    """Two services over one file, as two processes have them, with a universe `u`."""
    one, other = UniverseService(SqliteStore(file)), UniverseService(SqliteStore(file))
    async with one.running(), other.running():
        await one.create("Hven", universe_id="u")
        yield one, other


async def test_of_many_commands_at_once_none_is_lost_and_none_done_twice(file_service: UniverseService) -> None:
    async with file_service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        results, errors = await gather_results([file_service.send("u", add_star(f"s{n}")) for n in range(300)])
        assert list_versions(feed) == list(range(1, 301))
    assert errors == []
    assert sorted(one.version for one in results) == list(range(1, 301))
    written = [one["id"] for one in await list_commands(file_service)]
    assert sorted(written) == sorted(f"s{n}" for n in range(300))
    assert (await read_state(file_service))["rootIds"] == written
    await assert_log_intact(file_service)


async def test_of_many_commands_of_two_processes_none_is_lost_and_both_agree(
    pair: tuple[UniverseService, UniverseService],
) -> None:
    one, other = pair
    requests = [(one, other)[n % 2].send("u", add_star(f"s{n}")) for n in range(200)]
    results, errors = await gather_results(requests)
    assert errors == []
    assert sorted(result.version for result in results) == list(range(1, 201))
    assert len((await read_state(one))["stars"]) == 200
    assert await read_state(one) == await read_state(other)
    await assert_log_intact(one)
    await assert_log_intact(other)


async def test_a_universe_whose_writes_hang_holds_up_no_other_and_can_be_read(
    service: UniverseService, store: TroubledStore
) -> None:
    await service.create("Other", universe_id="v")
    async with store.holding("u") as held:
        hanging = asyncio.create_task(service.send("u", add_star("sun")))
        await wait_briefly(held.reached.wait())
        for number in range(50):
            assert (await wait_briefly(service.send("v", {"type": "tick"}))).version == number + 1
        assert await wait_briefly(read_state(service, "u")) == EMPTY_STATE
        assert (await wait_briefly(service.undo("v"))).version == 51
        assert not hanging.done()
    assert (await wait_briefly(hanging)).version == 1


@pytest.mark.parametrize("writers", [2, 50])
async def test_of_many_writers_that_expect_the_same_version_exactly_one_wins(
    file_service: UniverseService, writers: int
) -> None:
    await file_service.send("u", {"type": "tick"})
    requests = [file_service.send("u", add_star(f"s{n}"), expected_version=1) for n in range(writers)]
    results, errors = await gather_results(requests)
    assert [one.version for one in results] == [2]
    assert {type(one) for one in errors} == {VersionConflict}
    assert {(one.ids["universeId"], one.ids["expectedVersion"], one.ids["version"]) for one in errors} == {("u", 1, 2)}
    assert len((await read_state(file_service))["stars"]) == 1
    await assert_log_intact(file_service)


async def test_of_writers_in_two_processes_that_expect_the_same_version_exactly_one_wins(
    pair: tuple[UniverseService, UniverseService],
) -> None:
    for version in range(15):
        requests = [one.send("u", add_star(f"s{version}"), expected_version=version) for one in pair]
        results, errors = await gather_results(requests)
        assert [one.version for one in results] == [version + 1]
        assert [type(one) for one in errors] == [VersionConflict]
    assert [one["id"] for one in await list_commands(pair[0])] == [f"s{n}" for n in range(15)]
    await assert_log_intact(pair[1])


@pytest.mark.parametrize("expected", [0, 2, 2**53])
async def test_a_version_that_is_not_the_present_one_is_a_conflict_and_changes_nothing(
    service: UniverseService, expected: int
) -> None:
    await service.send("u", {"type": "tick"})
    requests = [
        service.send("u", {"type": "tick"}, expected_version=expected),
        service.send("u", [{"type": "tick"}, {"type": "tick"}], expected_version=expected),
        service.put("u", {}, expected_version=expected),
        service.undo("u", expected_version=expected),
        service.restore("u", 0, expected_version=expected),
    ]
    for one in requests:
        with pytest.raises(VersionConflict) as caught:
            await wait_briefly(one)
        assert caught.value.ids["version"] == 1
    assert await read_version(service) == 1


async def test_a_chain_of_expected_versions_sent_at_once_is_done_in_full(service: UniverseService) -> None:
    results, errors = await gather_results(
        [service.send("u", add_star(f"s{n}"), expected_version=n) for n in range(20)],
    )
    assert (len(results), errors) == (20, [])


async def test_a_caller_that_leaves_before_the_answer_delays_no_other_caller(
    service: UniverseService, store: TroubledStore
) -> None:
    async with store.holding("u") as held:
        first = asyncio.create_task(service.send("u", add_star("a")))
        await wait_briefly(held.reached.wait())
        leaving = asyncio.create_task(service.send("u", add_star("b")))
        staying = asyncio.create_task(service.send("u", add_star("c")))
        await asyncio.sleep(0)  # they begin
        first.cancel()
        leaving.cancel()
    assert (await wait_briefly(staying)).version <= 3
    assert (await wait_briefly(service.send("u", add_star("d")))).version == len(await read_log(service))
    assert "c" in (await read_state(service))["stars"]
    await assert_log_intact(service)


@pytest.mark.parametrize("back", ["undo", "restore"])
async def test_going_back_waits_its_turn_among_those_who_never_stop_sending(
    service: UniverseService, store: TroubledStore, back: str
) -> None:
    await service.send("u", [{"type": "tick"}] * 3)
    sending: list[asyncio.Task[ChangeResult]] = []

    async def somebody_sends() -> None:
        sending.append(asyncio.create_task(service.send("u", {"type": "tick"})))
        for _ in range(10):
            await asyncio.sleep(0)  # it gets as far as it can
        store.before_reading = somebody_sends

    store.before_reading = somebody_sends
    result = await wait_briefly(READING[back](service))
    store.before_reading = None
    assert isinstance(result, ChangeResult)
    assert result.events[0]["type"] == "stateRestored"
    await wait_briefly(asyncio.gather(*sending))
    await assert_log_intact(service)


async def test_more_waiting_than_may_wait_is_refused_at_once_and_the_rest_is_done(
    service: UniverseService, store: TroubledStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "QUEUE_SIZE", 3)
    async with store.holding("u") as held:
        writing = asyncio.create_task(service.send("u", add_star("a")))
        await wait_briefly(held.reached.wait())
        waiting = [asyncio.create_task(service.send("u", add_star(f"b{n}"))) for n in range(3)]
        await asyncio.sleep(0)  # they begin
        with pytest.raises(TooBusy):
            await wait_briefly(service.send("u", add_star("c")))
    assert sorted(one.version for one in await wait_briefly(asyncio.gather(writing, *waiting))) == [1, 2, 3, 4]


async def test_more_commands_at_once_than_are_written_together_are_all_done_in_order(
    service: UniverseService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "BATCH_SIZE", 7)
    results, errors = await gather_results([service.send("u", add_star(f"s{n}")) for n in range(50)])
    assert (errors, [one.version for one in results]) == ([], list(range(1, 51)))
    await assert_log_intact(service)


async def test_a_universe_deleted_while_commands_wait_answers_them_all(
    service: UniverseService, store: TroubledStore
) -> None:
    async with service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        async with store.holding("u") as held:
            first = asyncio.create_task(service.send("u", add_star("a")))
            await wait_briefly(held.reached.wait())
            others = [asyncio.create_task(service.send("u", add_star(f"b{n}"))) for n in range(20)]
            await asyncio.sleep(0)  # they begin
            await service.delete("u")
        failed = await wait_briefly(asyncio.gather(first, *others, return_exceptions=True))
        assert {type(one) for one in failed} == {UniverseNotFound}
        assert feed.is_closed
        assert list_versions(feed) == []
    with pytest.raises(UniverseNotFound):
        await service.send("u", {"type": "tick"})


@pytest.mark.parametrize("reading", READING)
async def test_a_universe_deleted_while_its_log_is_read_is_not_found(store: TroubledStore, reading: str) -> None:
    async with UniverseService(store).running() as service:
        await service.create("Hven", universe_id="u")
        await service.send("u", [{"type": "tick"}] * 3)
    async with UniverseService(store).running() as service:
        store.before_reading = lambda: service.delete("u")
        with pytest.raises(UniverseNotFound):
            await wait_briefly(READING[reading](service))
        assert store.before_reading is None


@pytest.mark.parametrize("reading", READING)
async def test_a_universe_made_again_while_its_log_is_read_is_not_taken_for_a_damaged_one(
    store: TroubledStore, reading: str
) -> None:
    async with UniverseService(store).running() as service:
        await service.create("Hven", universe_id="u")
        await service.send("u", [{"type": "tick"}] * 3)
    async with UniverseService(store).running() as service:

        async def made_again() -> None:
            await service.delete("u")
            await service.create("Again", universe_id="u")

        store.before_reading = made_again
        with suppress(NotFound, NothingToUndo):
            await wait_briefly(READING[reading](service))
        assert store.before_reading is None
        await assert_log_intact(service)


async def test_a_universe_made_again_with_the_id_of_a_deleted_one_starts_over(file_service: UniverseService) -> None:
    await file_service.send("u", [{"type": "tick"}] * 3, key="k")
    await file_service.delete("u")
    await file_service.create("Again", universe_id="u")
    assert await read_state(file_service) == EMPTY_STATE
    assert (await file_service.send("u", add_star("sun"), key="k")).version == 1
    async with file_service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        await file_service.send("u", {"type": "tick"})
        assert list_versions(feed, 1) == [2]
        assert not feed.is_closed
    await assert_log_intact(file_service)


@pytest.mark.parametrize("most", [0, 1_000])
async def test_a_mass_that_many_orbits_follow_from_is_set_beside_the_loop(
    service: UniverseService, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    threads: list[threading.Thread] = []

    def reduce(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return reducer.reduce(*given)

    def describe_citation_changes(*given: Any) -> list[str]:
        threads.append(threading.current_thread())
        return citations.describe_citation_changes(*given)

    monkeypatch.setattr(live_module, "_MANY_ORBITS", most)
    monkeypatch.setattr(reply_encoding, "_MAX_INLINE_BODIES", most)
    monkeypatch.setattr(batch_module, "reduce", reduce)
    monkeypatch.setattr(reply_encoding, "describe_citation_changes", describe_citation_changes)
    await service.create("TRAPPIST-1", systems.load_system("trappist-1"), universe_id="t")
    result = await service.send("t", {"type": "updateStar", "id": "trappist-1", "payload": {"mass": 0.1}})
    written = orjson.loads(await reply_encoding.encode_change_result(result, "events"))
    assert any("trappist-1-h" in warning or "more" in warning for warning in written["warnings"])
    on_loop = [thread is threading.main_thread() for thread in threads]
    assert on_loop == [most > 0] * 2
