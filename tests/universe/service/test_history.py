"""Undo, restore and branches: every version stays unchanged, and each restore is a change."""

from collections.abc import Awaitable
from typing import Any

import orjson
import pytest

from tests.universe.domain.samples import EMPTY_STATE, a_body, add_group, add_star
from tests.universe.service.service_checks import (
    assert_log_intact,
    gather_results,
    list_versions,
    read_frames,
    read_log,
    read_state,
    read_version,
    wait_briefly,
)
from universe.errors import MalformedRequest, NothingToUndo, UniverseNotFound, VersionNotFound
from universe.service.universes import UniverseService
from uraniborg.kernel.actors import get_process_actor
from uraniborg.kernel.errors import Conflict

NAME_CHARS = 200

CHANGES: list[dict[str, Any]] = [
    add_star("sun"),
    {"type": "tick", "dt": 2.5},
    add_star("earth", "sun"),
    add_group("g"),
    {"type": "updateStar", "id": "earth", "payload": {"mass": 9}},
    {"type": "removeStar", "id": "sun"},
    {"type": "tick", "dt": -1},
]


async def recorded(service: UniverseService) -> list[dict[str, Any]]:
    """Return the state before the first change and the state after each change."""
    states = [await read_state(service)]
    for change in CHANGES:
        await service.send("u", change)
        states.append(await read_state(service))
    return states


async def assert_versions(service: UniverseService, states: list[dict[str, Any]]) -> None:
    for version, state in enumerate(states):
        assert await read_state(service, version=version) == state


async def test_the_state_at_every_version_is_the_one_that_was_served_then(file_service: UniverseService) -> None:
    states = await recorded(file_service)
    await assert_versions(file_service, states)
    assert len({orjson.dumps(state) for state in states}) == len(states)


@pytest.mark.parametrize("version", [-1, 8, 2**62])
async def test_a_version_there_is_not_is_named_with_those_there_are(service: UniverseService, version: int) -> None:
    await recorded(service)
    for requests in (service.view("u", version), service.restore("u", version), service.branch("u", version=version)):
        with pytest.raises(VersionNotFound, match=str(version)) as caught:
            await requests
        assert caught.value.ids["universeId"] == "u"
        assert "7" in caught.value.hint
    assert await read_version(service) == 7


async def test_undoing_again_and_again_leads_back_to_the_start_and_no_further(file_service: UniverseService) -> None:
    states = await recorded(file_service)
    for steps, state in enumerate(reversed(states[:-1]), 1):
        result = await file_service.undo("u")
        assert result.version == 7 + steps
        assert result.events == [{"type": "stateRestored", "reason": "undo", "toVersion": 7 - steps}]
        assert await read_state(file_service) == result.state.to_plain() == state
        states.append(state)
    with pytest.raises(NothingToUndo) as caught:
        await file_service.undo("u")
    assert (caught.value.code, caught.value.status) == ("nothing_to_undo", 409)
    assert await read_version(file_service) == 14
    await assert_versions(file_service, states)
    await assert_log_intact(file_service)


async def test_time_is_undone_too(service: UniverseService) -> None:
    await service.send("u", {"type": "tick", "dt": 5})
    await service.send("u", {"type": "tick", "dt": 7})
    assert (await service.undo("u")).state.time == 5


async def test_an_undone_change_is_redone_by_restoring_its_version(service: UniverseService) -> None:
    states = await recorded(service)
    for _ in range(4):
        await service.undo("u")
    result = await service.restore("u", 7)
    assert result.events == [{"type": "stateRestored", "reason": "restore", "toVersion": 7}]
    assert result.version == 12
    assert await read_state(service) == states[7]
    await assert_log_intact(service)


async def test_undoing_after_a_restore_takes_the_restore_back(service: UniverseService) -> None:
    states = await recorded(service)
    await service.restore("u", 2)
    assert await read_state(service) == states[2]
    await service.undo("u")
    assert await read_state(service) == states[7]
    await service.undo("u")
    assert await read_state(service) == states[6]
    await assert_log_intact(service)


async def test_undoing_takes_back_the_command_sent_after_an_undo(service: UniverseService) -> None:
    states = await recorded(service)
    await service.undo("u")
    await service.send("u", add_star("new"))
    await service.undo("u")
    assert await read_state(service) == states[6]


async def test_commands_of_one_list_are_undone_together(service: UniverseService) -> None:
    await service.send("u", add_star("a"))
    await service.send("u", [add_star("b"), add_star("c"), {"type": "tick"}])
    await service.send("u", [add_star("d"), {"type": "tick"}])
    for remaining in (["a", "b", "c"], ["a"], []):
        assert list((await service.undo("u")).state.rootIds) == remaining
    with pytest.raises(NothingToUndo):
        await service.undo("u")
    assert (await service.restore("u", 3)).state.rootIds == ("a", "b", "c")
    await assert_log_intact(service)


async def test_undoing_never_restores_an_undone_change(service: UniverseService) -> None:
    await service.send("u", add_star("a"))
    await service.undo("u")
    await service.send("u", add_star("b"))
    await service.undo("u")
    with pytest.raises(NothingToUndo):
        await service.undo("u")
    assert await read_state(service) == EMPTY_STATE


async def test_restoring_the_present_version_is_a_change_that_changes_nothing(service: UniverseService) -> None:
    states = await recorded(service)
    assert (await service.restore("u", 7)).version == 8
    assert await read_state(service) == states[7]


async def test_a_new_universe_has_nothing_to_undo(service: UniverseService) -> None:
    with pytest.raises(NothingToUndo) as caught:
        await service.undo("u")
    assert caught.value.ids["universeId"] == "u"


async def test_undos_sent_at_once_each_take_back_one_change(file_service: UniverseService) -> None:
    states = await recorded(file_service)
    results, errors = await gather_results([file_service.undo("u") for _ in range(3)])
    assert (len(results), errors) == (3, [])
    assert await read_state(file_service) == states[4]
    await assert_log_intact(file_service)


async def test_listeners_are_notified_of_a_restore_by_its_version_and_reason(service: UniverseService) -> None:
    await recorded(service)
    async with service.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        await service.undo("u")
        frame = read_frames(feed, 7)
        assert list_versions(feed, 7) == [8]
    assert frame.startswith(b"id: 8\nevent: restore\n")
    printed = orjson.loads(frame.split(b"data: ")[1])
    assert printed == {"version": 8, "events": [{"type": "stateRestored", "reason": "undo", "toVersion": 6}]}


async def test_a_state_put_in_place_is_logged_with_its_time_and_can_be_undone(file_service: UniverseService) -> None:
    states = await recorded(file_service)
    given = {"stars": {"x": a_body("x")}, "rootIds": ["x"], "time": 77.5}
    result = await file_service.put("u", given, expected_version=7)
    assert (result.version, result.events) == (8, [{"type": "stateRestored", "reason": "put"}])
    assert await read_state(file_service) == {**EMPTY_STATE, **given}
    entry = (await read_log(file_service))[-1]
    assert entry.kind == "restore"
    await file_service.send("u", {"type": "tick", "dt": 0.5})
    assert (await read_state(file_service))["time"] == 78
    await file_service.restore("u", 7)
    assert await read_state(file_service) == states[7]
    await assert_log_intact(file_service)


async def test_a_branch_starts_with_the_state_of_the_universe_and_changes_independently(
    file_service: UniverseService,
) -> None:
    states = await recorded(file_service)
    for version, state in enumerate(states):
        branch = await file_service.branch("u", version=version)
        assert branch.name == f"Hven (at {version})"
        assert await read_state(file_service, branch.id) == state
        await file_service.send(branch.id, add_star("new"))
        await file_service.send(branch.id, {"type": "tick", "dt": 100})
        await assert_log_intact(file_service, branch.id)
    await assert_versions(file_service, states)
    assert await read_version(file_service) == 7
    present = await file_service.branch("u", name="  Now ")
    assert present.name == "Now"
    assert await read_state(file_service, present.id) == states[7]


async def test_the_first_state_of_a_branch_cannot_be_undone(service: UniverseService) -> None:
    await service.send("u", add_star("sun"))
    branch = await service.branch("u")
    await service.send(branch.id, add_star("earth", "sun"))
    await service.undo(branch.id)
    began = await read_state(service, branch.id)
    assert list(began["stars"]) == ["sun"]
    with pytest.raises(NothingToUndo):
        await service.undo(branch.id)
    assert await read_state(service, branch.id) == began


async def test_a_branch_outlives_the_universe_it_came_from(service: UniverseService) -> None:
    states = await recorded(service)
    branch = await service.branch("u", version=3)
    await service.delete("u")
    assert await read_state(service, branch.id) == states[3]


async def test_the_name_of_a_branch_is_never_too_long(service: UniverseService) -> None:
    await service.rename("u", "n" * NAME_CHARS)
    assert len((await service.branch("u")).name) <= NAME_CHARS


async def test_history_in_pages_is_the_whole_log(service: UniverseService) -> None:
    await recorded(service)
    await service.undo("u")
    whole = await read_log(service)
    for limit in (1, 3, 8, 100):
        paged = [
            entry for after in range(0, 9, limit) for entry in await service.read_history("u", after=after, limit=limit)
        ]
        assert paged == whole
    assert await service.read_history("u", after=8) == []


async def test_the_history_of_a_universe_made_with_a_state_begins_with_it_and_is_not_undone_further(
    service: UniverseService,
) -> None:
    given = {"stars": {"x": a_body("x")}, "rootIds": ["x"], "time": 3}
    made = await service.create("Made", given)
    assert made.version == 1
    (entry,) = await service.read_history(made.id)
    assert orjson.loads(entry.events) == [{"type": "stateRestored", "reason": "create"}]
    assert await read_state(service, made.id, 0) == EMPTY_STATE
    with pytest.raises(NothingToUndo):
        await service.undo(made.id)
    await service.restore(made.id, 0)
    assert await read_state(service, made.id) == EMPTY_STATE
    await assert_log_intact(service, made.id)


async def test_a_rename_changes_the_name_and_the_time_and_nothing_else(service: UniverseService) -> None:
    await recorded(service)
    before = await service.read_record("u")
    await service.rename("u", "  Stjerneborg ")
    after = await service.read_record("u")
    by = get_process_actor().model_dump_json()
    assert after == before._replace(name="Stjerneborg", updated_at=after.updated_at, renamed_by=by)
    assert after.updated_at >= before.updated_at


@pytest.mark.parametrize("name", ["", "   ", "n" * (NAME_CHARS + 1), None, 5, ["a"]])
async def test_a_name_that_is_invalid_is_refused(service: UniverseService, name: Any) -> None:
    for requests in (service.create(name), service.rename("u", name)):
        with pytest.raises(MalformedRequest) as caught:
            await requests
        assert caught.value.ids["argument"] == "name"
    assert (await service.read_record("u")).name == "Hven"


@pytest.mark.parametrize("universe_id", ["", "x" * 10_000, "a/b", "a\nb", "\x00", 5])
async def test_an_id_that_is_invalid_is_refused(service: UniverseService, universe_id: Any) -> None:
    with pytest.raises(MalformedRequest) as caught:
        await service.create("x", universe_id=universe_id)
    assert caught.value.ids["argument"] == "id"


async def test_half_a_character_names_no_universe_and_is_refused_in_names_and_keys(service: UniverseService) -> None:
    requests: list[Awaitable[Any]] = [
        service.read_record("\ud800"),
        service.send("\ud800", add_star("a")),
        service.rename("\ud800", "x"),
        service.delete("\ud800"),
        service.view("\ud800"),
    ]
    for request in requests:
        with pytest.raises(UniverseNotFound):
            await request
    for request in (service.create("\ud800"), service.rename("u", "\udfff"), service.create("x", universe_id="\ud800")):
        with pytest.raises(MalformedRequest):
            await request
    with pytest.raises(MalformedRequest):
        await service.send("u", add_star("a"), key="\ud800")


@pytest.mark.parametrize(
    "universe_id", ["__proto__", "🪐", "constructor", "x" * 200, "'; DROP TABLE log; --", "%", "U"]
)
async def test_an_odd_id_is_an_id_like_any_other(file_service: UniverseService, universe_id: str) -> None:
    await file_service.create("Odd", universe_id=universe_id)
    await file_service.send(universe_id, add_star(universe_id))
    assert list((await read_state(file_service, universe_id))["stars"]) == [universe_id]
    assert await read_state(file_service) == EMPTY_STATE
    with pytest.raises(Conflict):
        await file_service.create("Again", universe_id=universe_id)
    await file_service.delete(universe_id)
    with pytest.raises(UniverseNotFound):
        await file_service.read_record(universe_id)


async def test_deleting_removes_the_log_snapshots_and_keys(service: UniverseService) -> None:
    await service.send("u", {"type": "tick"}, key="k")
    await wait_briefly(service.delete("u"))
    assert await service.store.read_entries("u", after=0, limit=10) == []
    assert await service.store.find_key_use("u", "k") is None
    assert await service.store.list_snapshot_versions("u") == []
