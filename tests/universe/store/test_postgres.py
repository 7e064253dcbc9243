"""Universes in PostgreSQL: a server that goes and comes back, others that listen, and what it cannot keep."""

# pyright: reportPrivateUsage=false

import asyncio
import logging
import re
import signal
import sys
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import unquote

import orjson
import pytest

from tests.universe.postgres_server import GUARDED, PostgresServer
from tests.universe.store.processes import read_acknowledged, run_append_process, wait_until_finished
from tests.universe.store.sample_logs import (
    AT,
    EVERY_USE,
    SOON_S,
    collect_changes,
    create_universe,
    entries,
    entry,
    read_log,
    record,
)
from tests.universe.store.wire import Wire, open_wire
from universe.errors import LogDamaged, MalformedRequest, StoreUnavailable
from universe.service.verification import verify_log
from universe.store import postgres_database, postgres_listener
from universe.store.factory import make_store
from universe.store.interface import LogChange, StoredEntry
from universe.store.log_encoding import make_author
from universe.store.postgres import PostgresStore
from universe.store.replica import rebuild_replica
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import MissingExtra
from uraniborg.kernel.logging import redact
from uraniborg.kernel.store.sqlite import DatabaseNewer

PASSWORD = "p@ss/w:rd%?#ü-9f3a7c"
MODULES = ("postgres", "postgres_database", "postgres_listener")


@asynccontextmanager
async def opened(dsn: str, timeout_s: float = 20) -> AsyncGenerator[PostgresStore]:
    store = PostgresStore(dsn, timeout_s=timeout_s)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def store(postgres_dsn: str) -> AsyncIterator[PostgresStore]:
    async with opened(postgres_dsn) as store:
        yield store


@pytest.fixture
async def wire(postgres_server: PostgresServer) -> AsyncIterator[Wire]:
    async with open_wire(postgres_server.socket) as wire:
        yield wire


@pytest.fixture
def schema(postgres_dsn: str) -> str:
    return postgres_dsn.rpartition("=")[2]


@pytest.fixture
async def far(postgres_server: PostgresServer, wire: Wire, schema: str) -> AsyncIterator[PostgresStore]:
    """Provide a store behind `wire`, with the same schema as `store` and a short timeout."""
    async with opened(postgres_server.dsn(host=wire.host, search_path=schema), timeout_s=0.5) as store:
        yield store


async def wait_until_it_works(use: Callable[[], Awaitable[Any]]) -> None:
    """Wait until `use` succeeds; the first calls may report that the old connection is lost."""
    async with asyncio.timeout(SOON_S):
        while True:
            try:
                await use()
            except StoreUnavailable:
                await asyncio.sleep(0.01)
            else:
                return


async def wait_for_a_waiting_append(store: PostgresStore) -> None:
    """Wait until an append waits for a lock: the server ignores a cancel request that comes before its statement."""
    waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'UPDATE universes SET version'"
    async with asyncio.timeout(SOON_S):
        while not await store._execute_and_fetch(waiting):
            continue


async def is_down(store: PostgresStore) -> None:
    for name, use in EVERY_USE.items():
        with pytest.raises(StoreUnavailable) as caught:
            await use(store)
        assert caught.value.message.startswith("The PostgreSQL database cannot be used: "), name
        assert caught.value.hint


class TestServerThatGoes:
    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
    async def test_everything_works_again_once_the_server_is_back(
        self, store: PostgresStore, postgres_server: PostgresServer, how: signal.Signals
    ) -> None:
        await create_universe(store, count=3)
        async with collect_changes(store) as received:
            postgres_server.stop(how)
            try:
                await is_down(store)
            finally:
                postgres_server.start()
            await wait_until_it_works(store.ping)
            assert await read_log(store) == entries(1, 3)
            await wait_until_it_works(lambda: store.append("u", 3, [entry(4)]))
            await received.until(LogChange("u", 4))

    async def test_acknowledged_changes_survive_a_crash_of_the_server(
        self, store: PostgresStore, postgres_server: PostgresServer, postgres_dsn: str
    ) -> None:
        await create_universe(store)
        last = 0
        async with run_append_process(postgres_dsn, batch=3) as process:
            for _ in range(10):
                last = await read_acknowledged(process) or 0
            postgres_server.stop(signal.SIGQUIT)
            try:
                while (more := await read_acknowledged(process)) is not None:
                    last = more
            finally:
                postgres_server.start()
        await wait_until_it_works(store.ping)
        log = await read_log(store)
        assert len(log) >= last >= 30
        assert len(log) % 3 == 0
        assert [one.version for one in log] == list(range(1, len(log) + 1))
        assert all(one.is_intact("u") for one in log)

    async def test_a_store_cannot_be_opened_without_a_server_and_can_be_with_one(
        self, wire: Wire, postgres_server: PostgresServer, schema: str
    ) -> None:
        store = PostgresStore(postgres_server.dsn(host=wire.host, search_path=schema))
        wire.cut()
        with pytest.raises(StoreUnavailable):
            await store.open()
        with pytest.raises(StoreUnavailable, match="closed"):
            await store.ping()
        wire.mend()
        await store.open()
        await store.ping()
        await store.close()

    @pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere.invalid"])
    async def test_a_missing_server_is_unavailable(self, address: str) -> None:
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            await PostgresStore(f"postgresql://u@{address}/x").open()

    async def test_no_caller_waits_for_ever_for_a_server_that_does_not_answer(
        self, far: PostgresStore, wire: Wire
    ) -> None:
        await create_universe(far, count=1)
        wire.die()
        async with asyncio.timeout(SOON_S):
            outcomes = await asyncio.gather(*(far.ping() for _ in range(30)), return_exceptions=True)
            assert {type(outcome) for outcome in outcomes} == {StoreUnavailable}
            with pytest.raises(StoreUnavailable, match="in time"):
                await far.append("u", 1, [entry(2)])
        wire.mend()
        await wait_until_it_works(far.ping)
        assert await read_log(far) in (entries(1, 1), [*entries(1, 1), entry(2)])

    async def test_a_store_whose_server_does_not_answer_can_be_closed(
        self, postgres_server: PostgresServer, wire: Wire, schema: str
    ) -> None:
        store = PostgresStore(postgres_server.dsn(host=wire.host, search_path=schema), timeout_s=0.3)
        await store.open()
        wire.die()
        async with asyncio.timeout(SOON_S):
            await store.close()

    async def test_a_caller_that_waits_for_a_lock_too_long_gets_an_error_and_the_next_is_served(
        self, store: PostgresStore, far: PostgresStore, postgres_server: PostgresServer, schema: str
    ) -> None:
        await create_universe(store, count=1)
        async with store._database.borrow_connection() as holding, holding.transaction():
            await holding.execute("SELECT FROM universes WHERE id = 'u' FOR UPDATE")
            with pytest.raises(StoreUnavailable, match=r"too long|in time"):
                await far.append("u", 1, [entry(2)])
        assert await read_log(store) == entries(1, 1)
        await wait_until_it_works(lambda: far.append("u", 1, [entry(2)]))

    async def test_callers_that_stop_waiting_do_not_use_up_the_connections(self, store: PostgresStore) -> None:
        await create_universe(store, count=1)
        async with store._database.borrow_connection() as holding, holding.transaction():
            await holding.execute("SELECT FROM universes WHERE id = 'u' FOR UPDATE")
            for _ in range(15):
                waiting = asyncio.create_task(store.append("u", 1, [entry(2)]))
                await wait_for_a_waiting_append(store)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
                assert waiting.cancelled()
        await asyncio.gather(*(store.ping() for _ in range(30)))
        assert await read_log(store) == entries(1, 1)

    @pytest.mark.parametrize("name", EVERY_USE)
    async def test_a_closed_store_is_unavailable(self, store: PostgresStore, name: str) -> None:
        await store.close()
        with pytest.raises(StoreUnavailable, match="closed"):
            await EVERY_USE[name](store)

    async def test_a_database_that_can_only_be_read_reports_it_and_is_read(
        self, store: PostgresStore, postgres_dsn: str
    ) -> None:
        await create_universe(store, count=2)
        async with opened(f"{postgres_dsn}&default_transaction_read_only=on") as readonly:
            for name in ("ping", "create", "rename", "append", "put_snapshot", "delete"):
                with pytest.raises(StoreUnavailable, match="read-only"):
                    await EVERY_USE[name](readonly)
            assert await read_log(readonly) == entries(1, 2)

    async def test_tables_that_were_dropped_are_reported_as_missing(
        self, store: PostgresStore, postgres_server: PostgresServer, schema: str
    ) -> None:
        postgres_server.sql(f"DROP SCHEMA {schema} CASCADE")
        with pytest.raises(StoreUnavailable, match="tables do not exist"):
            await store.ping()


class TestListening:
    async def test_changes_while_no_listener_could_connect_are_reported_afterwards(
        self, store: PostgresStore, far: PostgresStore, wire: Wire
    ) -> None:
        for universe_id in ("still", "moved", "deleted", "recreated"):
            await create_universe(store, universe_id, 1)
        async with collect_changes(far) as received:
            await create_universe(store, "last")
            await received.until(LogChange("last", 0))
            wire.cut()
            await store.append("moved", 1, entries(2, 4, "moved"))
            await store.delete("deleted")
            await store.delete("recreated")
            await create_universe(store, "recreated", 1)
            await create_universe(store, "new", 2)
            del received.changes[:]
            wire.mend()
            await received.until(LogChange("moved", 4))
            await received.until(LogChange("deleted", None))
            await received.until(LogChange("recreated", None), LogChange("recreated", 1))
            await received.until(LogChange("new", 2))
            await store.append("new", 2, entries(3, 3, "new"))
            await received.until(LogChange("new", 3))
            assert "still" not in {change.universe_id for change in received.changes}

    async def test_a_connection_that_the_server_ended_is_made_again(
        self, store: PostgresStore, postgres_server: PostgresServer
    ) -> None:
        await create_universe(store)
        ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ 'SELECT id, version, serial'"
        async with collect_changes(store) as received:
            for version in range(3):
                assert "t" in postgres_server.sql(f"{ending} AND pid <> pg_backend_pid()")
                await wait_until_it_works(lambda version=version: store.append("u", version, [entry(version + 1)]))
                await received.until(LogChange("u", version + 1))

    async def test_a_server_that_died_without_a_word_is_noticed(
        self, store: PostgresStore, far: PostgresStore, wire: Wire, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(postgres_listener, "_BEAT_S", 0.1)
        await far._listener.stop()
        await far._listener.start()
        async with collect_changes(far) as received:
            wire.die()
            listened = far._listener._connection
            async with asyncio.timeout(SOON_S):
                while far._listener._connection is listened:  # noqa: ASYNC110 - there is no event to wait for
                    await asyncio.sleep(0.01)
            await create_universe(store)
            wire.mend()
            await received.until(LogChange("u", 0))

    async def test_two_places_in_one_database_receive_nothing_from_each_other(
        self, store: PostgresStore, postgres_server: PostgresServer
    ) -> None:
        async with (
            opened(postgres_server.dsn(search_path=postgres_server.schema())) as other,
            collect_changes(store) as received,
            collect_changes(other) as received_there,
        ):
            await create_universe(other, "there")
            await create_universe(store, "here")
            await received.until(LogChange("here", 0))
            await received_there.until(LogChange("there", 0))
            assert received.changes == [LogChange("here", 0)]
            assert received_there.changes == [LogChange("there", 0)]

    async def test_a_listener_ends_when_the_store_closes(self, store: PostgresStore) -> None:
        listened = asyncio.create_task(_all_changes(store))
        await asyncio.sleep(0)
        await create_universe(store)
        await store.close()
        assert await asyncio.wait_for(listened, SOON_S) in ([], [LogChange("u", 0)])
        with pytest.raises(StoreUnavailable):
            await anext(store.watch_changes())

    async def test_a_store_may_be_closed_at_the_very_moment_its_connection_is_lost(self, store: PostgresStore) -> None:
        async with asyncio.timeout(SOON_S):
            store._listener._lost.set()
            await store.close()

    async def test_two_processes_write_at_once_and_everything_is_reported(
        self, store: PostgresStore, postgres_dsn: str
    ) -> None:
        await create_universe(store)
        async with collect_changes(store) as received:
            async with (
                run_append_process(postgres_dsn, "a", times=25) as one,
                run_append_process(postgres_dsn, "b", times=25) as two,
            ):
                printed = sorted([*await wait_until_finished(one), *await wait_until_finished(two)])
            await received.until(*(LogChange("u", version) for version in range(1, 51)))
        assert printed == list(range(1, 51))
        log = await read_log(store)
        assert all(one.is_intact("u") for one in log)
        bodies = [orjson.loads(one.body) for one in log]
        for writer in "ab":
            assert [body["append"] for body in bodies if body["writer"] == writer] == list(range(25))


async def _all_changes(store: PostgresStore) -> list[LogChange]:
    return [change async for change in store.watch_changes()]


class TestWhatItKeeps:
    async def test_an_append_is_one_round_trip(self, far: PostgresStore, wire: Wire) -> None:
        await create_universe(far)
        for version in range(3):
            await far.append("u", version, [entry(version + 1)])
        before = wire.asked
        await far.append("u", 3, [entry(4)])
        await far.append("u", 4, entries(5, 14))
        assert wire.asked - before == 2

    async def test_durability_does_not_depend_on_the_settings_of_the_database(self, postgres_dsn: str) -> None:
        careless = "&synchronous_commit=off&default_transaction_isolation=serializable&statement_timeout=0"
        asking = "SELECT current_setting(name) FROM unnest($1::text[]) AS name"
        names = ["synchronous_commit", "transaction_isolation", "statement_timeout"]
        async with (
            opened(postgres_dsn + careless, timeout_s=7) as store,
            store._database.borrow_connection() as connection,
        ):
            assert [value for (value,) in await connection.fetch(asking, names)] == ["on", "read committed", "7s"]

    async def test_a_flipped_byte_is_seen_and_named_and_the_rest_can_be_read(
        self, store: PostgresStore, postgres_server: PostgresServer, schema: str
    ) -> None:
        await create_universe(store, count=9)
        flipping = "SET body = set_byte(body, 3, get_byte(body, 3) # 1) WHERE version = 4"
        postgres_server.sql(f"UPDATE {schema}.universe_log {flipping}")
        assert [one.version for one in await read_log(store) if not one.is_intact("u")] == [4]
        with pytest.raises(LogDamaged) as caught:
            await rebuild_replica(store, "u")
        assert caught.value.ids["sequence"] == 4
        assert (await rebuild_replica(store, "u", 3)).version == 3

    async def test_texts_that_postgresql_cannot_store_are_refused_as_malformed(self, store: PostgresStore) -> None:
        await create_universe(store)
        for universe_id in ("a\0b", "x" * 2_001, "🪐" * 501):
            with pytest.raises(MalformedRequest):
                await store.create(record(universe_id))
        with pytest.raises(MalformedRequest):
            await store.create(record("other", name="a\0b"))
        with pytest.raises(MalformedRequest):
            await store.rename("u", "a\0b", AT)
        assert await store.list_records(limit=5) == [record()]
        assert await store.list_records(limit=5, before=(AT, "\0")) == []

    async def test_the_longest_id_is_stored_and_announced(self, store: PostgresStore) -> None:
        longest = "".join(chr(0x1F300 + n % 500) for n in range(500))
        async with collect_changes(store) as received:
            await create_universe(store, longest, 1)
            await received.until(LogChange(longest, 1))
        assert await store.read_record(longest) == record(longest, 1)

    async def test_ids_sort_alike_for_any_collation_of_the_database(self, postgres_server: PostgresServer) -> None:
        if int(postgres_server.sql("SHOW server_version_num")) < 150_000:
            pytest.skip("this PostgreSQL cannot make a database that sorts by ICU's rules")
        postgres_server.sql("CREATE DATABASE german TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'de'")
        ids = ["b", "B", "a", "A", "ä", "Z", "z", "_"]
        async with opened(postgres_server.dsn(database="german")) as store:
            for universe_id in ids:
                await create_universe(store, universe_id)
            assert [found.id for found in await store.list_records(limit=9)] == sorted(ids, reverse=True)
            page = await store.list_records(limit=9, before=(AT, "a"))
            assert [found.id for found in page] == ["_", "Z", "B", "A"]

    async def test_a_database_that_is_not_in_utf_8_is_refused(self, postgres_server: PostgresServer) -> None:
        postgres_server.sql("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
        with pytest.raises(StoreUnavailable, match="UTF-8"):
            await PostgresStore(postgres_server.dsn(database="latin")).open()

    async def test_a_database_of_a_newer_version_is_refused(
        self, store: PostgresStore, postgres_server: PostgresServer, postgres_dsn: str, schema: str
    ) -> None:
        postgres_server.sql(f"INSERT INTO {schema}.universe_migrations VALUES ('9999 from the future')")
        with pytest.raises(DatabaseNewer, match="newer") as caught:
            await PostgresStore(postgres_dsn).open()
        assert caught.value.ids["migrations"] == ["9999 from the future"]

    async def test_a_role_that_cannot_create_tables_can_use_existing_ones(
        self, store: PostgresStore, postgres_server: PostgresServer, schema: str
    ) -> None:
        postgres_server.sql(
            "CREATE ROLE worker LOGIN",
            f"GRANT USAGE ON SCHEMA {schema} TO worker",
            f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO worker",
        )
        async with opened(postgres_server.dsn(user="worker", search_path=schema)) as theirs:
            await create_universe(theirs, count=1)
            await theirs.append("u", 1, [entry(2)])
        empty = postgres_server.schema()
        postgres_server.sql(f"GRANT USAGE ON SCHEMA {empty} TO worker")
        with pytest.raises(StoreUnavailable, match="does not have the permission"):
            await PostgresStore(postgres_server.dsn(user="worker", search_path=empty)).open()


class TestSecrets:
    async def test_a_password_with_every_kind_of_character_opens_and_never_shows(
        self, postgres_server: PostgresServer, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        quoted = "p%40ss%2Fw%3Ard%25%3F%23%C3%BC-9f3a7c"
        assert unquote(quoted) == PASSWORD
        postgres_server.sql(f"CREATE ROLE {GUARDED} SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
        dsn = postgres_server.dsn(user=f"{GUARDED}:{quoted}", search_path=postgres_server.schema())
        async with opened(dsn) as store:
            await create_universe(store)
            shown = [repr(store), repr(store._database), str(vars(store))]
        assert redact(f"what {PASSWORD} and {quoted} say") == "what *** and *** say"
        with pytest.raises(StoreUnavailable, match="refuses this user or this password") as caught:
            await PostgresStore(dsn.replace("%C3", "wrong")).open()
        shown += ["".join(traceback.format_exception(caught.value)), str(caught.value.body()), caplog.text]
        assert not [text for text in shown if "9f3a7c" in text]

    @pytest.mark.parametrize(
        "dsn",
        [
            "postgresql://bob:s3cr3t/9f3a7c@host/x",
            "postgresql://bob:9f3a7c:s3cr3t@/x?port=9f3a7c",
            "postgresql://bob@[9f3a7c/x?password=s3cr3t",
            "postgresql://bob:9f3a7c@host:s3cr3t/x",
            "postgresql://bob:s3cr3t@host/x?sslmode=9f3a7c",
            "postgresql://bob:s3cr3t@host/x?9f3a7c",
        ],
    )
    async def test_an_invalid_address_is_malformed_and_not_printed(
        self, dsn: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        with pytest.raises(MalformedRequest, match="address of the PostgreSQL database is malformed") as caught:
            await PostgresStore(dsn).open()
        shown = "".join([*traceback.format_exception(caught.value), str(caught.value.body()), caplog.text])
        assert not re.search("9f3a7c|s3cr3t", shown)

    def test_without_its_driver_the_error_names_the_extra_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in MODULES:
            monkeypatch.delitem(sys.modules, f"universe.store.{name}")
        monkeypatch.setitem(sys.modules, "asyncpg", None)
        with pytest.raises(MissingExtra, match=r"PostgreSQL needs .* 'postgres'") as caught:
            make_store("postgresql://bob@host/x")
        assert "uraniborg[postgres]" in caught.value.hint


async def test_a_database_without_authors_is_migrated_once_by_servers_that_start_together(
    postgres_server: PostgresServer, postgres_dsn: str, schema: str
) -> None:
    name, sql = postgres_database.MIGRATIONS[0]
    postgres_server.sql(
        f"SET search_path = {schema}; {sql} CREATE TABLE universe_migrations (name text PRIMARY KEY);"
        f"INSERT INTO universe_migrations VALUES ('{name}');"
        f"INSERT INTO universes (id, name, version, created_at, updated_at) VALUES ('u', 'Old', 2, '{AT}', '{AT}');"
        + "".join(
            "INSERT INTO universe_log (universe_id, version, kind, body, events, at, digest) VALUES "
            f"('u', {one.version}, '{one.kind}', '\\x{one.body.hex()}', '\\x{one.events.hex()}', '{one.at}', "
            f"'\\x{one.digest.hex()}');"
            for one in entries(1, 2)
        )
    )
    first, second = PostgresStore(postgres_dsn), PostgresStore(postgres_dsn)
    await asyncio.gather(first.open(), second.open())
    try:
        assert await read_log(second) == entries(1, 2)
        assert [one.author for one in await read_log(first)] == [None, None]
        assert [one.actor for one in await read_log(first)] == [None, None]
        tycho = make_author(Actor(kind="person", name="Tycho", authenticated="sign_in"))
        signed = StoredEntry.make_with_digest("u", 3, "command", b'{"type":"tick","dt":1}', b"[]", AT, *tycho)
        await first.append("u", 2, [signed])
        assert (await read_log(second))[2] == signed
        assert (await verify_log(second, "u")).is_intact
    finally:
        await asyncio.gather(first.close(), second.close())
