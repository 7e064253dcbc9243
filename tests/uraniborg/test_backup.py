"""Backups: everything is in them, they are checked, and data of an older version can be restored from one."""

import io
import json
import sqlite3
import tarfile
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.uraniborg.old_data.conftest import old as old  # noqa: PLC0414 - a fixture
from tests.uraniborg.old_data.folder import OldData
from uraniborg.backup import InvalidBackup, restore_backup, write_backup
from uraniborg.kernel.errors import Conflict, NotFound
from uraniborg.kernel.files import AlreadyExists
from uraniborg.kernel.inbox import Decision, Inbox


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home with two questions in the inbox, a workflow and a settings file."""
    home = tmp_path / "home"
    monkeypatch.setenv("URANIBORG_HOME", str(home))
    monkeypatch.setenv("PFLOW_HOME", str(tmp_path / "pflow"))
    with closing(Inbox()) as inbox:
        for number in range(2):
            inbox.put(f"q{number}", "pflow", "approval", "s", {"question": "?"})
    (tmp_path / "pflow" / "workflows").mkdir(parents=True)
    (tmp_path / "pflow" / "workflows" / "a.json").write_text("{}")
    (home / "config").mkdir()
    (home / "config" / "uraniborg.toml").write_text("[library]\nport = 9000\n")
    return home


def move_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "elsewhere"
    monkeypatch.setenv("URANIBORG_HOME", str(home))
    monkeypatch.setenv("PFLOW_HOME", str(home / "pflow"))
    return home


def test_a_backup_restored_elsewhere_holds_the_same_data(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_backup(tmp_path / "b.tar.gz")
    elsewhere = move_home(tmp_path, monkeypatch)
    restore_backup(tmp_path / "b.tar.gz")
    with closing(Inbox()) as inbox:
        assert [entry.id for entry in inbox.pending()] == ["q0", "q1"]
    assert (elsewhere / "pflow" / "workflows" / "a.json").read_text() == "{}"
    assert (elsewhere / "config" / "uraniborg.toml").read_text() == (home / "config" / "uraniborg.toml").read_text()
    assert oct((elsewhere / "data" / "inbox.db").stat().st_mode)[-3:] == "600"
    assert oct((tmp_path / "b.tar.gz").stat().st_mode)[-3:] == "600"


def test_a_backup_while_another_thread_writes_is_consistent(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = threading.Event()

    def keep_deciding() -> None:
        with closing(Inbox()) as inbox:
            number = 0
            while not stop.is_set():
                inbox.put(f"w{number}", "pflow", "approval", "s", {"question": "?" * 2_000})
                inbox.decide(f"w{number}", Decision(action="approve"), "terminal")
                number += 1

    writer = threading.Thread(target=keep_deciding)
    writer.start()
    try:
        for number in range(5):
            write_backup(tmp_path / f"b{number}.tar")
    finally:
        stop.set()
        writer.join()
    move_home(tmp_path, monkeypatch)
    for number in range(5):
        restore_backup(tmp_path / f"b{number}.tar", replace=True)
        with closing(sqlite3.connect(tmp_path / "elsewhere" / "data" / "inbox.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_existing_data_are_replaced_only_when_asked_and_then_kept_aside(home: Path, tmp_path: Path) -> None:
    write_backup(tmp_path / "b.tar")
    with closing(Inbox()) as inbox:
        inbox.put("later", "pflow", "approval", "s", {"question": "?"})
    with pytest.raises(Conflict, match="There are data in"):
        restore_backup(tmp_path / "b.tar")
    restore_backup(tmp_path / "b.tar", replace=True)
    with closing(Inbox()) as inbox:
        assert [entry.id for entry in inbox.pending()] == ["q0", "q1"]
    (aside,) = home.glob("data.before-restore-*")
    with closing(Inbox(aside / "inbox.db")) as inbox:
        assert [entry.id for entry in inbox.pending()] == ["q0", "q1", "later"]


def test_an_existing_file_is_not_overwritten(home: Path, tmp_path: Path) -> None:
    (tmp_path / "b.tar").write_text("mine")
    with pytest.raises(AlreadyExists):
        write_backup(tmp_path / "b.tar")
    assert (tmp_path / "b.tar").read_text() == "mine"


def test_a_missing_file_is_reported(home: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        restore_backup(tmp_path / "nothing.tar")


@pytest.mark.parametrize("damage", ["truncated", "changed", "foreign", "escaping", "newer"])
def test_a_damaged_or_hostile_archive_changes_nothing(home: Path, tmp_path: Path, damage: str) -> None:
    write_backup(tmp_path / "good.tar")
    bad = tmp_path / "bad.tar"
    if damage == "truncated":
        bad.write_bytes((tmp_path / "good.tar").read_bytes()[:2_000])
    elif damage == "foreign":
        bad.write_text("not an archive")
    else:
        rewrite_archive(tmp_path / "good.tar", bad, damage)
    before = (home / "data" / "inbox.db").read_bytes()
    with pytest.raises(InvalidBackup):
        restore_backup(bad, replace=True)
    assert (home / "data" / "inbox.db").read_bytes() == before
    assert not list(tmp_path.rglob("*before-restore*"))
    assert not (tmp_path / "escaped").exists()


def rewrite_archive(source: Path, target: Path, damage: str) -> None:
    """Write a copy of an archive with one thing wrong."""
    with tarfile.open(source) as archive, tarfile.open(target, "w") as changed:
        for member in archive.getmembers():
            stream = archive.extractfile(member)
            assert stream
            content = stream.read()
            if member.name == "manifest.json":
                manifest: dict[str, Any] = json.loads(content)
                if damage == "newer":
                    manifest["format"] = 99
                if damage == "escaping":
                    manifest["files"]["data/../../escaped"] = manifest["files"].pop("pflow/workflows/a.json")
                content = json.dumps(manifest).encode()
            if member.name == "pflow/workflows/a.json" and damage == "changed":
                content = b"[]"
            if member.name == "pflow/workflows/a.json" and damage == "escaping":
                member.name = "data/../../escaped"
            member.size = len(content)
            changed.addfile(member, io.BytesIO(content))


def test_data_of_an_older_version_are_backed_up_restored_and_migrated(
    old: OldData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(old.home))
    monkeypatch.setenv("PFLOW_HOME", str(old.pflow))
    write_backup(tmp_path / "b.tar.xz")
    before = old.run("uraniborg", "inbox")
    universes = old.run("universe", "list")
    target = tmp_path / "restored"
    monkeypatch.setenv("URANIBORG_HOME", str(target))
    monkeypatch.setenv("PFLOW_HOME", str(target / "pflow"))
    restore_backup(tmp_path / "b.tar.xz")
    old.home, old.pflow, old.data = target, target / "pflow", target / "data"
    assert old.run("uraniborg", "inbox") == before
    assert old.run("universe", "list") == universes
    assert old.run("uraniborg", "doctor")["ok"]
