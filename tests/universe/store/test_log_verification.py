"""Verification of a log finds every kind of damage and its first entry."""

# pyright: reportPrivateUsage=false

from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
import pytest

from tests.universe.domain.samples import add_star
from tests.universe.store.sample_logs import snapshot
from universe.errors import UniverseNotFound
from universe.service.universes import UniverseService
from universe.service.verification import verify_log
from universe.store.interface import StoredEntry, StoredSnapshot
from universe.store.memory import MemoryStore

Log = list[StoredEntry]


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    """Provide a store with a universe `u` at version 6, with five bodies, a tick and a snapshot at 3."""
    made = MemoryStore()
    async with UniverseService(made, snapshot_every=3).running() as service:
        await service.create("Hven", universe_id="u")
        for number in range(3):
            await service.send("u", add_star(f"s{number}"))
        await service._cache.cached["u"].wait_for_running_tasks()
        await service.send("u", [add_star("s3"), add_star("s4"), {"type": "tick", "dt": 2}])
        await service._cache.cached["u"].wait_for_running_tasks()
        assert await made.list_snapshot_versions("u") == [3, 6]
        made._universes["u"].snapshots.pop(6)
        yield made


async def found(store: MemoryStore) -> list[tuple[int, str]]:
    verdict = await verify_log(store, "u")
    assert verdict.is_intact is (verdict.problems == [])
    return [(problem["sequence"], problem["problem"]) for problem in verdict.problems]


async def test_a_whole_log_is_whole_and_all_of_it_was_read(store: MemoryStore) -> None:
    reply: list[tuple[int, int]] = []

    def tell(done: int, of: int) -> None:
        reply.append((done, of))

    verdict = await verify_log(store, "u", tell)
    head = {"version": 6, "digest": store._universes["u"].log[-1].digest.hex()}
    counts: dict[str, Any] = {"entries": 6, "snapshots": 1, "problems": []}
    assert verdict.as_dict() == {"universeId": "u", "ok": True, **counts, "head": head, "mark": None}
    assert reply == [(6, 6)]


async def test_a_universe_that_does_not_exist_cannot_be_verified(store: MemoryStore) -> None:
    with pytest.raises(UniverseNotFound):
        await verify_log(store, "nobody")


def altered(at: int, **changes: Any) -> Callable[[Log], None]:
    def alter(log: Log) -> None:
        log[at - 1] = log[at - 1]._replace(**changes)

    return alter


def without(first: int, last: int) -> Callable[[Log], None]:
    def remove(log: Log) -> None:
        del log[first - 1 : last]

    return remove


def resealed(at: int, command: dict[str, Any]) -> Callable[[Log], None]:
    """Another command in the place of the one that was written, with a digest that fits."""

    def alter(log: Log) -> None:
        old = log[at - 1]
        log[at - 1] = StoredEntry.make_with_digest("u", at, old.kind, orjson.dumps(command), old.events, old.at)

    return alter


@pytest.mark.parametrize(
    ("damage", "problems"),
    [
        (altered(5, body=b'{"type":"tick","dt":9}'), [(5, "the entry differs from what was written")]),
        (altered(2, events=b"[]"), [(2, "the entry differs from what was written")]),
        (without(5, 5), [(5, "the entry is missing")]),
        (without(2, 3), [(2, "the entry is missing"), (3, "the entry is missing")]),
        (without(6, 6), [(6, "the log ends at version 5, but the universe is at version 6")]),
        (without(1, 6), [(1, "the log ends at version 0, but the universe is at version 6")]),
        (resealed(2, {"type": "tick", "dt": 5}), [(3, "the snapshot differs from the replayed state")]),
    ],
    ids=["body", "events", "one gone", "two gone", "last gone", "all gone", "other command"],
)
async def test_damage_in_the_log_is_found_where_it_is(
    store: MemoryStore, damage: Callable[[Log], None], problems: list[tuple[int, str]]
) -> None:
    damage(store._universes["u"].log)
    assert await found(store) == problems


async def test_a_log_that_continues_after_the_universe_ends_is_found(store: MemoryStore) -> None:
    kept = store._universes["u"]
    kept.record = kept.record._replace(version=5)
    assert await found(store) == [(6, "the log has more entries, but the universe is at version 5")]


async def test_a_change_while_the_log_is_read_is_not_reported_as_damage(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, record = store._universes["u"], store.read_record
    first = [kept.record._replace(version=5)]

    async def grown(universe_id: str) -> Any:
        return first.pop() if first else await record(universe_id)

    monkeypatch.setattr(store, "read_record", grown)
    assert await found(store) == []


async def test_a_snapshot_that_was_altered_is_found(store: MemoryStore) -> None:
    snapshots = store._universes["u"].snapshots
    snapshots[3] = snapshots[3]._replace(state=b"{}")
    assert await found(store) == [(3, "the snapshot differs from what was written")]


async def test_a_snapshot_of_another_state_is_found(store: MemoryStore) -> None:
    state = orjson.dumps({**orjson.loads(store._universes["u"].snapshots[3].state), "time": 7})
    store._universes["u"].snapshots[3] = StoredSnapshot(3, state, StoredSnapshot.compute_digest("u", 3, state))
    assert await found(store) == [(3, "the snapshot differs from the replayed state")]


async def test_a_state_that_is_served_without_any_entry_that_led_to_it_is_found(store: MemoryStore) -> None:
    kept = store._universes["u"]
    kept.log.clear()
    kept.record = kept.record._replace(version=0)
    state = kept.snapshots.pop(3).state
    kept.snapshots[0] = snapshot(0, "u", state)
    assert await found(store) == [(0, "the state served differs from the replayed state")]


async def test_after_damage_a_snapshot_helps_and_later_damage_is_found_too(store: MemoryStore) -> None:
    for at in (2, 5):
        altered(at, body=b"{}")(store._universes["u"].log)
    assert await found(store) == [(at, "the entry differs from what was written") for at in (2, 5)]


async def test_after_damage_the_log_is_followed_again_from_the_next_snapshot_on(store: MemoryStore) -> None:
    kept = store._universes["u"]
    altered(2, body=b"{}")(kept.log)
    state = orjson.dumps({**orjson.loads(kept.snapshots[3].state), "time": 7})
    kept.snapshots[6] = snapshot(6, "u", state)
    assert await found(store) == [
        (2, "the entry differs from what was written"),
        (6, "the snapshot differs from the replayed state"),
    ]
