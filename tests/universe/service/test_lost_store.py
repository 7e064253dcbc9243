"""A database that becomes unavailable and returns: answered changes remain, and nothing has to be restarted."""

import sqlite3
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.universe.domain.samples import add_star
from tests.universe.service.service_checks import (
    assert_log_intact,
    gather_results,
    list_commands,
    list_versions,
    read_state,
    wait_briefly,
)
from universe.errors import LogDamaged, StoreUnavailable
from universe.service.universes import UniverseService
from universe.service.verification import verify_log
from universe.store import sqlite as sqlite_module
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.store.sqlite import connect_or_read

TICK = {"type": "tick"}


@pytest.fixture
async def service_with_short_timeout(file: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[UniverseService]:
    """Provide a service that waits only 50 ms for a file that another process has locked."""
    monkeypatch.setattr(sqlite_module, "connect_or_read", partial(connect_or_read, busy_timeout_s=0.05))
    async with UniverseService(SqliteStore(file), snapshot_every=4).running() as running:
        await running.create("Hven", universe_id="u")
        yield running


@contextmanager
def taken(file: Path) -> Generator[None]:
    """Lock the file for writing during the block."""
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        holder.execute("ROLLBACK")
        holder.close()


async def test_a_file_that_cannot_be_written_for_a_while_loses_nothing(
    service_with_short_timeout: UniverseService, file: Path
) -> None:
    async with service_with_short_timeout.keep_in_memory("u") as live:
        feed = live.get_or_open_feed()
        await service_with_short_timeout.send("u", add_star("before"))
        with taken(file):
            for requests in (
                service_with_short_timeout.send("u", add_star("during")),
                service_with_short_timeout.undo("u"),
                service_with_short_timeout.put("u", {}),
                service_with_short_timeout.create("New"),
                service_with_short_timeout.rename("u", "x"),
                service_with_short_timeout.delete("u"),
                service_with_short_timeout.ping(),
            ):
                with pytest.raises(StoreUnavailable):
                    await wait_briefly(requests)
            assert (await read_state(service_with_short_timeout))["rootIds"] == ["before"]
        await wait_briefly(service_with_short_timeout.ping())
        result = await wait_briefly(service_with_short_timeout.send("u", add_star("after")))
        assert list_versions(feed) == [1, 2]
    assert (result.version, list(result.state.rootIds)) == (2, ["before", "after"])
    assert [one["id"] for one in await list_commands(service_with_short_timeout)] == ["before", "after"]
    await assert_log_intact(service_with_short_timeout)


async def test_commands_sent_while_the_file_is_taken_are_each_answered_truly(
    service_with_short_timeout: UniverseService, file: Path
) -> None:
    with taken(file):
        results, errors = await gather_results(
            [service_with_short_timeout.send("u", add_star(f"s{n}"), key=f"k{n}") for n in range(20)]
        )
    assert (results, {type(one) for one in errors}) == ([], {StoreUnavailable})
    again, errors = await gather_results(
        [service_with_short_timeout.send("u", add_star(f"s{n}"), key=f"k{n}") for n in range(20)]
    )
    assert (sorted(one.version for one in again), errors) == (list(range(1, 21)), [])
    await assert_log_intact(service_with_short_timeout)


async def test_acknowledged_changes_after_the_removal_of_the_file_are_not_lost(
    file_service: UniverseService, file: Path
) -> None:
    """Either the loss is noticed, or what is answered is in the file that is there afterwards."""
    await file_service.send("u", add_star("before"))
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    with pytest.raises(StoreUnavailable):
        await wait_briefly(file_service.send("u", add_star("after")))
    with pytest.raises(StoreUnavailable):
        await wait_briefly(file_service.ping())


def flip(file: Path, universe_id: str, version: int) -> None:
    """Change one bit of an entry, as a disk may."""
    connection = sqlite3.connect(file)
    with connection:
        where = "WHERE universe_id = ? AND version = ?"
        (body,) = connection.execute(f"SELECT body FROM log {where}", (universe_id, version)).fetchone()
        damaged = bytes(body[:-3]) + bytes([body[-3] ^ 1]) + bytes(body[-2:])
        connection.execute(f"UPDATE log SET body = ? {where}", (damaged, universe_id, version))
    connection.close()


async def test_a_damaged_entry_is_reported_and_earlier_versions_can_be_read_and_branched(file: Path) -> None:
    async with UniverseService(SqliteStore(file)).running() as service:
        await service.create("Hven", universe_id="u")
        await service.create("Other", universe_id="v")
        await service.send("u", [add_star(f"s{n}") for n in range(1, 7)])
        await service.send("v", TICK)
    flip(file, "u", 4)
    async with UniverseService(SqliteStore(file)).running() as service:
        for requests in (service.view("u"), service.send("u", TICK), service.view("u", 5), service.undo("u")):
            with pytest.raises(LogDamaged, match="4") as caught:
                await requests
            assert (caught.value.ids["sequence"], caught.value.ids["universeId"]) == (4, "u")
        assert (await read_state(service, version=3))["rootIds"] == ["s1", "s2", "s3"]
        branch = await service.branch("u", version=3)
        assert (await service.send(branch.id, TICK)).version == 2
        assert (await service.send("v", TICK)).version == 2
        verdict = await verify_log(service.store, "u")
        assert [problem["sequence"] for problem in verdict.problems] == [4]


async def test_a_damaged_entry_before_a_snapshot_stops_no_other_caller(file: Path) -> None:
    async with UniverseService(SqliteStore(file), snapshot_every=5).running() as service:
        await service.create("Hven", universe_id="u")
        for number in range(1, 8):
            await service.send("u", add_star(f"s{number}"))
    flip(file, "u", 2)
    async with UniverseService(SqliteStore(file), snapshot_every=5).running() as service:
        assert (await service.send("u", TICK)).version == 8
        assert len((await read_state(service))["rootIds"]) == 7
        with pytest.raises(LogDamaged):
            await service.view("u", 3)
        verdict = await verify_log(service.store, "u")
        assert [problem["sequence"] for problem in verdict.problems] == [2]
