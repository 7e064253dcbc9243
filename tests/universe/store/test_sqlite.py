"""Universes in a file: few commits for many appends, other processes beside us, and what can befall a file."""

# pyright: reportPrivateUsage=false

import asyncio
import os
import signal
import sqlite3
import tempfile
import threading
from collections.abc import AsyncIterator, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import orjson
import pytest

from tests.universe.store.processes import kill_process, read_acknowledged, run_append_process, wait_until_finished
from tests.universe.store.sample_logs import (
    EVERY_USE,
    SOON_S,
    collect_changes,
    create_universe,
    entries,
    entry,
    read_log,
    record,
    snapshot,
)
from universe.errors import LogDamaged, StoreUnavailable
from universe.store import sqlite
from universe.store.interface import KeyUse, LogChange, Superseded
from universe.store.replica import rebuild_replica
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.errors import Conflict
from uraniborg.kernel.store.sqlite import DatabaseNewer, DatabaseUnusable

NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "universes.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(path)
    await opened.open()
    yield opened
    await opened.close()


def writing_connection(store: SqliteStore) -> sqlite3.Connection:
    assert store._writer is not None
    return store._writer._connection


class Gate:
    """Holds the writer up, until it is opened or that much work waits behind it."""

    def __init__(self, store: SqliteStore) -> None:
        assert store._writer is not None
        self._writer = store._writer
        self._begun, self._opened = threading.Event(), threading.Event()
        self._writer.submit(self._hold)
        assert self._begun.wait(SOON_S)

    def _hold(self, _connection: sqlite3.Connection) -> None:
        self._begun.set()
        self._opened.wait(SOON_S)

    def open(self) -> None:
        self._opened.set()

    async def open_for(self, pieces: int) -> None:
        async with asyncio.timeout(SOON_S):
            while self._writer._queue.qsize() < pieces:  # noqa: ASYNC110 - the queue is another thread's
                await asyncio.sleep(0)
        self.open()


class TestGroups:
    async def test_many_appends_at_once_end_in_one_commit(self, store: SqliteStore) -> None:
        ids = [f"u{n}" for n in range(100)]
        await asyncio.gather(*(create_universe(store, universe_id) for universe_id in ids))
        printed: list[str] = []
        gate = Gate(store)
        writing_connection(store).set_trace_callback(printed.append)
        await asyncio.gather(gate.open_for(len(ids)), *(store.append(i, 0, entries(1, 2, i)) for i in ids))
        assert printed.count("COMMIT") == 2  # that of the gate is one
        assert [await read_log(store, i) for i in ids] == [entries(1, 2, i) for i in ids]

    async def test_no_more_than_512_appends_end_in_one_commit(self, store: SqliteStore) -> None:
        await create_universe(store)
        printed: list[str] = []
        gate = Gate(store)
        writing_connection(store).set_trace_callback(printed.append)
        pieces = [store.rename("u", f"name {n}", "now") for n in range(513)]
        await asyncio.gather(gate.open_for(len(pieces)), *pieces)
        assert printed.count("COMMIT") == 1 + 2  # that of the gate is one

    async def test_a_refused_job_fails_alone(self, store: SqliteStore) -> None:
        await create_universe(store)
        await create_universe(store, "half")
        outcomes = await asyncio.gather(
            Gate(store).open_for(6),
            store.append("half", 0, [entry(1, "half")], [KeyUse("k", b"", 1, 2**70)]),
            store.append("u", 0, entries(1, 2)),
            store.append("u", 0, entries(1, 3)),
            store.create(record()),
            store.create(record("other")),
            store.append("u", 2, entries(3, 4)),
            return_exceptions=True,
        )
        failures = [type(outcome) for outcome in outcomes[1:] if outcome is not None]
        assert failures == [OverflowError, Superseded, Conflict]
        assert await store.read_record("half") == record("half")
        assert await read_log(store, "half") == []
        assert await read_log(store) == entries(1, 4)
        assert await store.read_record("other")

    async def test_a_job_that_violates_a_constraint_fails_alone(self, store: SqliteStore) -> None:
        await create_universe(store)
        await create_universe(store, "other")
        _, broken, whole = await asyncio.gather(
            Gate(store).open_for(2),
            store.append("u", 0, [entry(1), entry(1)]),
            store.append("other", 0, entries(1, 1, "other")),
            return_exceptions=True,
        )
        assert isinstance(broken, LogDamaged)
        assert whole is None

    async def test_reading_does_not_wait_for_writing(self, store: SqliteStore) -> None:
        await create_universe(store, count=2)
        gate = Gate(store)
        appended = asyncio.create_task(store.append("u", 2, [entry(3)]))
        assert await read_log(store) == entries(1, 2)
        assert not appended.done()
        gate.open()
        await appended
        assert len(await read_log(store)) == 3

    async def test_a_caller_that_does_not_wait_for_the_answer_disturbs_no_other_caller(
        self, store: SqliteStore
    ) -> None:
        await create_universe(store)
        gate = Gate(store)
        short_timeouts, patient = (asyncio.create_task(store.append("u", n, [entry(n + 1)])) for n in range(2))
        await asyncio.sleep(0)
        short_timeouts.cancel()
        gate.open()
        await patient
        assert short_timeouts.cancelled()
        assert await read_log(store) == [entry(1), entry(2)]


async def test_a_page_of_the_log_ends_with_the_entry_that_passes_32_megabytes(store: SqliteStore) -> None:
    await create_universe(store)
    ten = [entry(version, body=b'"%b"' % (b"x" * 10 * 1024 * 1024)) for version in range(1, 6)]
    await store.append("u", 0, ten)
    page = await store.read_entries("u", after=0, limit=100)
    assert [one.version for one in page] == [1, 2, 3, 4]
    assert [one.version for one in await store.read_entries("u", after=4, limit=100)] == [5]


class TestOtherProcesses:
    async def test_two_processes_write_to_one_file_and_nothing_is_lost(self, store: SqliteStore, path: Path) -> None:
        await create_universe(store)
        address = f"sqlite:///{path}"
        async with (
            run_append_process(address, "a", times=40, batch=2) as one,
            run_append_process(address, "b", times=40, batch=2) as two,
        ):
            printed = sorted([*await wait_until_finished(one), *await wait_until_finished(two)])
        assert printed == list(range(2, 162, 2))
        log = await read_log(store)
        assert [one.version for one in log] == list(range(1, 161))
        assert all(one.is_intact("u") for one in log)
        bodies = [orjson.loads(one.body) for one in log]
        for writer in "ab":
            written = [(body["append"], body["part"]) for body in bodies if body["writer"] == writer]
            assert written == [(n, part) for n in range(40) for part in range(2)]

    async def test_changes_of_another_process_are_reported(self, store: SqliteStore, path: Path) -> None:
        await create_universe(store)
        async with collect_changes(store) as received, run_append_process(f"sqlite:///{path}") as process:
            await received.until_so(lambda: received.changes, "the first change")
            kill_process(process)
            while await read_acknowledged(process):
                pass
            found = await store.read_record("u")
            assert found is not None
            await received.until(LogChange("u", found.version))

    async def test_changes_just_after_the_listener_started_are_reported(self, store: SqliteStore, path: Path) -> None:
        await create_universe(store)
        async with collect_changes(store) as received:
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("UPDATE universes SET version = 7")
            await received.until(LogChange("u", 7), within_s=1)

    @pytest.mark.parametrize(
        "failure", [DatabaseUnusable("The disk does not answer."), sqlite3.OperationalError("interrupted")]
    )
    async def test_after_polls_that_failed_the_writes_of_another_process_are_still_received(
        self, store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
    ) -> None:
        await create_universe(store)
        failures: list[Exception] = []
        poll = sqlite._read_versions_if_changed

        def poll_and_fail_twice(connection: sqlite3.Connection, seen: int | None) -> object:
            if len(failures) < 2:
                failures.append(failure)
                raise failure
            return poll(connection, seen)

        monkeypatch.setattr(sqlite, "_read_versions_if_changed", poll_and_fail_twice)
        async with collect_changes(store) as received:
            async with run_append_process(f"sqlite:///{path}", times=1) as process:
                assert await wait_until_finished(process) == [1]
            await received.until(LogChange("u", 1))
        assert len(failures) == 2

    async def test_a_file_that_another_process_keeps_locked_is_unavailable_until_it_lets_go(
        self, store: SqliteStore, path: Path
    ) -> None:
        await create_universe(store, count=1)
        writing_connection(store).execute("PRAGMA busy_timeout = 20")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for name in ("ping", "create", "append", "delete"):
                with pytest.raises(StoreUnavailable, match="locked"):
                    await EVERY_USE[name](store)
            assert await read_log(store) == entries(1, 1)
        await store.ping()
        await store.append("u", 1, [entry(2)])

    async def test_every_entry_that_was_acknowledged_survives_sigkill_at_any_instant(
        self, store: SqliteStore, path: Path
    ) -> None:
        await create_universe(store)
        last = 0
        for appends in (1, 4, 23):
            async with run_append_process(f"sqlite:///{path}", batch=3) as process:
                for _ in range(appends):
                    last = await read_acknowledged(process) or 0
                kill_process(process)
                while (more := await read_acknowledged(process)) is not None:
                    last = more
            assert process.returncode == -signal.SIGKILL
            log = await read_log(store)
            assert len(log) >= last
            assert len(log) % 3 == 0
            assert [one.version for one in log] == list(range(1, len(log) + 1))
            assert all(one.is_intact("u") for one in log)
            found = await store.read_record("u")
            assert found is not None
            assert found.version == len(log)
        assert last > 3 * 28 - 1


class TestTheFile:
    async def test_a_full_disk_is_reported_and_nothing_is_half_written(self, store: SqliteStore) -> None:
        await create_universe(store)
        pages = writing_connection(store).execute("PRAGMA page_count").fetchone()[0]
        writing_connection(store).execute(f"PRAGMA max_page_count = {pages + 30}")
        kept, failure = 0, None
        while failure is None:
            two = [entry(kept + 1, body=b"x" * 10_000), entry(kept + 2, body=b"y" * 10_000)]
            use = KeyUse(f"k{kept}", b"", kept + 1, kept + 2)
            (failure,) = await asyncio.gather(store.append("u", kept, two, [use]), return_exceptions=True)
            kept += 2 if failure is None else 0
        assert isinstance(failure, StoreUnavailable)
        assert "full" in failure.message
        assert kept > 0
        found = await store.read_record("u")
        assert found is not None
        assert found.version == kept
        assert [one.version for one in await read_log(store)] == list(range(1, kept + 1))
        assert await store.find_key_use("u", f"k{kept}") is None
        with pytest.raises(StoreUnavailable):
            await store.put_snapshot("u", snapshot(kept, state=b"z" * 200_000))
        writing_connection(store).execute("PRAGMA max_page_count = 100000")
        await store.append("u", kept, [entry(kept + 1)])

    async def test_a_flipped_byte_is_seen_and_named_and_the_rest_can_be_read(self, path: Path) -> None:
        store = SqliteStore(path)
        await store.open()
        await store.create(record(version=9), [entry(n, body=b'{"type":"tick","dt":%d111}' % n) for n in range(1, 10)])
        await store.close()
        whole = path.read_bytes()
        assert whole.count(b'"dt":4111') == 1
        path.write_bytes(whole.replace(b'"dt":4111', b'"dt":5111'))
        store = SqliteStore(path)
        await store.open()
        assert [one.version for one in await read_log(store) if not one.is_intact("u")] == [4]
        with pytest.raises(LogDamaged, match="Entry 4 in the log of universe u") as caught:
            await rebuild_replica(store, "u")
        assert caught.value.ids == {"universeId": "u", "sequence": 4}
        assert (await rebuild_replica(store, "u", 3)).state.time == 1111 + 2111 + 3111
        await store.close()

    async def test_nothing_is_acknowledged_once_the_file_was_deleted(self, store: SqliteStore, path: Path) -> None:
        await create_universe(store)
        for left in path.parent.glob("universes.db*"):
            left.unlink()
        with pytest.raises(StoreUnavailable):
            await store.append("u", 0, [entry(1)])

    @pytest.mark.parametrize("there", [False, True])
    async def test_a_folder_that_may_only_be_read_is_unavailable(self, there: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "universes.db"
            if there:
                store = SqliteStore(path)
                await store.open()
                await store.close()
            Path(folder).chmod(0o555)
            with _without_privileges(), pytest.raises(StoreUnavailable):
                await _opened_and_closed(path)

    async def test_a_file_of_another_format_is_unavailable_and_unchanged(self, path: Path) -> None:
        path.write_text("a diary, and long enough to be mistaken for a database" * 100)
        with pytest.raises(StoreUnavailable):
            await _opened_and_closed(path)
        assert path.read_text().startswith("a diary")

    async def test_a_file_of_a_newer_version_is_refused(self, store: SqliteStore, path: Path) -> None:
        await create_universe(store)
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("INSERT INTO migrations VALUES ('9999 from the future')")
        with pytest.raises(DatabaseNewer):
            await _opened_and_closed(path)

    @pytest.mark.parametrize("name", EVERY_USE)
    async def test_a_closed_store_is_unavailable(self, path: Path, name: str) -> None:
        store = SqliteStore(path)
        await store.open()
        await store.close()
        with pytest.raises(StoreUnavailable):
            await EVERY_USE[name](store)


async def _opened_and_closed(path: Path) -> None:
    store = SqliteStore(path)
    try:
        await store.open()
    finally:
        await store.close()


@contextmanager
def _without_privileges() -> Generator[None]:
    """Root may write everywhere: be somebody else for a while."""
    me = os.geteuid()
    if me == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(me)
