"""The change feed: nothing is missed, positions resume, and damage is reported as a reset."""

import asyncio
import errno
import multiprocessing
import os
import shutil
import stat
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uraniborg.kernel.store import change_feed
from uraniborg.kernel.store.batched_change_feed import QueuedChangeFeed, TimedChangeFeed
from uraniborg.kernel.store.change_feed import MAX_LINE_BYTES, RESET, Change, ChangeFeed, ChangeReader

_COUNT = 400
"""The number of changes that each writer publishes: together they fit into the segments that are kept."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "changes"


def read_all(reader: ChangeReader) -> list[Change]:
    found: list[Change] = []
    while block := reader.read():
        found += block
    return found


def list_subjects(changes: list[Change]) -> list[str]:
    return [change.subject for change in changes if change.kind != RESET]


def remove_repeated(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


def test_a_change_is_read_with_its_facts(folder: Path) -> None:
    reader = ChangeReader(folder)
    ChangeFeed(folder).publish("session", "s1", phase="searching", round=2)
    (change,) = reader.read()
    assert (change.kind, change.subject, change.facts) == ("session", "s1", {"phase": "searching", "round": 2})
    assert change.at.endswith("Z")
    assert reader.read() == []


def test_nothing_is_written_before_there_is_a_reader(folder: Path) -> None:
    ChangeFeed(folder).publish("session", "s1")
    assert not folder.exists()


def test_a_writer_that_started_before_the_first_reader_is_heard(folder: Path) -> None:
    feed = ChangeFeed(folder)
    feed.publish("session", "before")
    reader = ChangeReader(folder)
    feed.publish("session", "after")
    assert list_subjects(reader.read()) == ["after"]


def test_the_feed_is_private(folder: Path) -> None:
    ChangeReader(folder)
    ChangeFeed(folder, segment_bytes=10).publish("session", "s1")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_a_reader_resumes_at_the_position_of_any_change(folder: Path) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder, segment_bytes=300)
    for number in range(20):
        feed.publish("run", str(number))
    changes = read_all(reader)
    for index, change in enumerate(changes):
        rest = read_all(ChangeReader(folder, change.position))
        assert rest == changes[index + 1 :]


@given(
    st.lists(st.tuples(st.text(max_size=30), st.dictionaries(st.text(max_size=5), st.text(max_size=900), max_size=4))),
    st.integers(min_value=1, max_value=3_000),
)
@settings(max_examples=60, deadline=None)
def test_every_change_is_read_in_order_whatever_it_contains(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, dict[str, str]]], segment_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("feed") / "changes"
    reader, feed = ChangeReader(folder), ChangeFeed(folder, segment_bytes=segment_bytes)
    for subject, facts in changes:
        feed.publish("run", subject, facts=facts)
        assert list_subjects(reader.read()) == [subject]
    feed.close()
    reader.close()


def test_a_large_change_is_announced_without_its_facts(folder: Path) -> None:
    reader = ChangeReader(folder)
    ChangeFeed(folder).publish("node", "n1", output="x" * MAX_LINE_BYTES)
    (change,) = reader.read()
    assert (change.subject, change.facts) == ("n1", {})


@pytest.mark.parametrize("value", [object(), 2**70])
def test_facts_that_are_not_json_are_left_out(folder: Path, value: object) -> None:
    reader = ChangeReader(folder)
    ChangeFeed(folder).publish("node", "n1", value=value)
    (change,) = reader.read()
    assert (change.kind, change.subject, change.facts) == ("node", "n1", {})


def test_old_segments_are_deleted_and_their_readers_get_a_reset(folder: Path) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder, segment_bytes=200)
    feed.publish("run", "first")
    (first,) = reader.read()
    for number in range(100):
        feed.publish("run", str(number))
    assert len(list(folder.glob("*.log"))) <= 9
    late = read_all(ChangeReader(folder, first.position))
    assert late[0].kind == RESET
    slow = read_all(reader)  # it has its old segment open, and then misses some
    assert RESET in [change.kind for change in slow]
    assert list_subjects(slow)[-1] == "99"


@pytest.mark.parametrize("position", ["", "x", "1-", "-1", "1-2-3", "9" * 50 + "-1", "１-２", "0-0", "5-5"])
def test_an_unknown_position_leads_to_a_reset_and_the_changes_after_it(folder: Path, position: str) -> None:
    ChangeReader(folder)
    reader = ChangeReader(folder, position)
    assert [change.kind for change in reader.read()] == [RESET]
    ChangeFeed(folder).publish("run", "next")
    assert list_subjects(reader.read()) == ["next"]


def test_a_deleted_feed_is_created_again_with_a_reset(folder: Path) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder)
    feed.publish("run", "1")
    reader.read()
    shutil.rmtree(folder)
    feed.publish("run", "lost")
    assert RESET in [change.kind for change in reader.read() + reader.read()]
    feed.publish("run", "2")
    assert list_subjects(reader.read()) == ["2"]


def test_a_deleted_segment_leads_to_a_reset(folder: Path) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder)
    feed.publish("run", "1")
    reader.read()
    next(folder.glob("*.log")).unlink()
    assert RESET in [change.kind for change in reader.read() + reader.read()]
    feed.publish("run", "2")
    assert list_subjects(reader.read()) == ["2"]


def test_a_truncated_segment_leads_to_a_reset(folder: Path) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder)
    feed.publish("run", "1")
    reader.read()
    os.truncate(next(folder.glob("*.log")), 0)
    assert RESET in [change.kind for change in reader.read()]
    feed.publish("run", "2")
    assert list_subjects(reader.read()) == ["2"]


def test_a_damaged_line_is_a_reset_and_the_next_line_is_read(folder: Path) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder)
    with next(folder.glob("*.log")).open("ab") as segment:
        segment.write(b'{"kind": "run", "sub\n[1]\n{}\nnull\n')
    feed.publish("run", "2")
    kinds = [change.kind for change in reader.read()]
    assert kinds == [RESET] * 4 + ["run"]


def test_an_unfinished_line_is_read_once_it_is_finished(folder: Path) -> None:
    reader = ChangeReader(folder)
    path = next(folder.glob("*.log"))
    line = b'{"kind":"run","subject":"1","at":"2026-01-01T00:00:00Z"}\n'
    for byte in line[:-1]:
        with path.open("ab") as segment:
            segment.write(bytes([byte]))
        assert reader.read() == []
    with path.open("ab") as segment:
        segment.write(b"\n")
    assert list_subjects(reader.read()) == ["1"]


def test_a_full_disk_loses_the_note_and_nothing_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder)
    write = os.write

    def write_half(descriptor: int, data: bytes) -> int:
        return write(descriptor, data[: len(data) // 2]) if len(data) > 1 else write(descriptor, data)

    monkeypatch.setattr(change_feed.os, "write", write_half)
    feed.publish("run", "lost")
    monkeypatch.setattr(change_feed.os, "write", write)
    feed.publish("run", "2")
    changes = reader.read()
    assert [change.kind for change in changes] == [RESET, "run"]


def test_readers_are_told_of_changes_that_a_failing_disk_has_lost(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder)
    write = os.write

    def fail_to_write(_descriptor: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(change_feed.os, "write", fail_to_write)
    feed.publish("run", "lost")
    monkeypatch.setattr(change_feed.os, "write", write)
    feed.publish("run", "2")
    feed.publish("run", "3")
    assert [(change.kind, change.subject) for change in reader.read()] == [(RESET, ""), ("run", "2"), ("run", "3")]


def test_publish_does_not_raise_when_the_folder_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ChangeFeed(tmp_path / "file" / "changes").publish("run", "1")


def test_a_clock_that_goes_backwards_loses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder, segment_bytes=100)
    feed.publish("run", "1")
    monkeypatch.setattr(time, "time", lambda: 1_000.0)
    for number in range(2, 6):
        feed.publish("run", str(number))
    assert list_subjects(read_all(reader)) == ["1", "2", "3", "4", "5"]
    shutil.rmtree(folder)
    assert RESET in [change.kind for change in reader.read() + reader.read()]


def _publish_many(folder: Path, name: str, feed: ChangeFeed | None = None) -> None:
    feed = feed or ChangeFeed(folder, segment_bytes=20_000)
    for number in range(_COUNT):
        feed.publish("run", f"{name}:{number}")


def test_no_change_is_missed_while_processes_write_and_rotate(folder: Path) -> None:
    reader = ChangeReader(folder)
    processes = [
        multiprocessing.get_context("spawn").Process(target=_publish_many, args=(folder, name)) for name in "abc"
    ]
    for process in processes:
        process.start()
    found: list[Change] = []
    while any(process.is_alive() for process in processes):
        found += reader.read()
    found += read_all(reader)
    assert all(process.exitcode == 0 for process in processes)
    subjects = list_subjects(found)
    for name in "abc":
        own = remove_repeated([subject for subject in subjects if subject.startswith(name)])
        assert own == [f"{name}:{number}" for number in range(_COUNT)]


def test_no_change_is_missed_while_threads_write_and_readers_start(folder: Path) -> None:
    reader, feed = ChangeReader(folder), ChangeFeed(folder, segment_bytes=20_000)
    threads = [threading.Thread(target=_publish_many, args=(folder, name, feed)) for name in "abc"]
    for thread in threads:
        thread.start()
    found: list[Change] = []
    while any(thread.is_alive() for thread in threads):
        found += reader.read()
        ChangeReader(folder)
    found += read_all(reader)
    assert sorted(set(list_subjects(found))) == sorted(f"{name}:{n}" for name in "abc" for n in range(_COUNT))


def test_a_queued_feed_writes_in_order_and_close_waits_for_all(folder: Path) -> None:
    reader, feed = ChangeReader(folder), QueuedChangeFeed(ChangeFeed(folder))
    for number in range(500):
        feed.publish("run", str(number))
    feed.close()
    feed.close()
    assert list_subjects(read_all(reader)) == [str(number) for number in range(500)]
    feed.publish("run", "after")
    feed.close()
    assert list_subjects(read_all(reader)) == ["after"]


async def test_a_timed_feed_writes_within_its_batch_and_on_close(folder: Path) -> None:
    reader, feed = ChangeReader(folder), TimedChangeFeed(ChangeFeed(folder))
    for number in range(200):
        feed.publish("run", str(number))
    assert reader.read() == [], "nothing is written while the loop works"
    found: list[Change] = []
    async with asyncio.timeout(10):
        while len(found) < 200:
            await asyncio.sleep(0.01)
            found += reader.read()
    assert list_subjects(found) == [str(number) for number in range(200)]
    feed.publish("run", "last")
    feed.close()
    assert list_subjects(read_all(reader)) == ["last"]


def test_a_timed_feed_without_a_loop_writes_at_once(folder: Path) -> None:
    reader, feed = ChangeReader(folder), TimedChangeFeed(ChangeFeed(folder))
    feed.publish("run", "r1")
    assert list_subjects(reader.read()) == ["r1"]


def test_the_last_states_of_the_nodes_of_a_run_share_lines_and_arrive_one_by_one(folder: Path) -> None:
    reader, feed = ChangeReader(folder), TimedChangeFeed(ChangeFeed(folder))

    async def publish_states() -> None:
        for status in ("running", "success"):
            for number in range(120):
                feed.publish("node", "run-1", node=f"n{number}", status=status)
        feed.close()

    asyncio.run(publish_states())
    found = read_all(reader)
    assert [(one.kind, one.subject, one.facts) for one in found] == [
        ("node", "run-1", {"node": f"n{number}", "status": "success"}) for number in range(120)
    ]
    assert len({one.position for one in found}) < 10, "the nodes share lines"


@pytest.mark.parametrize("stopped_after", [1, 49, 50, 51, 119])
def test_a_reader_that_stops_within_a_shared_line_misses_no_change(folder: Path, stopped_after: int) -> None:
    reader = ChangeReader(folder)
    ChangeFeed(folder).publish_all([("node", "run-1", {"node": str(number)}) for number in range(120)])
    found = read_all(reader)
    later = read_all(ChangeReader(folder, found[stopped_after - 1].position))
    seen = [one.facts["node"] for one in [*found[:stopped_after], *later]]
    assert list(dict.fromkeys(seen)) == [str(number) for number in range(120)]
    assert not any(one.kind == RESET for one in later)


def test_nodes_with_facts_that_are_not_json_or_too_long_are_written_one_by_one(folder: Path) -> None:
    reader = ChangeReader(folder)
    names: list[object] = ["plain", object(), "x" * MAX_LINE_BYTES]
    ChangeFeed(folder).publish_all([("node", "run-1", {"node": name}) for name in names])
    assert [one.facts for one in read_all(reader)] == [{"node": "plain"}, {}, {}]


def test_a_change_is_not_encoded_if_no_feed_stores_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> bytes:
        raise AssertionError("a change was encoded")

    monkeypatch.setattr(change_feed, "_encode_changes", fail)
    ChangeFeed(folder).publish("run", "x")
    assert not folder.exists()
