"""A later format: the data is copied, then migrated, and nothing of it is lost."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from paper_search.errors import SessionNotFound
from paper_search.store import session_files
from paper_search.store.session_files import SessionFiles
from pflow.store import run_log_file
from pflow.store.run_log import RunLog
from tests.uraniborg.old_data.folder import OldData
from universe.service.universes import UniverseService
from universe.service.verification import verify_log
from universe.store import sqlite as universes
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.store import inbox
from uraniborg.kernel.store.inbox import Inbox

LATER = ("9999 later", "CREATE TABLE later (x)")


@pytest.fixture(autouse=True)
def _later_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every store has a format that is one migration newer than today's."""
    for module in (session_files, inbox, run_log_file):
        monkeypatch.setattr(module, "_MIGRATIONS", [*module._MIGRATIONS, LATER])
    monkeypatch.setattr(universes, "MIGRATIONS", [*universes.MIGRATIONS, LATER])


def copy_of(path: Path, migration: str = "9999-later") -> Path:
    return path.with_name(f"{path.name}.before-{migration}")


def tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def was_migrated(path: Path, migration: str = "9999-later") -> bool:
    """Return True if the file has the later format and its backup copy does not."""
    return "later" in tables(path) and "later" not in tables(copy_of(path, migration))


def steps(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM steps ORDER BY rowid").fetchall()


def test_a_session_is_copied_before_it_is_migrated(old: OldData) -> None:
    file, session_id = old.session_file("second_review"), old.ids["sessions"]["second_review"]
    before = steps(file)
    files = SessionFiles(file.parent)
    assert json.loads(files.read(session_id, "session") or "")["query"] == "tidal heating of icy moons since 2005"
    assert was_migrated(file)
    assert steps(file) == steps(copy_of(file)) == before
    assert len(before) > 10
    assert not copy_of(old.session_file("approved")).exists(), "a session is migrated when it is opened"


def test_deleting_a_session_deletes_its_copy(old: OldData) -> None:
    file, session_id = old.session_file("approved"), old.ids["sessions"]["approved"]
    files = SessionFiles(file.parent)
    files.list_steps(session_id)
    unfinished = file.with_name(f".{copy_of(file).name}.new")
    unfinished.touch()
    files.delete(session_id)
    assert [path.name for path in file.parent.iterdir() if session_id in path.name] == []
    with pytest.raises(SessionNotFound):
        files.list_steps(session_id)


def test_deleting_from_a_missing_folder_is_not_an_error(tmp_path: Path) -> None:
    SessionFiles(tmp_path / "none").delete("0" * 32)


def test_the_inbox_is_copied_before_it_is_migrated(old: OldData) -> None:
    opened = Inbox(old.data / "inbox.db")
    try:
        assert len(opened.pending()) == 7
    finally:
        opened.close()
    first = "decided_by"  # of those that the released version does not have
    assert was_migrated(old.data / "inbox.db", first)
    with closing(sqlite3.connect(copy_of(old.data / "inbox.db", first))) as connection:
        assert "decided_by" not in [row[1] for row in connection.execute("PRAGMA table_info(entries)")]
        assert connection.execute("SELECT count(*) FROM entries WHERE state = 'pending'").fetchone() == (7,)


async def test_universes_are_copied_before_they_are_migrated(old: OldData) -> None:
    path = old.data / "universe" / "universes.db"
    async with UniverseService(SqliteStore(path)).running() as service:
        assert (await service.view("trappist")).version == 49
        assert all(entry.actor is None for entry in await service.read_history("trappist"))
        assert (await service.read_record("trappist")).created_by is None
        assert (await verify_log(service.store, "trappist")).is_intact
    first = "0002-authors"  # of those that the released version does not have
    assert was_migrated(path, first)
    with closing(sqlite3.connect(copy_of(path, first))) as connection:
        assert connection.execute("SELECT count(*) FROM log WHERE universe_id = 'trappist'").fetchone() == (49,)
        assert "author" not in [row[1] for row in connection.execute("PRAGMA table_info(log)")]


def test_the_log_of_runs_is_copied_before_it_is_migrated(old: OldData) -> None:
    log = RunLog(old.pflow / "runs.db")
    try:
        assert len(log.list_runs()) == 10
    finally:
        log.close()
    assert was_migrated(old.pflow / "runs.db")
