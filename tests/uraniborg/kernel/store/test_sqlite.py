"""Databases open alike, change in transactions, and come up to date once however many processes start."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from uraniborg.kernel.store import sqlite
from uraniborg.kernel.store.sqlite import (
    DatabaseMissing,
    DatabaseNewer,
    DatabaseUnusable,
    commit_durably,
    connect,
    migrate,
    transaction,
    translate_read_errors,
)

MIGRATIONS = [
    ("papers", "CREATE TABLE papers (title TEXT); INSERT INTO papers VALUES ('a; b -- c');"),
    ("years", "ALTER TABLE papers ADD COLUMN year INTEGER"),
]


def titles(connection: sqlite3.Connection) -> list[str]:
    return [title for (title,) in connection.execute("SELECT title FROM papers")]


def pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def not_writable(_path: object, _mode: int) -> bool:
    return False


@pytest.mark.parametrize(("durable", "synchronous"), [(False, 1), (True, 2)])
def test_a_connection_creates_its_folder_and_sets_its_pragmas(tmp_path: Path, durable: bool, synchronous: int) -> None:
    with closing(connect(tmp_path / "new" / "x.db", durable=durable, busy_timeout_s=3)) as connection:
        assert pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "foreign_keys") == 1
        assert pragma(connection, "busy_timeout") == 3000
        assert pragma(connection, "synchronous") == synchronous


def test_inside_durably_a_connection_waits_for_the_disk_and_after_it_no_more(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as connection:
        with commit_durably(connection):
            assert pragma(connection, "synchronous") == 2
        assert pragma(connection, "synchronous") == 1


def test_a_read_only_connection_reads_what_others_write_and_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "odd name?#%41.db"
    with closing(connect(path)) as writer:
        migrate(writer, MIGRATIONS)
        with closing(connect(path, readonly=True)) as reader:
            writer.execute("INSERT INTO papers (title) VALUES ('new')")
            assert titles(reader) == ["a; b -- c", "new"]
            with pytest.raises(DatabaseUnusable, match="readonly"), transaction(reader):
                reader.execute("DELETE FROM papers")


def test_a_database_on_a_read_only_disk_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.db"
    with closing(connect(path)) as writer:
        migrate(writer, MIGRATIONS)

    monkeypatch.setattr(os, "access", not_writable)
    with closing(connect(path, readonly=True)) as reader:
        assert titles(reader) == ["a; b -- c"]
        assert os.listdir(tmp_path) == ["x.db"]


def test_a_database_others_are_writing_is_read_up_to_date_from_a_folder_one_may_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(connect(tmp_path / "x.db")) as writer:
        migrate(writer, MIGRATIONS)
        monkeypatch.setattr(os, "access", not_writable)
        with closing(connect(tmp_path / "x.db", readonly=True)) as reader:
            assert titles(reader) == ["a; b -- c"]


def test_reading_a_database_that_is_not_there_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(DatabaseMissing) as caught:
        connect(tmp_path / "x.db", readonly=True)
    assert str(tmp_path) not in str(caught.value.body())
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["x.db", "new/x.db"])
def test_a_database_that_is_not_to_be_made_is_refused_when_it_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatabaseMissing) as caught:
        connect(tmp_path / name, create=False)
    assert caught.value.ids == {"name": "x.db"}
    assert str(tmp_path) not in str(caught.value.body())
    assert os.listdir(tmp_path) == []


def test_a_database_that_is_not_to_be_made_can_be_written_when_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "odd name?#%41.db"
    with closing(connect(path)) as connection:
        migrate(connection, MIGRATIONS)
    with closing(connect(path, create=False, durable=True)) as connection:
        assert pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "synchronous") == 2
        with transaction(connection):
            connection.execute("INSERT INTO papers (title) VALUES ('new')")
    with closing(connect(path, readonly=True)) as connection:
        assert titles(connection) == ["a; b -- c", "new"]


def test_a_database_deleted_while_it_is_open_is_not_made_again_by_a_later_connection(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(connect(path)) as connection:
        migrate(connection, MIGRATIONS)
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises(DatabaseMissing):
            connect(path, create=False)


def damaged(path: Path) -> None:
    """Leave the head of the file, so that it opens, and none of what it held."""
    with closing(connect(path)) as connection:
        migrate(connection, MIGRATIONS)
        with transaction(connection):
            connection.execute("INSERT INTO papers (title) VALUES (?)", ("x" * 100_000,))
    content = path.read_bytes()
    path.write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))


def test_a_read_of_a_damaged_file_is_distinguished_from_a_bug(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    damaged(path)
    with closing(connect(path, create=False)) as connection:
        with pytest.raises(DatabaseUnusable, match="malformed"), translate_read_errors(connection):
            titles(connection)
        with pytest.raises(sqlite3.OperationalError, match="syntax"), translate_read_errors(connection):
            connection.execute("SELEKT")


def test_reading_returns_the_stored_rows(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as connection:
        migrate(connection, MIGRATIONS)
        with translate_read_errors(connection):
            assert titles(connection) == ["a; b -- c"]


@pytest.mark.parametrize("readonly", [True, False])
def test_a_file_that_is_not_a_database_is_refused_and_unchanged(tmp_path: Path, readonly: bool) -> None:
    path = tmp_path / "notes.db"
    path.write_text("dear diary, " * 100)
    with pytest.raises(DatabaseUnusable, match=r"notes\.db.*not a database"):
        connect(path, readonly=readonly)
    assert path.read_text() == "dear diary, " * 100


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseUnusable, match=r"x\.db"):
        connect(tmp_path / "file" / "x.db")
    with pytest.raises(DatabaseUnusable):
        connect(tmp_path)


def test_a_transaction_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as connection:
        migrate(connection, MIGRATIONS)

        def delete_and_fail() -> None:
            with transaction(connection):
                connection.execute("DELETE FROM papers")
                raise KeyError

        with pytest.raises(KeyError):
            delete_and_fail()
        assert titles(connection) == ["a; b -- c"]
        with transaction(connection):
            connection.execute("DELETE FROM papers")
        assert titles(connection) == []


def test_a_database_held_too_long_is_reported_as_locked(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as one, closing(connect(tmp_path / "x.db", busy_timeout_s=0.01)) as two:
        migrate(one, MIGRATIONS)
        with transaction(one), pytest.raises(DatabaseUnusable, match="locked"), transaction(two):
            pytest.fail("two writers at once")


def test_an_error_in_our_sql_is_raised_unchanged(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as connection:
        with pytest.raises(sqlite3.OperationalError, match="syntax"), transaction(connection):
            connection.execute("SELEKT")
        assert not connection.in_transaction


def test_migrations_run_once_each_and_later_ones_are_added(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as connection:
        migrate(connection, MIGRATIONS[:1])
        migrate(connection, MIGRATIONS)
        migrate(connection, MIGRATIONS)
        assert connection.execute("SELECT title, year FROM papers").fetchall() == [("a; b -- c", None)]


def test_a_migration_may_hold_triggers_and_comments(tmp_path: Path) -> None:
    sql = """
        CREATE TABLE a (x); -- a comment; with a semicolon
        CREATE TABLE log (x);
        CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO log VALUES (new.x); INSERT INTO log VALUES (';'); END;
        INSERT INTO a VALUES (1)
    """
    with closing(connect(tmp_path / "x.db")) as connection:
        migrate(connection, [("trigger", sql)])
        assert connection.execute("SELECT x FROM log").fetchall() == [(1,), (";",)]


def test_a_migration_that_fails_half_way_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as connection:
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, [*MIGRATIONS, ("bad", "DELETE FROM papers; DROP TABLE absent")])
        assert titles(connection) == ["a; b -- c"]
        migrate(connection, [*MIGRATIONS, ("bad", "DELETE FROM papers")])
        assert titles(connection) == []


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as connection:
        migrate(connection, MIGRATIONS)
        with pytest.raises(DatabaseNewer) as caught:
            migrate(connection, MIGRATIONS[:1])
        assert caught.value.ids == {"migrations": ["years"]}


STARTER = """
import sys
from pathlib import Path
from uraniborg.kernel.store.sqlite import connect, migrate
print("ready", flush=True)
for line in sys.stdin:
    connection = connect(Path(line.strip()))
    steps = ["CREATE TABLE t (x)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"]
    migrate(connection, [(sql, sql) for sql in steps])
    print([x for (x,) in connection.execute("SELECT x FROM t ORDER BY x")], flush=True)
    connection.close()
"""


def test_processes_that_start_at_once_share_one_set_of_migrations(tmp_path: Path) -> None:
    starters = [
        subprocess.Popen([sys.executable, "-c", STARTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    try:
        for starter in starters:
            assert starter.stdout
            assert starter.stdout.readline() == "ready\n"
        for round_number in range(25):
            for starter in starters:
                assert starter.stdin
                starter.stdin.write(f"{tmp_path / str(round_number)}.db\n")
                starter.stdin.flush()
            for starter in starters:
                assert starter.stdout
                assert starter.stdout.readline() == "[1, 2]\n"
    finally:
        for starter in starters:
            starter.kill()
            starter.communicate(timeout=10)


def test_threads_may_take_turns_on_one_connection(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as connection:
        thread = threading.Thread(target=migrate, args=(connection, MIGRATIONS))
        thread.start()
        thread.join(timeout=10)
        assert titles(connection) == ["a; b -- c"]


def test_a_copy_of_a_closed_database_is_complete(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "x.db")) as connection:
        migrate(connection, MIGRATIONS)
    shutil.copy(tmp_path / "x.db", tmp_path / "copy.db")
    with closing(sqlite.connect(tmp_path / "copy.db", readonly=True)) as copy:
        assert titles(copy) == ["a; b -- c"]


def rows_of(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM papers").fetchall()


def make_old(path: Path) -> None:
    """Make a database that has had the first migration only."""
    with closing(connect(path)) as connection:
        migrate(connection, MIGRATIONS[:1])


def bring_up_to_date(path: Path, *more: sqlite.Migration) -> None:
    with closing(connect(path)) as connection:
        migrate(connection, [*MIGRATIONS, *more])


def test_a_database_is_copied_before_a_later_migration_changes_it(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    make_old(path)
    path.chmod(0o600)
    bring_up_to_date(path)
    bring_up_to_date(path)
    assert set(os.listdir(tmp_path)) == {"x.db", "x.db.before-years"}
    assert rows_of(tmp_path / "x.db.before-years") == [("a; b -- c",)]
    assert rows_of(path) == [("a; b -- c", None)]
    assert (tmp_path / "x.db.before-years").stat().st_mode & 0o777 == 0o600, "as private as the database"


def test_a_new_database_is_not_copied(tmp_path: Path) -> None:
    bring_up_to_date(tmp_path / "x.db")
    with closing(connect(Path(":memory:"))) as connection:
        migrate(connection, MIGRATIONS[:1])
        migrate(connection, MIGRATIONS)
    assert os.listdir(tmp_path) == ["x.db"]


def test_several_migrations_at_once_make_one_copy(tmp_path: Path) -> None:
    make_old(tmp_path / "x.db")
    bring_up_to_date(tmp_path / "x.db", ("0003 more/../years", "UPDATE papers SET year = 1577"))
    assert set(os.listdir(tmp_path)) == {"x.db", "x.db.before-years"}
    assert rows_of(tmp_path / "x.db") == [("a; b -- c", 1577)]
    bring_up_to_date(
        tmp_path / "x.db", ("0003 more/../years", "UPDATE papers SET year = 1577"), ("../out", "DELETE FROM papers")
    )
    assert (tmp_path / "x.db.before-out").is_file(), "its name stays in the folder"


def test_committed_rows_in_the_write_ahead_log_are_in_the_copy(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    make_old(path)
    with closing(connect(path)) as other, closing(connect(path)) as connection:
        other.execute("INSERT INTO papers VALUES ('only in the log beside the file')")
        migrate(connection, MIGRATIONS)
    assert rows_of(tmp_path / "x.db.before-years") == [("a; b -- c",), ("only in the log beside the file",)]


def test_nothing_is_changed_when_the_copy_cannot_be_made(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    make_old(path)
    (tmp_path / "x.db.before-years").mkdir()
    (tmp_path / "x.db.before-years" / "in the way").touch()
    with pytest.raises(DatabaseUnusable, match=r"x\.db.*cannot be copied"):
        bring_up_to_date(path)
    assert rows_of(path) == [("a; b -- c",)]
    assert set(os.listdir(tmp_path)) == {"x.db", "x.db.before-years"}


def test_a_migration_can_be_a_function(tmp_path: Path) -> None:
    def shout(connection: sqlite3.Connection) -> None:
        for row, title in connection.execute("SELECT rowid, title FROM papers").fetchall():
            connection.execute("UPDATE papers SET title = ? WHERE rowid = ?", (title.upper(), row))

    make_old(tmp_path / "x.db")
    bring_up_to_date(tmp_path / "x.db", ("shout", shout))
    assert rows_of(tmp_path / "x.db") == [("A; B -- C", None)]


def test_a_migration_that_fails_is_not_applied_and_can_be_tried_again(tmp_path: Path) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM papers")
        raise ValueError("this value has no new form")

    make_old(tmp_path / "x.db")
    with pytest.raises(ValueError, match="no new form"):
        bring_up_to_date(tmp_path / "x.db", ("fail", fail))
    assert rows_of(tmp_path / "x.db") == [("a; b -- c", None)]
    bring_up_to_date(tmp_path / "x.db", ("fail", "DELETE FROM papers"))
    assert rows_of(tmp_path / "x.db.before-years") == [("a; b -- c",)]


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_a_database_and_the_files_beside_it_are_for_their_owner_alone(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "folder" / "x.db"
    before = os.umask(umask)
    try:
        bring_up_to_date(path)
        with closing(connect(path)) as connection, transaction(connection):
            connection.execute("CREATE TABLE t (x)")
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"x.db": 0o600, "x.db-wal": 0o600, "x.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("create", [True, False])
def test_a_database_that_others_could_read_is_repaired_when_it_is_opened(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "x.db"
    bring_up_to_date(path)
    tmp_path.chmod(0o755)
    names = ("x.db", "x.db-wal", "x.db-shm")
    with closing(connect(path)) as connection, transaction(connection):
        connection.execute("CREATE TABLE t (x)")
        for name in names:
            (tmp_path / name).chmod(0o644)
        connect(path, create=create).close()
        assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in names} == {0o600}
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755, "the folder may hold other files"


def test_opening_a_database_again_lets_go_of_no_lock_of_this_process(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    bring_up_to_date(path)
    with closing(connect(path)) as connection, transaction(connection):
        connect(path).close()
        code = "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')"
        other = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
        assert "database is locked" in other.stderr
