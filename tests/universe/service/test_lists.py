"""Lists of commands: all of them take effect, or none."""

import asyncio

import pytest

from tests.universe.domain.samples import EMPTY_STATE, add_star
from tests.universe.service.service_checks import (
    assert_log_intact,
    gather_results,
    list_commands,
    list_versions,
    read_log,
    read_state,
    wait_briefly,
)
from tests.universe.service.stores import TroubledStore
from universe.errors import CommandRefused, MalformedCommand, StoreUnavailable, UnknownCommand
from universe.service.universes import UniverseService

LIST_COMMANDS = 1_000

TICK: dict[str, object] = {"type": "tick"}
LOST = {"type": "removeStar", "id": "lost"}


async def test_each_command_sees_the_effects_of_earlier_ones_and_has_its_own_entry(
    file_service: UniverseService,
) -> None:
    commands = [add_star("sun"), add_star("earth", "sun"), {"type": "detachStar", "childId": "earth"}, TICK]
    async with file_service.keep_in_memory("u") as live:
        result = await file_service.send("u", commands)
        assert list_versions(live.get_or_open_feed(), 4) == []
    assert result.version == 4
    assert [event["type"] for event in result.events] == ["starAdded", "starAdded", "starDetached"]
    assert [one["type"] for one in await list_commands(file_service)] == ["addStar", "addStar", "detachStar", "tick"]
    assert (await read_state(file_service))["rootIds"] == ["sun", "earth"]
    await assert_log_intact(file_service)


@pytest.mark.parametrize("place", [0, 1, 4])
async def test_one_refused_command_refuses_the_whole_list_and_is_named_by_its_place(
    service: UniverseService, place: int
) -> None:
    commands = [add_star(f"s{n}") for n in range(4)]
    async with service.keep_in_memory("u") as live:
        with pytest.raises(CommandRefused) as caught:
            await service.send("u", [*commands[:place], LOST, *commands[place:]])
        assert list_versions(live.get_or_open_feed()) == []
    assert caught.value.ids["index"] == place
    assert caught.value.ids["event"] == {"type": "starNotFound", "id": "lost"}
    assert await read_log(service) == []
    assert await read_state(service) == EMPTY_STATE


@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize(
    ("wrong", "error"), [({"type": "tick", "dt": "1"}, MalformedCommand), ({"type": "explode"}, UnknownCommand)]
)
async def test_one_malformed_command_refuses_the_whole_list_and_is_named_by_its_place(
    service: UniverseService, place: int, wrong: dict[str, object], error: type[Exception]
) -> None:
    commands: list[dict[str, object]] = [TICK, TICK]
    commands.insert(place, wrong)
    with pytest.raises(error) as caught:
        await service.send("u", commands)
    assert isinstance(caught.value, (MalformedCommand, UnknownCommand))
    assert (caught.value.ids["index"], caught.value.ids["universeId"]) == (place, "u")
    assert await read_log(service) == []


async def test_a_single_refused_command_has_no_index(service: UniverseService) -> None:
    with pytest.raises(CommandRefused) as caught:
        await service.send("u", LOST)
    assert "index" not in caught.value.ids


async def test_lists_sent_at_once_are_never_mixed(file_service: UniverseService) -> None:
    requests = [file_service.send("u", [add_star(f"{n}-{k}") for k in range(5)]) for n in range(20)]
    results, errors = await gather_results(requests)
    assert errors == []
    assert sorted(one.version for one in results) == list(range(5, 101, 5))
    written = [one["id"] for one in await list_commands(file_service)]
    for start in range(0, 100, 5):
        first = written[start].split("-")[0]
        assert written[start : start + 5] == [f"{first}-{k}" for k in range(5)]
    await assert_log_intact(file_service)


async def test_a_refused_list_leaves_nothing_to_the_lists_written_with_it(
    service: UniverseService, store: TroubledStore
) -> None:
    async with store.holding("u") as held:
        first = asyncio.create_task(service.send("u", TICK))
        await wait_briefly(held.reached.wait())
        refused = asyncio.create_task(service.send("u", [add_star("a"), LOST]))
        builds_on_it = asyncio.create_task(service.send("u", {"type": "removeStar", "id": "a"}))
        fine = asyncio.create_task(service.send("u", [add_star("b"), add_star("c", "b")]))
        await asyncio.sleep(0)  # they begin
    outcomes = await wait_briefly(asyncio.gather(first, refused, builds_on_it, fine, return_exceptions=True))
    assert [isinstance(one, CommandRefused) for one in outcomes] == [False, True, True, False]
    assert (await read_state(service))["stars"].keys() == {"b", "c"}
    await assert_log_intact(service)


async def test_a_list_that_cannot_be_written_leaves_nothing(service: UniverseService, store: TroubledStore) -> None:
    with store.trouble(), pytest.raises(StoreUnavailable):
        await service.send("u", [TICK] * 10)
    assert await read_log(service) == []


async def test_an_empty_list_and_one_too_long_are_refused(service: UniverseService) -> None:
    for commands in ([], [TICK] * (LIST_COMMANDS + 1)):
        with pytest.raises(MalformedCommand, match="list"):
            await service.send("u", commands)
    assert (await wait_briefly(service.send("u", [TICK] * LIST_COMMANDS))).version == LIST_COMMANDS


async def test_a_body_removed_and_added_again_in_one_list_has_the_place_that_the_log_gives_it(
    file_service: UniverseService,
) -> None:
    """Positions come without ids, in the order of the bodies: at one version there is one order."""
    await file_service.send("u", [add_star("a"), add_star("b")])
    await file_service.send("u", [{"type": "removeStar", "id": "a"}, add_star("a")])
    served = list((await read_state(file_service))["stars"])
    await file_service.send("u", TICK)
    assert list((await read_state(file_service, version=4))["stars"]) == served
