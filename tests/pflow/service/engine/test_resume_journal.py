"""Journals: durable writes, damaged lines and locks."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pflow.store.resume_journal import (
    JournalHeader,
    RunJournal,
    StoredResult,
    hold_lock_file,
    read_journal,
    try_lock_journal,
)

HEADER: JournalHeader = {"run": "run_1", "lineage": "run_0", "at": 1.5}


def make_result(
    node: str = "a", print_: str = "f1", outputs: bytes | None = b'{"x":1}', effect: str = "pure"
) -> StoredResult:
    return StoredResult(node, print_, "echo", "default", effect, outputs)


@pytest.fixture
def journal(tmp_path: Path) -> RunJournal:
    return RunJournal(tmp_path / "flow.run_1.journal", HEADER)


def test_a_journal_returns_the_entries_that_were_written(journal: RunJournal) -> None:
    journal.write_start("a", "f1")
    journal.write_result(make_result("a", "f1", effect="effectful"))
    journal.write_start("b", "f2")
    journal.write_start("c", "f3")
    journal.write_failure("c", "f3")
    journal.write_result(make_result("d", "f4", None))
    reply = read_journal(journal.path)
    assert reply.header == HEADER
    assert reply.finished == [make_result("a", "f1", effect="effectful"), make_result("d", "f4", None)]
    assert reply.started == {("b", "f2")}
    assert not reply.is_damaged
    assert reply.finished[0].parse_outputs() == {"x": 1}


def test_a_journal_is_for_its_owner_alone(journal: RunJournal) -> None:
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_a_journal_is_held_until_it_is_closed(journal: RunJournal) -> None:
    with try_lock_journal(journal.path) as is_ours:
        assert not is_ours
    journal.close()
    with try_lock_journal(journal.path) as is_ours:
        assert is_ours
        with try_lock_journal(journal.path) as is_ours_too:
            assert not is_ours_too


def test_an_incomplete_last_line_is_ignored_and_is_not_damage(journal: RunJournal) -> None:
    journal.write_start("a", "f1")
    journal.write_result(make_result("a", "f1"))
    whole = journal.path.read_bytes()
    last = whole.rindex(b'{"finished"')
    for end in range(last + 1, len(whole)):
        journal.path.write_bytes(whole[:end])
        reply = read_journal(journal.path)
        assert (reply.finished, reply.started, reply.is_damaged) == ([], {("a", "f1")}, False)


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"\x00\x00",
        b"\xff\xfe",
        b"5",
        b"null",
        b"[" * 50_000,
        b'{"finished": ["a", "f1"], "outputs": {}}',
        b'{"finished": ["a", "f1", "echo", "default", 1], "outputs": {}}',
        b'{"finished": ["a", "f1", "echo", "default", "pure"], "outputs": [1]}',
        b'{"finished": ["a", "f1", "echo", "default", "pure"]}',
        b'{"finished": null, "outputs": null}',
        b'{"started": ["a"]}',
        b'{"started": [1, 2]}',
        b'{"failed": 7}',
    ],
    ids=range(14),
)
def test_a_damaged_line_costs_no_more_than_itself(journal: RunJournal, line: bytes) -> None:
    journal.write_result(make_result("a", "f0"))
    with journal.path.open("ab") as stream:
        stream.write(line + b"\n")
    journal.write_start("b", "f2")
    reply = read_journal(journal.path)
    assert reply.header == HEADER
    assert reply.finished == [make_result("a", "f0")]
    assert reply.started == {("b", "f2")}
    assert reply.is_damaged


@given(st.data())
def test_no_damage_makes_a_journal_unreadable(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    path = tmp_path_factory.mktemp("journal") / "flow.run_1.journal"
    journal = RunJournal(path, HEADER)
    for at in range(4):
        journal.write_start(f"n{at}", "f")
        journal.write_result(make_result(f"n{at}", "f", effect="effectful"))
    journal.close()
    text = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(text)
    reply = read_journal(path)
    assert len(reply.finished) <= 5
    for one in reply.finished:
        assert one.parse_outputs() is not None


def test_numbers_and_depths_that_the_fast_reader_refuses_come_back(journal: RunJournal) -> None:
    deep = b'{"x":' * 190 + b"%d" % 10**40 + b"}" * 190
    journal.write_result(make_result(outputs=deep))
    (kept,) = read_journal(journal.path).finished
    value: Any = kept.parse_outputs()
    for _ in range(190):
        value = value["x"]
    assert value == 10**40


def fill_disk_after(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """Let the disk be full after `room` more bytes."""
    write, left = os.write, room

    def limited(file: int, data: bytes) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(file, bytes(data)[:left])
        left -= written
        return written

    monkeypatch.setattr(os, "write", limited)


@pytest.mark.parametrize("room", [0, 1, 10, 20])
def test_a_line_that_did_not_fit_on_the_disk_does_not_damage_the_next(
    journal: RunJournal, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    journal.write_result(make_result("a"))
    with monkeypatch.context() as patch:
        fill_disk_after(patch, room)
        with pytest.raises(OSError, match="No space"):
            journal.write_start("b", "f2")
    journal.write_start("c", "f3")
    reply = read_journal(journal.path)
    assert (reply.finished, reply.started, reply.is_damaged) == ([make_result("a")], {("c", "f3")}, False)


def test_a_journal_that_cannot_be_started_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk_after(monkeypatch, 5)
    open_before = len(os.listdir("/dev/fd"))
    with pytest.raises(OSError, match="No space"):
        RunJournal(tmp_path / "flow.run_1.journal", HEADER)
    assert list(tmp_path.iterdir()) == []
    assert len(os.listdir("/dev/fd")) == open_before


def test_a_partial_write_is_continued(journal: RunJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def some(file: int, data: bytes) -> int:
        return write(file, data[:7])

    monkeypatch.setattr(os, "write", some)
    journal.write_result(make_result())
    assert read_journal(journal.path).finished == [make_result()]


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with hold_lock_file(path), try_lock_journal(path) as is_free:
        assert not is_free
    with try_lock_journal(path) as is_free:
        assert is_free
