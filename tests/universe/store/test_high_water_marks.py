"""Marks outside the database reveal logs that lost their end, without false alarms."""

import asyncio
import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.universe.postgres_server import PostgresServer
from universe.errors import UniverseNotFound
from universe.service.universes import UniverseService
from universe.service.verification import (
    accept_lost_versions,
    flush_and_read_high_water_marks,
    verify_log,
    verify_universes,
)
from universe.store.high_water_mark_file import MarkFile
from universe.store.high_water_marks import Head, Loss, WrittenMark
from universe.store.interface import Store
from universe.store.postgres import PostgresStore
from universe.store.sqlite import SqliteStore

TICK = {"type": "tick", "dt": 1}

KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from universe.service.universes import UniverseService
from universe.store.sqlite import SqliteStore

async def main():
    async with UniverseService(SqliteStore(Path(sys.argv[1]))).running() as service:
        await service.create("Hven", universe_id="u")
        for dt in range(30):
            await service.send("u", {"type": "tick", "dt": dt})
        await service.create("Late", universe_id="late")
        while True:  # a change is answered before it is marked
            marks = (await asyncio.to_thread(service.store.marks.flush_and_read_marks)).marks
            if {(name, mark.version) for (name, _), mark in marks.items()} >= {("u", 30), ("late", 0)}:
                break
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


def head(version: int, universe_id: str = "u", made: str = "then", digest: bytes = b"") -> Head:
    return Head(universe_id, made, version, digest or bytes([version]))


async def grown(path: Path, ticks: int, universe_id: str = "u") -> None:
    """Add this many entries to a universe, which is created if it does not exist."""
    async with UniverseService(SqliteStore(path)).running() as service:
        if await service.store.read_record(universe_id) is None:
            await service.create("Hven", universe_id=universe_id)
        for _ in range(ticks):
            await service.send(universe_id, TICK)


async def problems(path: Path) -> dict[str, list[tuple[int, str]]]:
    async with UniverseService(SqliteStore(path)).running() as service:
        verdicts = await verify_universes(service, None, None)
    return {
        one.universe_id: [(each["sequence"], each["problem"]) for each in one.problems]
        for one in verdicts
        if not one.is_intact
    }


# What is noticed


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a database whose process was killed, with its last entries only in the write-ahead log."""
    folder = tmp_path_factory.mktemp("killed")
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder / "u.db")], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    return folder


def removed(wal: Path) -> None:
    wal.unlink()


def emptied(wal: Path) -> None:
    os.truncate(wal, 0)


def cut(wal: Path) -> None:
    os.truncate(wal, wal.stat().st_size // 2)


def flipped(wal: Path) -> None:
    content = bytearray(wal.read_bytes())
    content[len(content) // 2] ^= 1
    wal.write_bytes(content)


@pytest.mark.parametrize("damage", [removed, emptied, cut, flipped])
async def test_entries_that_a_damaged_write_ahead_log_lost_are_reported(
    killed: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    shutil.copytree(killed, tmp_path / "copy")
    file = tmp_path / "copy" / "u.db"
    assert await problems(file) == {}, "a killed process alone loses nothing"
    shutil.rmtree(tmp_path / "copy")
    shutil.copytree(killed, tmp_path / "copy")
    damage(file.with_name("u.db-wal"))
    sequence = -1
    for _ in range(2):  # the second time from what the first has recorded
        found = await problems(file)
        assert found.keys() == {"u", "late"}
        assert found["late"] == [(0, "the universe is missing and was not deleted: version 0 was written")]
        ((sequence, problem),) = found["u"]
        lost = (
            "version 30 was written"
            if sequence == 0
            else f"the log lost versions that were written: versions {sequence} to 30"
        )
        assert lost in problem
    if damage in (removed, emptied):
        assert sequence == 0, "what was never checkpointed is all gone"
    else:
        assert 1 < sequence < 30


async def test_an_older_copy_put_back_is_reported_until_it_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "u.db"
    await grown(file, 5)
    shutil.copy(file, tmp_path / "older.db")
    await grown(file, 3)
    shutil.copy(tmp_path / "older.db", file)
    lost = (6, "the log lost versions that were written: versions 6 to 8")
    assert await problems(file) == {"u": [lost]}
    await grown(file, 10)
    assert await problems(file) == {"u": [lost]}, "going on does not hide it"
    async with UniverseService(SqliteStore(file)).running() as service:
        await accept_lost_versions(service, None)
    assert await problems(file) == {}
    await grown(file, 1)
    assert await problems(file) == {}


async def test_accepting_one_universe_leaves_the_losses_of_others(tmp_path: Path) -> None:
    file = tmp_path / "u.db"
    await grown(file, 2)
    await grown(file, 2, "v")
    shutil.copy(file, tmp_path / "older.db")
    await grown(file, 1)
    await grown(file, 1, "v")
    await grown(file, 1, "new")
    shutil.copy(tmp_path / "older.db", file)
    assert (await problems(file)).keys() == {"u", "v", "new"}
    async with UniverseService(SqliteStore(file)).running() as service:
        await accept_lost_versions(service, "u")
        await accept_lost_versions(service, "new")
    assert await problems(file) == {"v": [(3, "the log lost versions that were written: version 3")]}


async def test_a_log_with_other_entries_than_those_written_is_reported(tmp_path: Path) -> None:
    await grown(tmp_path / "u.db", 8)
    async with UniverseService(SqliteStore(tmp_path / "u.db")).running() as service:
        store = service.store
        assert store.marks is not None
        (now,) = await store.list_log_heads()
        store.marks.accept_losses([now._replace(version=5, digest=b"another entry")])
        verdict = await verify_log(store, "u")
    assert [(one["sequence"], one["problem"]) for one in verdict.problems] == [
        (5, "the log has another entry than was written")
    ]


async def test_the_verdict_has_the_mark_and_the_head_of_the_log(tmp_path: Path) -> None:
    await grown(tmp_path / "u.db", 4)
    async with UniverseService(SqliteStore(tmp_path / "u.db")).running() as service:
        printed = (await verify_log(service.store, "u")).as_dict()
        (last,) = await service.store.read_entries("u", after=3, limit=1)
    assert printed["head"] == printed["mark"] == {"version": 4, "digest": last.digest.hex()}


# What is not suspected


async def test_deleted_and_remade_universes_branches_and_undone_changes_are_whole(tmp_path: Path) -> None:
    file = tmp_path / "u.db"
    async with UniverseService(SqliteStore(file)).running() as service:
        for name in ("u", "v"):
            await service.create("Hven", universe_id=name)
            for _ in range(3):
                await service.send(name, TICK)
        await service.undo("u")
        await service.branch("u", version=1)
        await service.delete("v")
        await service.create("Hven", universe_id="v")
        await service.delete("u")
    assert await problems(file) == {}
    with pytest.raises(UniverseNotFound):
        async with UniverseService(SqliteStore(file)).running() as service:
            await verify_log(service.store, "u")


async def test_a_database_without_marks_gets_them_when_it_is_opened(tmp_path: Path) -> None:
    file, marks = tmp_path / "u.db", tmp_path / "u.db.mark"
    await grown(file, 3)
    marks.unlink()
    assert await problems(file) == {}
    assert next(iter(MarkFile(marks).flush_and_read_marks().marks.values())).version == 3
    assert marks.stat().st_mode & 0o777 == 0o600


async def test_a_mark_that_was_not_written_in_time_is_raised_when_the_database_is_opened(tmp_path: Path) -> None:
    file, marks = tmp_path / "u.db", tmp_path / "u.db.mark"
    await grown(file, 3)
    before = marks.read_bytes()
    await grown(file, 3)
    marks.write_bytes(before)
    assert await problems(file) == {}
    assert next(iter(MarkFile(marks).flush_and_read_marks().marks.values())).version == 6


async def test_a_deletion_that_was_marked_and_not_done_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, marks = tmp_path / "u.db", tmp_path / "u.db.mark"
    await grown(file, 3)
    ((universe_id, made), _), *_ = MarkFile(marks).flush_and_read_marks().marks.items()
    MarkFile(marks).mark_deleted(universe_id, made)
    await grown(file, 1)
    assert MarkFile(marks).flush_and_read_marks().marks == {}, "it may still be under way"
    monkeypatch.setattr("universe.store.high_water_mark_file._DELETING_S", -1)
    await grown(file, 0)
    assert [mark.version for mark in MarkFile(marks).flush_and_read_marks().marks.values()] == [4]


async def test_two_processes_at_work_do_not_suspect_each_other(tmp_path: Path) -> None:
    file = tmp_path / "u.db"
    await grown(file, 1)

    async def work(service: UniverseService, name: str) -> None:
        for number in range(15):
            await service.send("u", TICK)
            await service.create("Hven", universe_id=f"{name}{number}")
            await service.delete(f"{name}{number}")

    async with UniverseService(SqliteStore(file)).running() as one, UniverseService(SqliteStore(file)).running() as two:
        looking = asyncio.create_task(_opened_often(file))
        await asyncio.gather(work(one, "a"), work(two, "b"))
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
    assert await problems(file) == {}


async def _opened_often(file: Path) -> None:
    while True:
        store = SqliteStore(file)
        await store.open()
        assert (await flush_and_read_high_water_marks(store)).losses == {}
        await store.close()


async def test_a_disk_that_refuses_marks_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "u.db.mark").mkdir()
    await grown(tmp_path / "u.db", 3)
    async with UniverseService(SqliteStore(tmp_path / "u.db")).running() as service:
        verdict = await verify_log(service.store, "u")
    assert (verdict.is_intact, verdict.mark) == (True, None)


async def test_a_link_in_the_place_of_the_marks_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"mine\n")
    other.chmod(0o644)
    (tmp_path / "u.db.mark").symlink_to(other)
    await grown(tmp_path / "u.db", 3)
    assert await problems(tmp_path / "u.db") == {}
    assert (other.read_bytes(), other.stat().st_mode & 0o777) == (b"mine\n", 0o644)


def test_a_pipe_in_the_place_of_the_marks_stops_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "u.db.mark")
    # Opening a pipe that nobody writes to would block a thread for ever: a process can be ended.
    code = (
        "import asyncio, sys; from pathlib import Path; from tests.universe.store.test_high_water_marks import grown; "
    )
    code += "asyncio.run(grown(Path(sys.argv[1]), 1))"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "u.db")], timeout=20, check=False)
    assert done.returncode == 0


async def test_marks_that_others_can_use_are_made_private(tmp_path: Path) -> None:
    await grown(tmp_path / "u.db", 1)
    (tmp_path / "u.db.mark").chmod(0o666)
    await grown(tmp_path / "u.db", 1)
    assert (tmp_path / "u.db.mark").stat().st_mode & 0o777 == 0o600


async def test_a_universe_in_the_place_of_another_that_was_not_deleted_is_reported(tmp_path: Path) -> None:
    await grown(tmp_path / "u.db", 2)
    with contextlib.closing(sqlite3.connect(tmp_path / "u.db")) as connection, connection:
        connection.execute("UPDATE universes SET created_at = '2001-01-01T00:00:00Z'")
    gone = [(0, "an earlier universe with this id is missing and was not deleted: version 2 was written")]
    assert await problems(tmp_path / "u.db") == {"u": gone}
    async with UniverseService(SqliteStore(tmp_path / "u.db")).running() as service:
        await accept_lost_versions(service, "u")
    assert await problems(tmp_path / "u.db") == {}


@pytest.mark.parametrize("column", ["body", "events", "digest"])
async def test_text_in_the_place_of_bytes_is_damage(tmp_path: Path, column: str) -> None:
    await grown(tmp_path / "u.db", 2)
    with contextlib.closing(sqlite3.connect(tmp_path / "u.db")) as connection, connection:
        connection.execute(f"UPDATE log SET {column} = 'text' WHERE version = 2")
    assert (2, "the entry differs from what was written") in (await problems(tmp_path / "u.db"))["u"]


# The file


def test_the_highest_version_counts_in_any_order(tmp_path: Path) -> None:
    marks = MarkFile(tmp_path / "m")
    for version in (5, 7, 6):
        marks.schedule_marks([head(version)])
        marks.close()
    assert marks.flush_and_read_marks().marks == {("u", "then"): WrittenMark(7, "07")}


def test_marks_are_written_soon_without_a_request(tmp_path: Path) -> None:
    marks = MarkFile(tmp_path / "m")
    marks.schedule_marks([head(5)])
    reader = MarkFile(tmp_path / "m")
    deadline = time.monotonic() + 20
    while not reader.flush_and_read_marks().marks and time.monotonic() < deadline:
        time.sleep(0.01)
    assert reader.flush_and_read_marks().marks == {("u", "then"): WrittenMark(5, "05")}
    marks.close()
    marks.schedule_marks([head(6)])
    marks.close()
    assert reader.flush_and_read_marks().marks == {("u", "then"): WrittenMark(6, "06")}


def test_a_mark_that_comes_after_the_deletion_does_not_count(tmp_path: Path) -> None:
    marks = MarkFile(tmp_path / "m")
    marks.schedule_marks([head(5)])
    marks.mark_deleted("u", "then")
    marks.schedule_marks([head(6), head(1, made="later")])
    assert marks.flush_and_read_marks().marks == {("u", "later"): WrittenMark(1, "01")}


@pytest.mark.parametrize("damage", [b"", b"\x00garbage", b'12345678 {"is":"mark","id":"u","made":"then"'])
def test_damaged_lines_are_skipped_and_the_next_are_read(tmp_path: Path, damage: bytes) -> None:
    marks = MarkFile(tmp_path / "m")
    marks.schedule_marks([head(5)])
    marks.close()
    with (tmp_path / "m").open("ab") as file:
        file.write(damage)
    marks.schedule_marks([head(6, "v")])
    assert set(marks.flush_and_read_marks().marks.values()) == {WrittenMark(5, "05"), WrittenMark(6, "06")}


def test_a_flipped_bit_never_raises_a_mark(tmp_path: Path) -> None:
    marks = MarkFile(tmp_path / "m")
    marks.schedule_marks([head(5)])
    marks.close()
    whole = (tmp_path / "m").read_bytes()
    for at in range(len(whole)):
        (tmp_path / "m").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert set(marks.flush_and_read_marks().marks.values()) <= {WrittenMark(5, "05")}


def test_a_file_that_grows_is_compacted_and_nothing_of_other_processes_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("universe.store.high_water_mark_file._COMPACT_BYTES", 2_000)
    one, other = MarkFile(tmp_path / "m"), MarkFile(tmp_path / "m")
    one.record_losses_and_advance_marks(one.flush_and_read_marks(), [head(1)])
    one.mark_deleted("gone", "then")
    for version in range(1, 200):
        one.schedule_marks([head(version, digest=b"x")])
        one.flush_and_read_marks()
        other.schedule_marks([head(version, "v", digest=b"x")])
        other.flush_and_read_marks()
    for file in (one, other):
        file.close()
    known = one.flush_and_read_marks()
    assert {key[0]: mark.version for key, mark in known.marks.items()} == {"u": 199, "v": 199}
    assert ("gone", "then") in known.deleted
    assert (tmp_path / "m").stat().st_size < 10_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m"]


def test_losses_outlast_compaction(tmp_path: Path) -> None:
    marks = MarkFile(tmp_path / "m")
    marks.schedule_marks([head(5), head(3, "v")])
    marks.record_losses_and_advance_marks(marks.flush_and_read_marks(), [head(4)])
    known = marks.flush_and_read_marks()
    assert known.losses == {
        ("u", "then"): [Loss(WrittenMark(5, "05"), 4)],
        ("v", "then"): [Loss(WrittenMark(3, "03"), None)],
    }
    assert known.marks == {("u", "then"): WrittenMark(4, "04")}
    assert known.format_lines()
    marks.accept_losses([head(4)], "v")
    assert marks.flush_and_read_marks().losses == {("u", "then"): [Loss(WrittenMark(5, "05"), 4)]}


# PostgreSQL


async def test_an_older_state_of_a_postgresql_database_is_reported(
    postgres_server: PostgresServer, postgres_dsn: str, tmp_path: Path
) -> None:
    def opened() -> PostgresStore:
        return PostgresStore(postgres_dsn, marks=tmp_path / "pg.mark")

    async with UniverseService(opened()).running() as service:
        for name in ("u", "v", "w"):
            await service.create("Hven", universe_id=name)
            for _ in range(4):
                await service.send(name, TICK)
        await service.delete("w")
    async with UniverseService(opened()).running() as service:
        assert all(one.is_intact for one in await verify_universes(service, None, None))
        await _cut(service.store)
    async with UniverseService(opened()).running() as service:
        found = {one.universe_id: one for one in await verify_universes(service, None, None)}
        assert [one["problem"] for one in found["u"].problems] == [
            "the log lost versions that were written: versions 3 to 4"
        ]
        assert found["v"].problems[0]["problem"].startswith("the universe is missing and was not deleted")
        assert "w" not in found
        await accept_lost_versions(service, None)
        assert all(one.is_intact for one in await verify_universes(service, None, None))


async def _cut(store: Store) -> None:
    """Delete the last entries of one universe and all of another, as in an older copy of the database."""
    assert isinstance(store, PostgresStore)
    for statement in (
        "DELETE FROM universe_log WHERE universe_id = 'u' AND version > 2",
        "UPDATE universes SET version = 2 WHERE id = 'u'",
        "DELETE FROM universes WHERE id = 'v'",
    ):
        await store._execute_and_fetch(statement)  # pyright: ignore[reportPrivateUsage]
