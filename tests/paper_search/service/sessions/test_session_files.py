"""Tests of the store: steps are written once, completely, and only for existing sessions."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from paper_search.errors import SessionInterrupted, SessionNotFound
from paper_search.store.session_files import MemorySessions, SessionFiles, SessionStore
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.store.sqlite import DatabaseNewer, DatabaseUnusable


@pytest.fixture(params=["files", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return SessionFiles(tmp_path / "sessions") if request.param == "files" else MemorySessions()


@pytest.fixture
def files(tmp_path: Path) -> SessionFiles:
    return SessionFiles(tmp_path / "sessions")


def stored_session(store: SessionStore) -> str:
    session_id = new_id()
    store.write(session_id, "session", "{}", create_session=True)
    return session_id


def test_steps_are_stored_in_order_and_read_back_unchanged(store: SessionStore) -> None:
    session_id = stored_session(store)
    values = {"intent": "ünï 漢字 \u2028 '\"", "round-0/search": "x" * 2_000_000, "decision-0": ""}
    for step, value in values.items():
        store.write(session_id, step, value)
    assert store.list_steps(session_id) == ["session", *values]
    assert {step: store.read(session_id, step) for step in values} == values
    assert store.read(session_id, "never written") is None


def test_a_stored_step_is_not_overwritten(store: SessionStore) -> None:
    session_id = stored_session(store)
    store.write(session_id, "decision-0", "first")
    store.write(session_id, "decision-0", "second")
    store.write(session_id, "session", "other", create_session=True)
    assert store.read(session_id, "decision-0") == "first"
    assert store.read(session_id, "session") == "{}"
    assert store.list_steps(session_id) == ["session", "decision-0"]


def test_sessions_share_no_steps(store: SessionStore) -> None:
    one, other = stored_session(store), stored_session(store)
    store.write(one, "intent", "of one")
    assert store.read(other, "intent") is None
    store.delete(other)
    assert store.read(one, "intent") == "of one"


IDS = ["", ".", "..", "../../inbox", "a/b", "x" * 300, "\0", "\ud800", "A" * 32, "٣" * 32, "0" * 31, "0" * 33, "0" * 32]


@pytest.mark.parametrize("session_id", IDS)
def test_an_unknown_session_is_not_found_and_not_created(files: SessionFiles, tmp_path: Path, session_id: str) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: files.read(session_id, "session"),
        lambda: files.list_steps(session_id),
        lambda: files.acquire_lease(session_id),
        lambda: files.write(session_id, "intent", "{}"),
    ]
    for call in calls:
        with pytest.raises(SessionNotFound):
            call()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("session_id", [odd for odd in IDS if odd != "0" * 32])
def test_an_invalid_id_never_becomes_a_file_name(files: SessionFiles, tmp_path: Path, session_id: str) -> None:
    with pytest.raises(SessionNotFound):
        files.write(session_id, "session", "{}", create_session=True)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_lease_is_exclusive_until_it_is_released(store: SessionStore) -> None:
    session_id, other = stored_session(store), stored_session(store)
    lease = store.acquire_lease(session_id)
    assert lease is not None
    assert store.acquire_lease(session_id) is None
    assert store.acquire_lease(other) is not None
    lease.release()
    again = store.acquire_lease(session_id)
    assert again is not None
    again.release()


def test_a_lease_does_not_prevent_reading_and_writing(store: SessionStore) -> None:
    session_id = stored_session(store)
    lease = store.acquire_lease(session_id)
    assert lease is not None
    store.write(session_id, "intent", "{}")
    assert store.list_steps(session_id) == ["session", "intent"]
    lease.release()


def test_a_deleted_session_does_not_come_back(store: SessionStore) -> None:
    session_id = stored_session(store)
    store.delete(session_id)
    store.delete(session_id)
    with pytest.raises(SessionNotFound):
        store.list_steps(session_id)
    with pytest.raises(SessionNotFound):
        store.write(session_id, "intent", "{}")
    with pytest.raises(SessionNotFound):
        store.acquire_lease(session_id)


def test_deleting_leaves_no_file_behind(files: SessionFiles, tmp_path: Path) -> None:
    session_id = stored_session(files)
    lease = files.acquire_lease(session_id)
    assert lease is not None
    lease.release()
    files.delete(session_id)
    assert list((tmp_path / "sessions").iterdir()) == []


def test_the_age_of_a_session_is_the_time_since_its_last_write(files: SessionFiles, tmp_path: Path) -> None:
    old, young = stored_session(files), stored_session(files)
    now = datetime.now(UTC)
    long_ago = (now - timedelta(days=100)).timestamp()
    os.utime(tmp_path / "sessions" / f"{old}.db", (long_ago, long_ago))
    assert files.list_unused_since(now - timedelta(days=90)) == [old]
    assert set(files.list_unused_since(now + timedelta(days=1))) == {old, young}
    assert files.list_unused_since(now - timedelta(days=110)) == []


def test_a_missing_folder_has_no_unused_sessions(files: SessionFiles, tmp_path: Path) -> None:
    assert files.list_unused_since(datetime.now(UTC)) == []
    assert list(tmp_path.iterdir()) == []


def test_by_default_sessions_are_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    store = SessionFiles()
    assert list(tmp_path.iterdir()) == []
    session_id = stored_session(store)
    assert (tmp_path / "home" / "data" / "paper_search" / "sessions" / f"{session_id}.db").is_file()


def test_writes_are_synced_to_the_disk(files: SessionFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = real(*arguments, **options)
        connection.set_trace_callback(seen.append)
        return connection

    session_id = stored_session(files)
    monkeypatch.setattr(sqlite3, "connect", traced)
    files.write(session_id, "decision-0", "{}")
    assert "PRAGMA synchronous = FULL" in seen


@pytest.mark.parametrize("damaged", [b"not a database" * 100, None], ids=["foreign", "truncated"])
def test_a_damaged_file_is_a_clear_error_and_the_other_sessions_stay_readable(
    files: SessionFiles, tmp_path: Path, damaged: bytes | None
) -> None:
    session_id, other = stored_session(files), stored_session(files)
    files.write(session_id, "round-0/search", "x" * 50_000)
    path = tmp_path / "sessions" / f"{session_id}.db"
    path.write_bytes(damaged or path.read_bytes()[:5000])
    calls: list[Callable[[], Any]] = [
        lambda: files.read(session_id, "round-0/search"),
        lambda: files.write(session_id, "decision-0", "{}"),
    ]
    for call in calls:
        with pytest.raises(DatabaseUnusable) as caught:
            call()
        assert str(tmp_path) not in str(caught.value.body())
    assert files.list_steps(other) == ["session"]


def test_a_file_that_was_emptied_is_not_started_over(files: SessionFiles, tmp_path: Path) -> None:
    session_id = stored_session(files)
    (tmp_path / "sessions" / f"{session_id}.db").write_bytes(b"")
    uses = (lambda: files.list_steps(session_id), lambda: files.write(session_id, "intent", "{}"))
    for use in (*uses, *uses):
        with pytest.raises(SessionInterrupted, match="journal is empty"):
            use()


def test_an_incompletely_written_session_is_not_found_and_expires(files: SessionFiles, tmp_path: Path) -> None:
    session_id = new_id()
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / f"{session_id}.new").write_bytes(b"half of it")
    with pytest.raises(SessionNotFound):
        files.list_steps(session_id)
    assert files.list_unused_since(datetime.now(UTC) + timedelta(days=1)) == [session_id]
    files.delete(session_id)
    assert list((tmp_path / "sessions").iterdir()) == []


def test_a_session_of_a_newer_version_is_refused_and_not_changed(files: SessionFiles, tmp_path: Path) -> None:
    session_id = stored_session(files)
    path = tmp_path / "sessions" / f"{session_id}.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO migrations VALUES ('of the future')")
    with pytest.raises(DatabaseNewer):
        files.list_steps(session_id)
    with pytest.raises(DatabaseNewer):
        files.write(session_id, "intent", "{}")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT step FROM steps").fetchall() == [("session",)]


WRITER = """
import sys
from pathlib import Path
from paper_search.store.session_files import SessionFiles
store, session_id = SessionFiles(Path(sys.argv[1])), sys.argv[2]
store.write(session_id, "session", "{}", create_session=True)
lease = store.acquire_lease(session_id)
for number in range(10**9):
    store.write(session_id, f"step-{number}", str(number % 10) * 20_000)
    print(number, flush=True)
"""


def test_a_killed_writer_loses_no_acknowledged_step_and_its_lease_is_free(files: SessionFiles, tmp_path: Path) -> None:
    session_id = new_id()
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "sessions"), session_id], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(15)]
        assert files.acquire_lease(session_id) is None, "a process that lives holds it"
        writer.send_signal(signal.SIGKILL)
    steps = files.list_steps(session_id)
    assert {f"step-{number}" for number in acknowledged} <= set(steps)
    for step in steps[1:]:
        value = files.read(session_id, step)
        assert value == step[-1] * 20_000
    lease = files.acquire_lease(session_id)
    assert lease is not None
    lease.release()
