"""A replica is the same from the first entry and from any snapshot."""

from typing import Any

import orjson
import pytest

from tests.universe.store.sample_logs import LATER, record
from universe.domain.command_parser import parse_command
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, State, make_state_from_plain
from universe.errors import LogDamaged
from universe.store import replica as replica_module
from universe.store.interface import StoredEntry, StoredSnapshot
from universe.store.memory import MemoryStore
from universe.store.recent_changes import RecentChange
from universe.store.replica import Replica, read_entry_pages, rebuild_replica

BODY = {
    "mass": 1.0,
    "radius": 1.0,
    "color": "#ffffff",
    "orbitalDistance": 5.0,
    "orbitalSpeed": 2.0,
    "orbitalPhase": 0.0,
}


def added(name: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "addStar", "id": name, "payload": {**BODY, "name": name, "parentId": parent, **more}}


STORY: list[dict[str, Any]] = [
    added("sun", None),
    added("earth", "sun", note="🌍"),
    {"type": "tick", "dt": 2.5},
    added("moon", "earth"),
    {"type": "addGroup", "id": "g", "payload": {"name": "g", "children": [], "parentGroupId": None}},
    {"type": "addToGroup", "groupId": "g", "child": {"id": "sun", "type": "system"}},
    {"type": "updateStar", "id": "earth", "payload": {"mass": 3.0e-6}},
    {"restore": 3},
    added("mars", "sun"),
    {"type": "detachStar", "childId": "earth"},
    {"type": "tick", "dt": -1},
    {"type": "removeStar", "id": "sun"},
    {"restore": 10},
    {"type": "tick"},
    {"type": "attachStar", "childId": "earth", "parentId": "mars"},
]
"""Commands, and states of earlier versions that are put back."""


def reply(story: list[dict[str, Any]]) -> tuple[list[StoredEntry], list[State]]:
    """Return the log of these steps, and the empty state followed by the state after each entry."""
    log: list[StoredEntry] = []
    states = [EMPTY]
    for version, step in enumerate(story, 1):
        if "restore" in step:
            plain = states[int(step["restore"])].to_plain()
            body = orjson.dumps({"reason": "undo", "toVersion": step["restore"], "state": plain})
            log.append(StoredEntry.make_with_digest("u", version, "restore", body, b"[]", LATER))
            states.append(make_state_from_plain(orjson.loads(orjson.dumps(plain))))
        else:
            command = parse_command(step)
            outcome = reduce(states[-1], command)
            assert not outcome.is_refused, step
            body, events = orjson.dumps(command), orjson.dumps(outcome.events)
            log.append(StoredEntry.make_with_digest("u", version, "command", body, events, LATER))
            states.append(outcome.state)
    return log, states


LOG, STATES = reply(STORY)
LAST = len(LOG)


async def kept(log: list[StoredEntry] = LOG) -> MemoryStore:
    store = MemoryStore()
    await store.create(record(version=len(log)), log)
    return store


def snapshot_of(version: int) -> StoredSnapshot:
    state = orjson.dumps(STATES[version].to_plain())
    return StoredSnapshot(version, state, StoredSnapshot.compute_digest("u", version, state))


@pytest.mark.parametrize("page", [1, 4, 1_000])
@pytest.mark.parametrize("snapshots", [(), (4,), (1, 8, 11), tuple(range(1, LAST + 1))])
async def test_the_state_at_every_version_is_unchanged(
    monkeypatch: pytest.MonkeyPatch, page: int, snapshots: tuple[int, ...]
) -> None:
    monkeypatch.setattr(replica_module, "PAGE_ENTRIES", page)
    store = await kept()
    for version in snapshots:
        await store.put_snapshot("u", snapshot_of(version))
    for version in range(LAST + 1):
        rebuilt = await rebuild_replica(store, "u", version)
        assert (rebuilt.version, rebuilt.state) == (version, STATES[version])
        assert orjson.loads(rebuilt.mirror.to_json()) == STATES[version].to_plain()
    latest = await rebuild_replica(store, "u")
    assert (latest.version, latest.state) == (LAST, STATES[LAST])


@pytest.mark.parametrize("last", [7, LAST])
def test_steps_applied_together_leave_the_same_replica_as_one_after_another(last: int) -> None:
    state, steps = EMPTY, list[RecentChange]()
    for command in STORY[:last]:
        if "restore" not in command:
            state, _, touched = reduce(state, parse_command(command))
            steps.append(RecentChange(len(steps) + 1, state, touched))
    together, one_by_one = Replica("u"), Replica("u")
    together.advance_through(steps)
    for step in steps:
        one_by_one.advance_through([step])
    assert together.mirror.to_json() == one_by_one.mirror.to_json()
    for version in range(len(steps) + 1):
        earlier = together.find_state_at(version)
        assert earlier == one_by_one.find_state_at(version)
        assert earlier is not None
        assert earlier.state == (steps[version - 1].state if version else EMPTY)
    assert together.find_state_at(len(steps) + 1) is None


async def test_entries_before_a_snapshot_are_not_read() -> None:
    store = await kept([*(one._replace(body=b"lost") for one in LOG[:8]), *LOG[8:]])
    await store.put_snapshot("u", snapshot_of(8))
    assert (await rebuild_replica(store, "u")).state == STATES[LAST]
    with pytest.raises(LogDamaged):
        await rebuild_replica(store, "u", 7)


@pytest.mark.parametrize(
    "damaged",
    [
        snapshot_of(11)._replace(state=snapshot_of(11).state.replace(b"earth", b"aarth")),
        snapshot_of(11)._replace(digest=b"?"),
        snapshot_of(10)._replace(version=11),
        StoredSnapshot(11, b"{", b""),
        StoredSnapshot(11, b"{}", StoredSnapshot.compute_digest("another", 11, b"{}")),
    ],
    ids=["state", "digest", "version", "cut off", "of another universe"],
)
async def test_a_damaged_snapshot_is_not_believed(damaged: StoredSnapshot) -> None:
    store = await kept()
    await store.put_snapshot("u", damaged)
    assert (await rebuild_replica(store, "u")).state == STATES[LAST]
    assert (await rebuild_replica(store, "u", 11)).state == STATES[11]


@pytest.mark.parametrize("sequence", [1, 8, LAST])
@pytest.mark.parametrize(
    "damage",
    [
        {"body": b'{"type":"tick","dt":9}'},
        {"body": b"{"},
        {"events": b'["another"]'},
        {"at": "2026-01-02T03:04:06.001Z"},
        {"kind": "restored"},
        {"digest": b""},
    ],
    ids=lambda damage: next(iter(damage)),
)
async def test_a_damaged_entry_is_reported_and_earlier_versions_can_be_read(
    sequence: int, damage: dict[str, Any]
) -> None:
    store = await kept([*LOG[: sequence - 1], LOG[sequence - 1]._replace(**damage), *LOG[sequence:]])
    with pytest.raises(LogDamaged, match=f"Entry {sequence} ") as caught:
        await rebuild_replica(store, "u")
    assert caught.value.ids == {"universeId": "u", "sequence": sequence}
    assert f"version={sequence - 1}" in caught.value.hint
    assert (await rebuild_replica(store, "u", sequence - 1)).state == STATES[sequence - 1]
    with pytest.raises(LogDamaged):
        await rebuild_replica(store, "u", sequence)


async def test_an_entry_of_another_universe_is_refused_as_damage() -> None:
    stranger = StoredEntry.make_with_digest("another", 2, "command", LOG[1].body, LOG[1].events, LATER)
    with pytest.raises(LogDamaged, match="Entry 2 "):
        await rebuild_replica(await kept([LOG[0], stranger, *LOG[2:]]), "u")


async def test_a_missing_entry_is_named() -> None:
    store = await kept([*LOG[:5], *LOG[6:]])
    with pytest.raises(LogDamaged, match="Entry 6 in the log of universe u is missing") as caught:
        await rebuild_replica(store, "u")
    assert caught.value.ids["sequence"] == 6


async def test_a_missing_end_is_named() -> None:
    store = MemoryStore()
    await store.create(record(version=LAST), LOG[:-2])
    with pytest.raises(LogDamaged, match=f"Entry {LAST - 1} "):
        await rebuild_replica(store, "u")


async def test_an_entry_that_cannot_follow_is_named() -> None:
    impossible = orjson.dumps({"type": "removeStar", "id": "nobody"})
    refused = StoredEntry.make_with_digest("u", 4, "command", impossible, b"[]", LATER)
    with pytest.raises(LogDamaged, match=r"Entry 4 .* cannot follow"):
        await rebuild_replica(await kept([*LOG[:3], refused]), "u")


async def test_a_universe_without_entries_is_empty() -> None:
    rebuilt = await rebuild_replica(await kept([]), "u")
    assert (rebuilt.version, rebuilt.state) == (0, EMPTY)


async def test_an_unknown_version_is_not_found() -> None:
    with pytest.raises(LogDamaged, match=f"Entry {LAST + 1} .* is missing"):
        await rebuild_replica(await kept(), "u", LAST + 5)


async def test_a_long_log_and_a_large_snapshot_give_the_same_beside_the_loop() -> None:
    log, states = reply([added(f"star {n}", None, note="x" * 2_000) for n in range(60)])
    store = await kept(log)
    assert (await rebuild_replica(store, "u")).state == states[-1]
    plain = orjson.dumps(states[40].to_plain())
    assert len(plain) > 50_000
    await store.put_snapshot("u", StoredSnapshot(40, plain, StoredSnapshot.compute_digest("u", 40, plain)))
    assert (await rebuild_replica(store, "u")).state == states[-1]


async def test_bodies_keep_the_order_in_which_they_came() -> None:
    names = [f"{n * 37 % 50:02}" for n in range(50)]
    log, states = reply([added(name, None) for name in names])
    store = await kept(log)
    assert list((await rebuild_replica(store, "u")).mirror.to_plain()["stars"]) == names
    ordered = orjson.dumps({**states[30].to_plain(), "stars": {name: states[30].stars[name] for name in names[:30]}})
    await store.put_snapshot("u", StoredSnapshot(30, ordered, StoredSnapshot.compute_digest("u", 30, ordered)))
    assert list((await rebuild_replica(store, "u")).mirror.to_plain()["stars"]) == names


async def test_pages_follow_one_another_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_module, "PAGE_ENTRIES", 4)
    store = await kept()
    lengths = [len(page) async for page in read_entry_pages(store, "u")]
    assert lengths == [4, 4, 4, 3]
    assert [one.version async for page in read_entry_pages(store, "u", after=6, upto=12) for one in page] == list(
        range(7, 13)
    )
    assert [page async for page in read_entry_pages(store, "u", after=LAST)] == []
    assert [page async for page in read_entry_pages(store, "u", after=5, upto=5)] == []
