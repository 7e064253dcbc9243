"""Undo, restore and branches refer to versions: small log entries, the same states, and sources that may be deleted."""

from pathlib import Path
from typing import Any

import orjson

from tests.universe.domain.samples import a_body, add_star
from tests.universe.service.service_checks import assert_log_intact, read_log, read_state
from universe.service.universes import UniverseService
from universe.store.interface import EntryKind, StoredEntry, UniverseRecord
from universe.store.log_encoding import decode_json, put_citations_back
from universe.store.memory import MemoryStore
from universe.store.replica import rebuild_replica
from universe.store.sqlite import SqliteStore

BODIES = 2_000
AT = "2026-01-02T03:04:05.678Z"


def many_bodies() -> dict[str, Any]:
    stars = {f"b{number}": a_body(f"b{number}") for number in range(BODIES)}
    return {"stars": stars, "rootIds": list(stars)}


def rename(key: str, name: str) -> dict[str, Any]:
    return {"type": "updateStar", "id": key, "payload": {"name": name}}


async def test_undo_restore_and_branch_store_a_reference_and_not_the_state(file_service: UniverseService) -> None:
    await file_service.create("Large", many_bodies(), universe_id="large")
    await file_service.send("large", rename("b7", "New"))
    await file_service.undo("large")
    await file_service.restore("large", 2)
    branch = await file_service.branch("large")
    entries = [*(await read_log(file_service, "large"))[2:], *await read_log(file_service, branch.id)]
    assert [entry.kind for entry in entries] == ["reference"] * 3
    assert all(len(entry.body) < 200 for entry in entries)
    for universe_id in ("large", branch.id):
        assert (await read_state(file_service, universe_id))["stars"]["b7"]["name"] == "New"
        await assert_log_intact(file_service, universe_id)


async def test_the_state_of_a_new_universe_is_compressed_in_the_log(file_service: UniverseService) -> None:
    await file_service.create("Large", many_bodies(), universe_id="large")
    (entry,) = await read_log(file_service, "large")
    body = decode_json(entry.body)
    assert len(body["state"]["stars"]) == BODIES
    assert len(entry.body) * 5 < len(orjson.dumps(body))


async def test_citations_are_stored_once_and_come_back_in_full_and_in_order(file: Path) -> None:
    """Also those of another order of fields, of an older log, and with locations of each body."""
    paper = {"id": "doi:10.1/x", "title": "A paper whose title is long", "authors": ["Tycho Brahe"], "year": 1588}
    state = many_bodies()
    for number, body in enumerate(state["stars"].values()):
        located = {"fields": ["mass"], "locations": {"mass": {"row": [body["id"], str(number)]}}}
        body["sources"] = [{**paper, **located}] if number % 2 else [{"fields": ["mass"], **paper}]
    async with UniverseService(SqliteStore(file), snapshot_every=2).running() as service:
        await service.create("Cited", state, universe_id="cited")
        for name in "abc":
            await service.send("cited", rename("b7", name))
        expected = orjson.dumps(await read_state(service, "cited"))
        (entry, *_) = await read_log(service, "cited")
    async with UniverseService(SqliteStore(file)).running() as service:
        snapshot = await service.store.find_latest_snapshot("cited")
        assert snapshot is not None
        assert snapshot.version > 1
        for stored in (decode_json(entry.body)["state"], decode_json(snapshot.state)):
            assert orjson.dumps(stored).count(b"A paper whose title is long") == 2  # of two orders of fields
        assert orjson.dumps(await read_state(service, "cited")) == expected
        first, second = (
            (await service.view("cited")).replica.state.stars["b1"],
            (await service.view("cited")).replica.state.stars["b3"],
        )
        assert first["sources"][0]["authors"] is second["sources"][0]["authors"]
        assert put_citations_back(orjson.loads(orjson.dumps(state))) == state


async def test_the_undo_of_a_removal_puts_bodies_back_in_their_places(
    file: Path, file_service: UniverseService
) -> None:
    for name in "abcde":
        await file_service.send("u", add_star(name))
    for command in ({"type": "removeStar", "id": "b"}, add_star("b"), {"type": "removeStar", "id": "d"}):
        await file_service.send("u", command)
    orders: list[str] = []
    for _ in range(3):
        await file_service.undo("u")
        orders.append("".join((await read_state(file_service))["stars"]))
    assert orders == ["acdeb", "acde", "abcde"]
    async with UniverseService(SqliteStore(file)).running() as another:
        assert "".join((await read_state(another))["stars"]) == "abcde"


async def test_a_branch_survives_the_deletion_of_the_universes_it_came_from(
    file: Path, file_service: UniverseService
) -> None:
    await file_service.send("u", add_star("sun"))
    first = await file_service.branch("u")
    await file_service.send(first.id, add_star("earth", "sun"))
    second = await file_service.branch(first.id, version=1)
    await file_service.delete("u")
    await file_service.create("Another", universe_id="u")
    await file_service.delete(first.id)
    await assert_log_intact(file_service, second.id)
    await file_service.send(second.id, add_star("mars", "sun"))
    async with UniverseService(SqliteStore(file)).running() as another:
        assert list((await read_state(another, second.id))["stars"]) == ["sun", "mars"]
        assert list((await read_state(another, second.id, version=1))["stars"]) == ["sun"]
        await assert_log_intact(another, second.id)


async def test_a_chain_of_undone_changes_and_branches_is_rebuilt(file: Path, file_service: UniverseService) -> None:
    await file_service.send("u", add_star("sun"))
    universe_id = "u"
    for number in range(60):
        await file_service.send(universe_id, rename("sun", f"Sun {number}"))
        await file_service.send(universe_id, rename("sun", "Wrong"))
        await file_service.undo(universe_id)
        universe_id = (await file_service.branch(universe_id)).id
    async with UniverseService(SqliteStore(file)).running() as another:
        assert (await read_state(another, universe_id))["stars"]["sun"]["name"] == "Sun 59"


async def test_an_undo_with_a_copy_of_the_state_is_still_read() -> None:
    store = MemoryStore()
    state = {"stars": {"sun": a_body("sun")}, "rootIds": ["sun"]}
    bodies: list[dict[str, Any]] = [
        {"reason": "create", "toVersion": None, "state": state},
        {"type": "removeStar", "id": "sun"},
        {"reason": "undo", "toVersion": 1, "state": state},
    ]
    kinds: tuple[EntryKind, ...] = ("restore", "command", "restore")
    events = [{"type": "stateRestored", "reason": "undo", "toVersion": 1}]
    log = [
        StoredEntry.make_with_digest("old", number, kind, orjson.dumps(body), orjson.dumps(events), AT)
        for number, (kind, body) in enumerate(zip(kinds, bodies, strict=True), 1)
    ]
    await store.create(UniverseRecord("old", "Old", 3, AT, AT), log)
    assert list((await rebuild_replica(store, "old")).state.stars) == ["sun"]
    async with UniverseService(store).running() as service:
        await service.restore("old", 2)
        assert (await read_state(service, "old"))["stars"] == {}
        await service.undo("old")
        assert list((await read_state(service, "old"))["stars"]) == ["sun"]
        await assert_log_intact(service, "old")


async def test_an_undo_by_another_process_is_followed(file: Path, file_service: UniverseService) -> None:
    async with UniverseService(SqliteStore(file)).running() as another:
        await file_service.send("u", add_star("sun"))
        assert list((await read_state(another))["stars"]) == ["sun"]
        await file_service.send("u", add_star("mars"))
        await file_service.undo("u")
        assert list((await read_state(another))["stars"]) == ["sun"]
        await another.undo("u")
        assert (await read_state(file_service))["stars"] == {}
