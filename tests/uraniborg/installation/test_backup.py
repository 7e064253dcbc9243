"""Backups: everything is in them, they are checked, and data of an older version can be restored from one."""

import hashlib
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from paper_library.service.shelf_catalog import sample_shelf
from paper_library.store.verification import verify_shelf
from tests.uraniborg.old_data.conftest import old as old  # noqa: PLC0414 - a fixture
from tests.uraniborg.old_data.folder import OldData
from uraniborg.installation import backup
from uraniborg.installation.backup import DataUnreadable, restore_backup, write_backup
from uraniborg.installation.backup_archive import InvalidBackup
from uraniborg.installation.doctor import run_checks
from uraniborg.kernel.errors import Conflict, NotFound, Unavailable
from uraniborg.kernel.store.files import AlreadyExists
from uraniborg.kernel.store.inbox import Inbox


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


WRITER = """
import asyncio, itertools, sys
from pathlib import Path
from pflow.config import load_settings
from universe.config import load_config
from universe.service.universes import UniverseService
from universe.store.factory import make_store
from uraniborg.kernel.store.inbox import Inbox, InboxDecision

async def write():
    inbox, log = Inbox(), load_settings().home / "checkpoints" / "log.jsonl"
    log.parent.mkdir(parents=True)
    async with UniverseService(make_store(load_config().database_address)).running() as service:
        await service.create("writer", universe_id="u")
        for number in itertools.count():
            inbox.put(f"w{number}", "pflow", "approval", "s", {"question": "?" * 2_000})
            inbox.decide(f"w{number}", InboxDecision(action="approve"), "terminal")
            with log.open("a") as stream:
                stream.write(str(number) * 1_000)
            await service.send("u", {"type": "tick", "dt": 1})
            if number == 5:
                print("writes", flush=True)

asyncio.run(write())
"""


def test_a_backup_while_another_process_writes_everything_is_consistent(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER], stdout=subprocess.PIPE) as writer:
        try:
            assert writer.stdout
            assert writer.stdout.readline() == b"writes\n"
            for number in range(4):
                write_backup(tmp_path / f"b{number}.tar")
            assert writer.poll() is None
        finally:
            writer.kill()
    elsewhere = move_home(tmp_path, monkeypatch)
    written: list[int] = []
    for number in range(4):
        restore_backup(tmp_path / f"b{number}.tar", replace=True)
        with closing(Inbox()) as inbox:
            decided = [entry.id for entry in inbox.list_entries("decided", limit=100_000).entries]
            assert sorted(decided) == sorted(f"w{one}" for one in range(len(decided)))
            assert len(inbox.pending()) in (2, 3)
            written.append(len(decided))
        with closing(sqlite3.connect(elsewhere / "data" / "inbox.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        failures = [check for check in run_checks() if check.status == "failure"]
        assert failures == [], "every log is at least as new as its mark"
    assert written == sorted(written)
    assert written[0] >= 5


def test_a_backup_leaves_the_data_as_they_were(home: Path, tmp_path: Path) -> None:
    before = read_tree(home) | read_tree(tmp_path / "pflow")
    write_backup(tmp_path / "b.tar")
    assert read_tree(home) | read_tree(tmp_path / "pflow") == before


def read_tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_restored_shelf_is_the_same_to_the_last_byte(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample_shelf()
    write_backup(tmp_path / "b.tar.xz")
    elsewhere = move_home(tmp_path, monkeypatch)
    restore_backup(tmp_path / "b.tar.xz")
    assert verify_shelf(elsewhere / "data" / "library" / "sample-shelf").is_intact


KILLED = """
import os, signal, sys
from pathlib import Path
from uraniborg.installation.backup import write_backup
from uraniborg.installation.backup import restore_backup

files = iter(range(int(sys.argv[3]) + 1))

def die_at_last(name):
    if next(files, None) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

command = {"backup": write_backup, "restore": restore_backup}[sys.argv[1]]
command(Path(sys.argv[2]), replace=True, report_file=die_at_last)
"""


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_a_command_that_is_killed_changes_nothing_and_the_next_leaves_nothing_over(
    home: Path, tmp_path: Path, command: str
) -> None:
    for number in range(10):
        (home / "data" / f"file-{number}").write_bytes(os.urandom(50_000))
    archive = tmp_path / "b.tar"
    write_backup(archive)
    before = (archive.read_bytes(), read_tree(home / "data"), read_tree(tmp_path / "pflow"))
    for number in (0, 1, 5, 12):
        killed = subprocess.run([sys.executable, "-c", KILLED, command, archive, str(number)], check=False)
        assert killed.returncode == -signal.SIGKILL
        assert (archive.read_bytes(), read_tree(home / "data"), read_tree(tmp_path / "pflow")) == before
    assert [path for path in tmp_path.rglob("*") if path.name.startswith(".")], "the killed one was in the middle"
    {"backup": write_backup, "restore": restore_backup}[command](archive, replace=True)
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
    recorded = {home / "data" / "changes.jsonl"} if command == "restore" else set[Path]()
    assert set(map(Path, read_tree(home / "data"))) == {*map(Path, before[1]), *recorded}


@pytest.mark.parametrize("step", range(6))
def test_a_restore_that_is_killed_between_two_moves_is_completed_by_the_next(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    write_backup(tmp_path / "b.tar")
    (tmp_path / "pflow" / "workflows" / "a.json").write_text("changed")
    with closing(Inbox()) as inbox:
        inbox.put("later", "pflow", "approval", "s", {"question": "?"})
    moves = 0
    rename: Callable[[Path, Path], Path] = Path.rename

    def rename_or_die(path: Path, target: Path) -> Path:
        nonlocal moves
        if moves == step:
            raise KeyboardInterrupt
        moves += 1
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", rename_or_die)
    with pytest.raises(KeyboardInterrupt):
        restore_backup(tmp_path / "b.tar", replace=True)
    monkeypatch.undo()
    monkeypatch.setenv("URANIBORG_HOME", str(home))
    monkeypatch.setenv("PFLOW_HOME", str(tmp_path / "pflow"))
    assert any(check.name == "restore" and check.status == "failure" and check.hint for check in run_checks())
    if step == 1:
        with closing(Inbox()) as inbox:  # a server that starts meanwhile makes new data
            inbox.put("new", "pflow", "approval", "s", {"question": "?"})
    with pytest.raises(Conflict):
        restore_backup(tmp_path / "b.tar")
    assert backup.find_interrupted_restore() is None
    with closing(Inbox()) as inbox:
        assert [entry.id for entry in inbox.pending()] == ["q0", "q1"]
    assert (tmp_path / "pflow" / "workflows" / "a.json").read_text() == "{}"
    aside = [Inbox(path / "inbox.db") for path in home.glob("data.before-restore-*")]
    assert {entry.id for inbox in aside for entry in inbox.pending()} >= {"q0", "q1", "later"}
    for inbox in aside:
        inbox.close()


def test_data_that_a_server_uses_are_not_replaced(home: Path, tmp_path: Path) -> None:
    write_backup(tmp_path / "b.tar")
    script = "from uraniborg.kernel.store.inbox import Inbox; i = Inbox(); i.pending(); print(1, flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout
        server.stdout.readline()
        with pytest.raises(Conflict, match="A running program uses"):
            restore_backup(tmp_path / "b.tar", replace=True)
        server.kill()
    restore_backup(tmp_path / "b.tar", replace=True)


def test_a_damaged_database_is_reported_and_no_file_is_written(home: Path, tmp_path: Path) -> None:
    (home / "data" / "broken.db").write_bytes((home / "data" / "inbox.db").read_bytes()[:5_000])
    with pytest.raises(DataUnreadable, match=r"broken\.db"):
        write_backup(tmp_path / "b.tar")
    assert not (tmp_path / "b.tar").exists()
    assert not list(tmp_path.glob(".b.tar*"))


def test_a_backup_that_does_not_fit_on_the_disk_changes_nothing(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_backup(tmp_path / "b.tar")
    real = shutil.disk_usage(tmp_path)

    def report_full_disk(_: Path) -> Any:
        return real._replace(free=10)

    monkeypatch.setattr(shutil, "disk_usage", report_full_disk)
    before = read_tree(home / "data")
    with pytest.raises(Unavailable, match="The backup needs"):
        restore_backup(tmp_path / "b.tar", replace=True)
    assert read_tree(home / "data") == before
    assert not list(tmp_path.rglob(".uraniborg-restore*"))


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


def add_member(archive: tarfile.TarFile, name: str, content: bytes = b"", **facts: Any) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for fact, value in facts.items():
        setattr(member, fact, value)
    archive.addfile(member, io.BytesIO(content))


Change = Callable[[dict[str, Any], tarfile.TarFile], None]
"""Changes the manifest and adds members, before both are written."""


def claim(name: str, content: bytes = b"x", **facts: Any) -> Change:
    """Return a change that adds a file, and its name, size and digest to the manifest."""

    def change(manifest: dict[str, Any], archive: tarfile.TarFile) -> None:
        digest = hashlib.sha256(content).hexdigest()
        manifest["files"][name] = {"bytes": len(content), "sha256": digest, **facts}
        add_member(archive, name, content)

    return change


def claim_link(kind: bytes) -> Change:
    def change(manifest: dict[str, Any], archive: tarfile.TarFile) -> None:
        manifest["files"]["data/link"] = {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}
        add_member(
            archive, "data/link", type=kind, linkname="data/inbox.db" if kind == tarfile.LNKTYPE else "/etc/passwd"
        )

    return change


def set_fact(**facts: Any) -> Change:
    return lambda manifest, _: manifest.update(facts)


HOSTILE: dict[str, Change] = {
    "a parent folder": claim("data/../../escaped"),
    "an absolute path": claim("/tmp/escaped"),
    "another folder": claim("cache/escaped"),
    "another settings file": claim("config/other.toml"),
    "a folder itself": claim("data"),
    "a Windows path": claim("data/..\\..\\escaped"),
    "a drive": claim("data/C:escaped"),
    "a path written twice": claim("data//inbox.db"),
    "a file in a file": lambda manifest, archive: (
        claim("data/a")(manifest, archive),
        claim("data/a/b")(manifest, archive),
    )[0],
    "a symbolic link": claim_link(tarfile.SYMTYPE),
    "a hard link": claim_link(tarfile.LNKTYPE),
    "a device": claim_link(tarfile.CHRTYPE),
    "a pipe": claim_link(tarfile.FIFOTYPE),
    "a folder in place of a file": claim_link(tarfile.DIRTYPE),
    "a wrong digest": claim("data/x", b"content", sha256="0" * 64),
    "a wrong size": claim("data/x", b"content", bytes=3),
    "a huge size": claim("data/x", b"content", bytes=10**18),
    "a negative size": claim("data/x", b"content", bytes=-1),
    "no digest": claim("data/x", b"content", sha256=None),
    "facts that are not an object": lambda manifest, archive: (
        claim("data/x")(manifest, archive),
        manifest["files"].update({"data/x": [1]}),
    )[0],
    "a file that is missing": lambda manifest, _: manifest["files"].update(
        {"data/x": {"bytes": 1, "sha256": "0" * 64}}
    ),
    "a file that is not in the manifest": lambda _, archive: add_member(archive, "data/extra", b"x"),
    "a link that is not in the manifest": lambda _, archive: add_member(
        archive, "data/extra", type=tarfile.SYMTYPE, linkname="/etc"
    ),
    "a file twice": lambda _, archive: add_member(archive, "pflow/workflows/a.json", b"{}"),
    "a later format": set_fact(format=99),
    "a later version": set_fact(version="99.0"),
    "no version": set_fact(version=None),
    "no files": set_fact(files=None),
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_archive_changes_nothing(home: Path, tmp_path: Path, hostile: str) -> None:
    write_backup(tmp_path / "good.tar")
    with tarfile.open(tmp_path / "good.tar") as good, tarfile.open(tmp_path / "bad.tar", "w") as bad:
        manifest: dict[str, Any] = {}
        for member in good.getmembers():
            stream = good.extractfile(member)
            assert stream
            if member.name == "manifest.json":
                manifest = json.load(stream)
            else:
                bad.addfile(member, stream)
        HOSTILE[hostile](manifest, bad)
        add_member(bad, "manifest.json", json.dumps(manifest).encode())
    check_refusal(home, tmp_path, tmp_path / "bad.tar")


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tar.xz", "tar.bz2"])
def test_a_truncated_changed_or_foreign_archive_changes_nothing(home: Path, tmp_path: Path, ending: str) -> None:
    good, bad = tmp_path / f"good.{ending}", tmp_path / f"bad.{ending}"
    write_backup(good)
    content = good.read_bytes()
    damaged = [content[: len(content) * part // 10] for part in range(10)]
    for position in range(1, 8):
        changed = bytearray(content)
        changed[len(content) * position // 10] ^= 0xFF
        damaged.append(bytes(changed))
    refused = 0
    for one in [*damaged, b"not an archive" * 1_000]:
        bad.write_bytes(one)
        try:
            restore_backup(bad, replace=True)
        except InvalidBackup:
            refused += 1
    assert refused >= len(damaged) - 4, "a changed byte may lie in the padding of the archive"
    with closing(Inbox()) as inbox:
        assert [entry.id for entry in inbox.pending()] == ["q0", "q1"]


def check_refusal(home: Path, tmp_path: Path, bad: Path) -> None:
    before = read_tree(home / "data") | read_tree(tmp_path / "pflow")
    with pytest.raises(InvalidBackup) as refusal:
        restore_backup(bad, replace=True)
    assert refusal.value.hint
    assert read_tree(home / "data") | read_tree(tmp_path / "pflow") == before
    assert not list(tmp_path.rglob("*before-restore*"))
    assert not list(tmp_path.rglob("*escaped*"))
    assert not list(tmp_path.rglob(".uraniborg-restore*"))


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
