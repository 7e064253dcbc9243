"""A request repeated with its key takes effect once and gets the same reply."""

from pathlib import Path
from typing import Any

import pytest

from tests.universe.domain.samples import add_star
from tests.universe.service.service_checks import (
    assert_log_intact,
    gather_results,
    read_log,
    read_state,
    read_version,
    wait_briefly,
)
from universe.errors import KeyReused, MalformedRequest, StarNotFound, VersionConflict
from universe.service.batch import ChangeResult
from universe.service.reply_encoding import ReplyContent, encode_change_result
from universe.service.universes import UniverseService
from universe.store.sqlite import SqliteStore

RING: dict[str, Any] = {"type": "updateRing", "planetId": "sun", "patch": {"opacity": 0.5}}


def reply(result: ChangeResult) -> tuple[Any, ...]:
    return result.version, result.events, result.state.to_plain()


async def test_a_repeated_request_is_done_once_and_answered_alike(file_service: UniverseService) -> None:
    first = await file_service.send("u", add_star("sun"), key="k")
    again = await file_service.send("u", add_star("sun"), key="k")
    assert reply(again) == reply(first)
    assert len(await read_log(file_service)) == 1


async def test_the_same_request_many_times_at_once_is_done_once(file_service: UniverseService) -> None:
    results, errors = await gather_results([file_service.send("u", add_star("sun"), key="k") for _ in range(30)])
    assert errors == []
    assert {one.version for one in results} == {1}
    assert all(reply(one) == reply(results[0]) for one in results)
    assert len(await read_log(file_service)) == 1


async def test_the_same_request_in_two_processes_at_once_is_done_once(
    file_service: UniverseService, file: Path
) -> None:
    async with UniverseService(SqliteStore(file)).running() as other:
        for number in range(10):
            requests = [one.send("u", add_star(f"s{number}"), key=f"k{number}") for one in (file_service, other) * 3]
            results, errors = await gather_results(requests)
            assert errors == []
            assert {one.version for one in results} == {number + 1}
        await assert_log_intact(other)
    assert await read_version(file_service) == 10


async def test_a_request_is_remembered_past_a_restart_and_later_changes(file: Path) -> None:
    async with UniverseService(SqliteStore(file), snapshot_every=2).running() as service:
        await service.create("Hven", universe_id="u")
        first = reply(await service.send("u", [add_star("sun"), RING], key="k"))
    async with UniverseService(SqliteStore(file), snapshot_every=2).running() as service:
        assert reply(await service.send("u", [add_star("sun"), RING], key="k")) == first
        await service.send("u", [{"type": "removeStar", "id": "sun"}, {"type": "tick"}, {"type": "tick"}])
        assert reply(await service.send("u", [add_star("sun"), RING], key="k")) == first
        await service.undo("u")
        assert reply(await service.send("u", [add_star("sun"), RING], key="k")) == first
        assert await read_version(service) == 6
        await assert_log_intact(service)


@pytest.mark.parametrize("wanted", ["state", "events", "changes"])
async def test_the_answer_to_a_repeated_request_is_the_same_however_much_of_it_is_wanted(
    service: UniverseService, wanted: ReplyContent
) -> None:
    first = await encode_change_result(await service.send("u", add_star("sun"), key="k"), wanted)
    assert await encode_change_result(await service.send("u", add_star("sun"), key="k"), wanted) == first


async def test_a_key_used_for_another_request_is_refused_and_changes_nothing(file_service: UniverseService) -> None:
    await file_service.send("u", add_star("sun"), key="k")
    for other in (add_star("moon"), [add_star("sun")] * 2, {"type": "tick"}):
        with pytest.raises(KeyReused) as caught:
            await file_service.send("u", other, key="k")
        assert (caught.value.code, caught.value.status) == ("idempotency_key_reused", 422)
        assert (caught.value.ids["key"], caught.value.ids["universeId"]) == ("k", "u")
    assert await read_version(file_service) == 1


async def test_of_different_requests_with_one_key_at_once_one_is_done(file_service: UniverseService) -> None:
    results, errors = await gather_results([file_service.send("u", add_star(f"s{n}"), key="k") for n in range(10)])
    assert [one.version for one in results] == [1]
    assert {type(one) for one in errors} == {KeyReused}
    assert len((await read_state(file_service))["stars"]) == 1


async def test_a_refused_request_leaves_its_key_free(service: UniverseService) -> None:
    with pytest.raises(StarNotFound):
        await service.send("u", RING, key="k")
    await service.send("u", add_star("sun"))
    assert (await service.send("u", RING, key="k")).version == 2
    assert (await service.send("u", RING, key="k")).version == 2


async def test_a_repeated_request_is_answered_though_the_version_it_expected_is_past(service: UniverseService) -> None:
    first = await service.send("u", add_star("sun"), expected_version=0, key="k")
    await service.send("u", {"type": "tick"})
    assert reply(await service.send("u", add_star("sun"), expected_version=0, key="k")) == reply(first)
    with pytest.raises(VersionConflict):
        await service.send("u", add_star("moon"), expected_version=0, key="other")


async def test_a_key_belongs_to_its_universe(service: UniverseService) -> None:
    await service.create("Other", universe_id="v")
    await service.send("u", add_star("sun"), key="k")
    assert (await service.send("v", {"type": "tick"}, key="k")).version == 1


@pytest.mark.parametrize("key", ["", "x" * 201])
async def test_a_key_of_no_length_or_too_long_is_refused(service: UniverseService, key: str) -> None:
    with pytest.raises(MalformedRequest) as caught:
        await service.send("u", {"type": "tick"}, key=key)
    assert caught.value.ids["argument"] == "Idempotency-Key"
    assert await read_version(service) == 0


@pytest.mark.parametrize("key", ["x" * 200, "🪐", "' OR 1=1", " "])
async def test_any_other_key_will_do(file_service: UniverseService, key: str) -> None:
    for _ in range(2):
        assert (await wait_briefly(file_service.send("u", {"type": "tick"}, key=key))).version == 1
