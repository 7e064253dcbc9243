"""The contract of all stores."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from tests.universe.store.sample_logs import (
    AT,
    LATER,
    collect_changes,
    create_universe,
    entries,
    entry,
    read_log,
    record,
    snapshot,
)
from universe.errors import UniverseNotFound
from universe.store.factory import make_store
from universe.store.interface import (
    BranchesDepend,
    BranchSource,
    EntryKind,
    KeyUse,
    LogChange,
    Store,
    StoredEntry,
    StoredSnapshot,
    Superseded,
    UniverseRecord,
)
from uraniborg.kernel.errors import Conflict

ODD_IDS = [
    *(
        "__proto__",
        "U",
        "u",
        "ü",
        "u\u0308",
        "🪐" * 256,
        "a b\n\tc",
        "'; DROP TABLE universes; --",
        "%_%",
        "-",
        "- 1 u",
    ),
    *("\x7f\x01", "\ufeff", "\ufffe", "1 1 u", "ﬀ", "\\"),
]


PAGES: dict[tuple[int, int, int | None], range] = {
    (0, 100, None): range(1, 11),
    (0, 3, None): range(1, 4),
    (3, 3, None): range(4, 7),
    (8, 5, None): range(9, 11),
    (10, 5, None): range(0),
    (99, 5, None): range(0),
    (0, 100, 4): range(1, 5),
    (2, 100, 4): range(3, 5),
    (2, 1, 4): range(3, 4),
    (4, 5, 4): range(0),
    (5, 5, 4): range(0),
    (8, 5, 99): range(9, 11),
    (0, 5, 0): range(0),
}
"""The entries, of ten, on the page after a version, of a length, up to a version."""


async def attempt(call: Awaitable[Any]) -> BaseException | None:
    try:
        await call
    except Exception as exc:
        return exc
    return None


class TestUniverses:
    async def test_a_store_that_is_open_answers_a_ping(self, store: Store) -> None:
        await store.ping()

    async def test_a_created_universe_is_read_back_unchanged(self, store: Store) -> None:
        given = UniverseRecord("u", "Eine Welt 🪐", 0, AT, LATER)
        await store.create(given)
        assert await store.read_record("u") == given
        assert await read_log(store) == []

    async def test_a_universe_may_be_made_with_entries(self, store: Store) -> None:
        await store.create(record(version=3), entries(1, 3))
        assert await store.read_record("u") == record(version=3)
        assert await read_log(store) == entries(1, 3)
        await store.append("u", 3, [entry(4)])

    async def test_an_unknown_universe_and_its_parts_are_not_found(self, store: Store) -> None:
        await create_universe(store, "other", 3)
        await store.put_snapshot("other", snapshot(3, "other"))
        assert await store.read_record("u") is None
        assert await read_log(store) == []
        assert await store.find_key_use("u", "k") is None
        assert await store.find_latest_snapshot("u") is None
        assert await store.list_snapshot_versions("u") == []
        assert not await store.delete("u")
        assert not await store.rename("u", "name", AT)

    async def test_a_second_universe_with_an_id_is_refused_and_the_first_is_unchanged(self, store: Store) -> None:
        await create_universe(store, count=2)
        with pytest.raises(Conflict, match="'u'") as caught:
            await store.create(record(version=1, name="another"), [entry(1, body=b"another")])
        assert caught.value.ids == {"universeId": "u"}
        assert await store.read_record("u") == record(version=2)
        assert await read_log(store) == entries(1, 2)

    async def test_of_many_callers_that_create_the_same_universe_at_once_one_succeeds(self, store: Store) -> None:
        failures = await asyncio.gather(*(attempt(store.create(record(name=f"by {n}"))) for n in range(12)))
        assert failures.count(None) == 1
        assert {type(failure) for failure in failures if failure} == {Conflict}
        found = await store.read_record("u")
        assert found is not None
        assert found.name == f"by {failures.index(None)}"

    async def test_a_new_name_changes_nothing_else_but_the_time(self, store: Store) -> None:
        await create_universe(store, count=2)
        assert await store.rename("u", "Ptolemy's", LATER)
        assert await store.read_record("u") == UniverseRecord("u", "Ptolemy's", 2, AT, LATER)
        await store.append("u", 2, [entry(3)])

    async def test_a_deleted_universe_leaves_nothing_for_the_next_of_its_id(self, store: Store) -> None:
        await create_universe(store, "spared", 1)
        await create_universe(store)
        await store.append("u", 0, entries(1, 5), [KeyUse("k", b"request", 1, 5)])
        await store.put_snapshot("u", snapshot(5))
        assert await store.delete("u")
        assert not await store.delete("u")
        assert await store.read_record("u") is None
        await create_universe(store)
        assert await store.read_record("u") == record()
        assert await read_log(store) == []
        assert await store.find_key_use("u", "k") is None
        assert await store.find_latest_snapshot("u") is None
        assert await store.list_snapshot_versions("u") == []
        assert await read_log(store, "spared") == entries(1, 1, "spared")

    async def test_every_text_is_an_id_of_its_own(self, store: Store) -> None:
        for universe_id in ODD_IDS:
            await create_universe(store, universe_id)
            uses = [KeyUse("k", universe_id.encode(), 1, 1)]
            await store.append(universe_id, 0, [entry(1, universe_id, universe_id.encode())], uses)
            await store.put_snapshot(universe_id, snapshot(1, universe_id))
        for universe_id in ODD_IDS:
            found = await store.read_record(universe_id)
            assert found is not None
            assert (found.id, found.version) == (universe_id, 1)
            (only,) = await read_log(store, universe_id)
            assert only.body == universe_id.encode()
            assert only.is_intact(universe_id)
            assert await store.find_key_use(universe_id, "k") == KeyUse("k", universe_id.encode(), 1, 1)
            assert await store.find_latest_snapshot(universe_id) == snapshot(1, universe_id)
        assert len(await store.list_records(limit=100)) == len(ODD_IDS)

    @pytest.mark.parametrize("universe_id", ["\0", "u\0", "", "🪐" * 5_000])
    async def test_an_unknown_id_of_any_form_is_not_found(self, store: Store, universe_id: str) -> None:
        await create_universe(store, "u", 1)
        assert await store.read_record(universe_id) is None
        assert not await store.delete(universe_id)
        assert not await store.rename(universe_id, "name", AT)
        assert await read_log(store, universe_id) == []
        assert await store.find_key_use(universe_id, "k") is None
        assert await store.find_latest_snapshot(universe_id) is None
        assert await store.list_snapshot_versions(universe_id) == []
        await store.put_snapshot(universe_id, StoredSnapshot(1, b"{}", b"digest"))
        with pytest.raises(UniverseNotFound):
            await store.append(universe_id, 0, [StoredEntry(1, "command", b"{}", b"[]", AT, b"digest")])


class TestLists:
    async def test_the_newest_comes_first_and_then_the_highest_id(self, store: Store) -> None:
        ids = ["b", "B", "ä", "a", "🪐", "\uffee"]
        for universe_id in ids:
            await store.create(record(universe_id, created_at=AT))
        await store.create(record("newest", created_at=LATER))
        listed = await store.list_records(limit=10)
        assert [found.id for found in listed] == ["newest", *sorted(ids, reverse=True)]

    async def test_pages_hold_every_universe_once(self, store: Store) -> None:
        for number in range(11):
            await store.create(record(f"u{number:02}", created_at=f"2026-01-01T00:00:{number // 3:02}Z"))
        seen: list[str] = []
        before: tuple[str, str] | None = None
        while page := await store.list_records(limit=4, before=before):
            assert len(page) <= 4
            seen += [found.id for found in page]
            before = (page[-1].created_at, page[-1].id)
        assert seen == [f"u{number:02}" for number in reversed(range(11))]

    async def test_the_next_page_does_not_move_when_universes_come_and_go(self, store: Store) -> None:
        for number in range(6):
            await store.create(record(f"u{number}", created_at=f"2026-01-01T00:00:0{number}Z"))
        first = await store.list_records(limit=3)
        await store.create(record("new", created_at=LATER))
        await store.delete(first[-1].id)
        second = await store.list_records(limit=3, before=(first[-1].created_at, first[-1].id))
        assert [found.id for found in second] == ["u2", "u1", "u0"]

    async def test_a_place_never_used_is_a_place_all_the_same(self, store: Store) -> None:
        await create_universe(store)
        assert await store.list_records(limit=5, before=("1900", "x")) == []
        assert await store.list_records(limit=5, before=("9999", "x")) == [record()]
        assert await store.list_records(limit=0) == []

    async def test_records_show_the_latest_version(self, store: Store) -> None:
        await create_universe(store)
        await store.append("u", 0, entries(1, 2))
        assert await store.list_records(limit=1) == [UniverseRecord("u", "A universe", 2, AT, LATER)]


class TestLog:
    async def test_appended_entries_are_read_back_to_the_byte(self, store: Store) -> None:
        await create_universe(store)
        odd = StoredEntry(1, "restore", bytes(range(256)), b"\xff\0", LATER, b"\0digest\xff")
        await store.append("u", 0, [odd, entry(2)])
        assert await read_log(store) == [odd, entry(2)]
        assert await store.read_record("u") == UniverseRecord("u", "A universe", 2, AT, LATER)

    async def test_an_append_to_another_version_is_refused_with_the_current_one_and_leaves_nothing(
        self, store: Store
    ) -> None:
        await create_universe(store, count=2)
        for expected in (0, 1, 3, 40):
            with pytest.raises(Superseded) as caught:
                await store.append("u", expected, entries(expected + 1, expected + 3), [KeyUse("k", b"", 1, 3)])
            assert caught.value.version == 2
        assert await read_log(store) == entries(1, 2)
        assert await store.read_record("u") == record(version=2)
        assert await store.find_key_use("u", "k") is None

    async def test_an_append_to_a_universe_that_is_gone_is_reported(self, store: Store) -> None:
        await create_universe(store, count=1)
        await store.delete("u")
        with pytest.raises(UniverseNotFound) as caught:
            await store.append("u", 1, [entry(2)])
        assert caught.value.ids["universeId"] == "u"
        assert await read_log(store) == []

    async def test_of_many_appends_to_the_same_version_one_wins(self, store: Store) -> None:
        await create_universe(store, count=1)
        rivals = [[entry(2, body=b"%d first" % n), entry(3, body=b"%d second" % n)] for n in range(16)]
        uses = [[KeyUse(f"key {n}", b"", 2, 3)] for n in range(16)]
        failures = await asyncio.gather(
            *(attempt(store.append("u", 1, rival, use)) for rival, use in zip(rivals, uses, strict=True))
        )
        assert failures.count(None) == 1
        assert [failure.version for failure in failures if isinstance(failure, Superseded)] == [3] * 15
        winner = failures.index(None)
        assert await read_log(store) == [*entries(1, 1), *rivals[winner]]
        assert [n for n in range(16) if await store.find_key_use("u", f"key {n}")] == [winner]

    async def test_a_caller_that_tries_again_loses_nothing_to_the_others(self, store: Store) -> None:
        await create_universe(store)
        await asyncio.gather(*(_append_five(store, b"writer %d" % n) for n in range(6)))
        log = await read_log(store)
        assert [one.version for one in log] == list(range(1, 31))
        assert all(one.is_intact("u") for one in log)
        for n in range(6):
            assert sum(one.body == b"writer %d" % n for one in log) == 5

    async def test_universes_side_by_side_do_not_mix(self, store: Store) -> None:
        ids = [f"u{n}" for n in range(20)]
        await asyncio.gather(*(create_universe(store, universe_id) for universe_id in ids))
        for version in range(3):
            await asyncio.gather(*(store.append(i, version, entries(version + 1, version + 1, i)) for i in ids))
        for universe_id in ids:
            assert await read_log(store, universe_id) == entries(1, 3, universe_id)

    async def test_a_thousand_entries_go_in_at_once(self, store: Store) -> None:
        await create_universe(store)
        await store.append("u", 0, entries(1, 1_000))
        assert await read_log(store) == entries(1, 1_000)

    async def test_an_entry_may_be_five_megabytes_long(self, store: Store) -> None:
        await create_universe(store)
        big = [entry(version, body=bytes([version]) * 5_000_000) for version in (1, 2)]
        await store.append("u", 0, big)
        await store.put_snapshot("u", snapshot(2, state=big[1].body))
        assert await read_log(store) == big
        assert await store.find_latest_snapshot("u") == snapshot(2, state=big[1].body)

    async def test_a_page_holds_the_entries_after_a_version_in_order(self, store: Store) -> None:
        await create_universe(store, "other", 12)
        await create_universe(store, count=10)
        for (after, limit, upto), expected in PAGES.items():
            page = await store.read_entries("u", after=after, limit=limit, upto=upto)
            assert [one.version for one in page] == list(expected), (after, limit, upto)

    async def test_versions_beyond_all_numbers_of_a_database_do_not_exist(self, store: Store) -> None:
        await create_universe(store, count=2)
        assert await store.read_entries("u", after=10**30, limit=5) == []
        assert await store.read_entries("u", after=0, limit=5, upto=10**30) == entries(1, 2)
        await store.put_snapshot("u", snapshot(2))
        assert await store.find_latest_snapshot("u", 10**30) == snapshot(2)


async def _append_five(store: Store, body: bytes) -> None:
    version, left = 0, 5
    while left:
        try:
            await store.append("u", version, [entry(version + 1, body=body)])
        except Superseded as late:
            version = late.version
        else:
            version, left = version + 1, left - 1


class TestKeys:
    async def test_a_key_is_any_text_and_names_its_use(self, store: Store) -> None:
        await create_universe(store)
        keys = ["k", "", "ключ 🗝", "'", "k" * 10_000, "a\0b"]
        for version, key in enumerate(keys):
            use = KeyUse(key, b"\0request\xff", version + 1, version + 1)
            await store.append("u", version, [entry(version + 1)], [use])
        for version, key in enumerate(keys):
            assert await store.find_key_use("u", key) == KeyUse(key, b"\0request\xff", version + 1, version + 1)
            assert await store.find_key_use("u", f"{key}x") is None

    async def test_keys_of_several_requests_go_with_one_append(self, store: Store) -> None:
        await create_universe(store)
        uses = [KeyUse(f"k{n}", b"%d" % n, n, n) for n in range(1, 101)]
        await store.append("u", 0, entries(1, 100), uses)
        assert [await store.find_key_use("u", use.key) for use in uses] == uses

    async def test_each_universe_has_keys_of_its_own(self, store: Store) -> None:
        await create_universe(store)
        await create_universe(store, "other")
        await store.append("u", 0, [entry(1)], [KeyUse("k", b"mine", 1, 1)])
        assert await store.find_key_use("other", "k") is None
        await store.append("other", 0, [entry(1, "other")], [KeyUse("k", b"other", 1, 1)])
        assert await store.find_key_use("u", "k") == KeyUse("k", b"mine", 1, 1)


class TestSnapshots:
    async def test_the_latest_is_given_or_the_latest_up_to_a_version(self, store: Store) -> None:
        await create_universe(store, count=9)
        for version in (6, 2, 4):
            await store.put_snapshot("u", snapshot(version))
        assert await store.find_latest_snapshot("u") == snapshot(6)
        found = {upto: await store.find_latest_snapshot("u", upto) for upto in (0, 1, 2, 3, 5, 6, 99)}
        assert {upto: one and one.version for upto, one in found.items()} == {
            0: None,
            1: None,
            2: 2,
            3: 2,
            5: 4,
            6: 6,
            99: 6,
        }
        assert await store.list_snapshot_versions("u") == [2, 4, 6]

    async def test_one_of_the_same_version_takes_the_place_of_the_first(self, store: Store) -> None:
        await create_universe(store, count=2)
        await store.put_snapshot("u", StoredSnapshot(2, b"damaged", b"?"))
        await store.put_snapshot("u", snapshot(2))
        assert await store.find_latest_snapshot("u") == snapshot(2)
        assert await store.list_snapshot_versions("u") == [2]

    @pytest.mark.parametrize(
        ("keep", "left"),
        [((), [1, 2, 3, 4]), ((2,), [2, 4]), ((1, 3), [1, 3, 4]), ((4,), [4]), ((77,), [4]), ((1, 2, 3), [1, 2, 3, 4])],
    )
    async def test_only_those_to_keep_are_left_beside_the_new_one(
        self, store: Store, keep: tuple[int, ...], left: list[int]
    ) -> None:
        await create_universe(store, "other", 9)
        await store.put_snapshot("other", snapshot(9, "other"))
        await create_universe(store, count=4)
        for version in (1, 2, 3):
            await store.put_snapshot("u", snapshot(version))
        await store.put_snapshot("u", snapshot(4), keep)
        assert await store.list_snapshot_versions("u") == left
        assert await store.list_snapshot_versions("other") == [9]
        assert await store.find_latest_snapshot("u", left[0]) == snapshot(left[0])

    async def test_a_snapshot_taken_before_the_universe_was_made_is_not_found(self, store: Store) -> None:
        await store.put_snapshot("u", snapshot(1))
        await create_universe(store)
        assert await store.find_latest_snapshot("u") is None


class TestChanges:
    async def test_every_listener_is_notified_of_every_change_in_order(self, store: Store) -> None:
        async with collect_changes(store) as one, collect_changes(store) as other:
            await create_universe(store, "🪐\n 1")
            await store.append("🪐\n 1", 0, entries(1, 3, "🪐\n 1"))
            await store.append("🪐\n 1", 3, entries(4, 4, "🪐\n 1"))
            await store.delete("🪐\n 1")
            expected = [LogChange("🪐\n 1", version) for version in (0, 3, 4, None)]
            await one.until(*expected)
            await other.until(*expected)

    async def test_concurrent_changes_are_all_announced(self, store: Store) -> None:
        ids = {f"u{n}" for n in range(40)}
        async with collect_changes(store) as received:
            await asyncio.gather(*(create_universe(store, universe_id) for universe_id in ids))
            await asyncio.gather(*(store.append(i, 0, entries(1, 2, i)) for i in ids))
            await received.until_so(
                lambda: {change.universe_id for change in received.changes if change.version == 2} == ids
            )

    async def test_a_refused_command_is_not_announced(self, store: Store) -> None:
        await create_universe(store, count=1)
        async with collect_changes(store) as received:
            await attempt(store.append("u", 7, [entry(8)]))
            await attempt(store.append("missing", 0, [entry(1, "missing")]))
            await attempt(store.create(record()))
            await store.delete("missing")
            await create_universe(store, "last")
            await received.until(LogChange("last", 0))
            assert set(received.changes) <= {LogChange("last", 0), LogChange("u", 1)}

    async def test_a_listener_that_has_stopped_does_not_stop_another(self, store: Store) -> None:
        async with collect_changes(store):
            await create_universe(store, "first")
        async with collect_changes(store) as received:
            await create_universe(store)
            await received.until(LogChange("u", 0))


class TestTwoStoresAtOnePlace:
    async def test_entries_written_by_one_store_are_read_by_the_other(self, pair: tuple[Store, Store]) -> None:
        one, other = pair
        await create_universe(one)
        await one.append("u", 0, entries(1, 3), [KeyUse("k", b"r", 1, 3)])
        await one.put_snapshot("u", snapshot(3))
        assert await other.read_record("u") == UniverseRecord("u", "A universe", 3, AT, LATER)
        assert await read_log(other) == entries(1, 3)
        assert await other.find_key_use("u", "k") == KeyUse("k", b"r", 1, 3)
        assert await other.find_latest_snapshot("u") == snapshot(3)
        with pytest.raises(Superseded):
            await other.append("u", 0, [entry(1)])
        await other.append("u", 3, [entry(4)])
        assert await one.delete("u")
        with pytest.raises(UniverseNotFound):
            await other.append("u", 4, [entry(5)])

    async def test_of_two_appends_to_the_same_version_one_wins(self, pair: tuple[Store, Store]) -> None:
        await create_universe(pair[0])
        for version in range(10):
            rivals = [entry(version + 1, body=b"%d" % n) for n in range(2)]
            failures = await asyncio.gather(
                *(attempt(store.append("u", version, [rival])) for store, rival in zip(pair, rivals, strict=True))
            )
            assert failures.count(None) == 1
            assert [type(failure) for failure in failures if failure] == [Superseded]
            assert (await read_log(pair[0]))[version:] == [rivals[failures.index(None)]]

    async def test_both_write_at_once_and_nothing_is_lost(self, pair: tuple[Store, Store]) -> None:
        await create_universe(pair[0])
        await asyncio.gather(*(_append_five(store, b"%d" % n) for n, store in enumerate(pair) for _ in range(3)))
        log = await read_log(pair[1])
        assert [one.version for one in log] == list(range(1, 31))
        assert sum(one.body == b"0" for one in log) == 15

    async def test_one_is_notified_of_the_changes_of_the_other(self, pair: tuple[Store, Store]) -> None:
        one, other = pair
        async with collect_changes(one) as received:
            await received.until_connected_to(other)
            await create_universe(other, "u", 1)
            await received.until(LogChange("u", 1))
            await other.append("u", 1, entries(2, 5))
            await received.until(LogChange("u", 5))
            await other.delete("u")
            await received.until(LogChange("u", None))

    async def test_a_store_opened_later_finds_the_stored_universes(self, address: str) -> None:
        first = make_store(address)
        await first.open()
        await create_universe(first, "u", 3)
        await first.close()
        second = make_store(address)
        await second.open()
        assert await read_log(second) == entries(1, 3)
        await second.close()

    async def test_many_may_open_an_empty_place_at_once(self, address: str) -> None:
        stores = [make_store(address) for _ in range(8)]
        await asyncio.gather(*(store.open() for store in stores))
        await asyncio.gather(*(create_universe(store, f"u{n}") for n, store in enumerate(stores)))
        assert len(await stores[0].list_records(limit=100)) == 8
        await asyncio.gather(*(store.close() for store in stores))


class TestBranches:
    async def test_a_source_cannot_be_deleted_until_its_branch_has_a_first_snapshot(self, store: Store) -> None:
        await create_universe(store, "u", 2)
        await store.create(record("branch", 1), entries(1, 1, "branch"), source=BranchSource("u", AT, 2))
        assert await store.list_dependent_branches("u") == ["branch"]
        with pytest.raises(BranchesDepend):
            await store.delete("u")
        await store.put_snapshot("branch", snapshot(2, "branch"))
        assert await store.list_dependent_branches("u") == ["branch"]
        await store.put_snapshot("branch", snapshot(1, "branch"))
        assert await store.list_dependent_branches("u") == []
        assert await store.delete("u")
        assert await store.read_record("branch") == record("branch", 1)

    async def test_a_deleted_branch_does_not_hold_its_source(self, store: Store) -> None:
        await create_universe(store, "u", 1)
        await store.create(record("branch", 1), entries(1, 1, "branch"), source=BranchSource("u", AT, 1))
        assert await store.delete("branch")
        assert await store.delete("u")

    @pytest.mark.parametrize("source", [BranchSource("gone", AT, 1), BranchSource("u", LATER, 1)])
    async def test_a_branch_of_a_universe_that_does_not_exist_is_not_created(
        self, store: Store, source: BranchSource
    ) -> None:
        await create_universe(store, "u", 1)
        with pytest.raises(UniverseNotFound):
            await store.create(record("branch", 1), entries(1, 1, "branch"), source=source)
        assert await store.read_record("branch") is None

    async def test_a_branch_with_an_id_that_is_taken_is_refused(self, store: Store) -> None:
        await create_universe(store, "u", 1)
        with pytest.raises(Conflict):
            await store.create(record("u", 1), entries(1, 1, "u"), source=BranchSource("u", AT, 1))


class TestLookups:
    KINDS: tuple[EntryKind, ...] = ("command", "continued", "reference", "command", "reference", "continued")

    async def test_the_last_reference_and_the_start_of_a_change_are_found(self, store: Store) -> None:
        log = [
            StoredEntry.make_with_digest("u", version, kind, b"{}", b"[]", LATER)
            for version, kind in enumerate(self.KINDS, 1)
        ]
        await store.create(record("u", 6), log)
        references = [await store.find_last_reference("u", after=0, upto=upto) for upto in range(7)]
        assert [one and one.version for one in references] == [None, None, None, 3, 3, 5, 5]
        assert references[5] == log[4]
        assert await store.find_last_reference("u", after=5, upto=6) is None
        starts = [await store.find_change_start("u", version) for version in range(7)]
        assert [one and (one.version, one.kind) for one in starts] == [
            None,
            *((1, "command"), (1, "command"), (3, "reference")),
            *((4, "command"), (5, "reference"), (5, "reference")),
        ]
