"""SQLite as every store here uses it: opened with care, changed in transactions, brought up to date by name."""

import contextlib
import os
import re
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

from uraniborg.kernel.errors import Conflict, NotFound, Unavailable
from uraniborg.kernel.files import make_folder, make_private, open_private, sync_folder

Change = str | Callable[[sqlite3.Connection], None]
"""What a migration does: SQL statements, or a function that is called inside the transaction."""
Migration = tuple[str, Change]
"""A change of the format under a name that is never used again."""

_BESIDE = ("-wal", "-shm", "-journal")
_creating = threading.Lock()
_OUTSIDE_OUR_POWER = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOTADB,
}


class DatabaseMissing(NotFound):
    code = "database_not_found"


class DatabaseUnusable(Unavailable):
    code = "database_unusable"


class DatabaseNewer(Conflict):
    code = "database_newer"


def connect(
    path: Path, *, readonly: bool = False, create: bool = True, durable: bool = False, busy_timeout_s: float = 5.0
) -> sqlite3.Connection:
    """Return a connection in autocommit mode: change things inside `transaction`. Threads may share it, one at a time.

    Creates the file and its folder, for their owner alone, unless `readonly` or not to `create`; takes access to an
    existing file from others unless `readonly`. With `durable`, what is committed survives
    a power cut; without, the last commits may not, and the file is whole either way. Raise DatabaseMissing or
    DatabaseUnusable.
    """
    if (readonly or not create) and not path.is_file():
        raise DatabaseMissing(f"There is no database '{path.name}'.", hint="Check the path.", name=path.name)
    with _translate_errors(path.name):
        try:
            connection = _open_connection(path, readonly=readonly, create=create, timeout=busy_timeout_s)
        except OSError as exc:
            raise _make_unusable_error(path.name, exc.strerror or "its folder cannot be made") from exc
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute("PRAGMA schema_version")  # reads the file, so that a foreign one is refused here
            if not readonly:
                _switch_to_wal(connection, deadline=time.monotonic() + busy_timeout_s)
        except BaseException:
            connection.close()
            raise
    return connection


def _open_connection(path: Path, *, readonly: bool, create: bool, timeout: float) -> sqlite3.Connection:
    address = str(path) if path.name == ":memory:" else path.absolute().as_uri()
    if not readonly and create:
        create_database_file(path)
    elif readonly:
        # Reading a WAL database makes files beside it. Where we may not and nobody has, it is not being written.
        at_rest = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
        address += "?immutable=1" if at_rest else "?mode=ro"
    else:
        address += "?mode=rw"
    if not readonly:
        for name in (path.name, *(f"{path.name}{ending}" for ending in _BESIDE)):
            make_private(path.with_name(name))
    connection = sqlite3.connect(
        address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False, factory=_Named
    )
    assert isinstance(connection, _Named)
    connection.name = path.name
    return connection


def create_database_file(path: Path) -> None:
    """Create an empty database for its owner alone, if there is none; SQLite gives the files beside it the same access.

    Raise OSError.
    """
    make_folder(path.parent)
    if path.name != ":memory:":
        # One at a time: closing a file lets go of all locks that this process has on it.
        with _creating, contextlib.suppress(FileExistsError):
            os.close(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))


def _switch_to_wal(connection: sqlite3.Connection, deadline: float) -> None:
    """Switching to WAL fails at once, without the usual waiting, while another process is doing the same."""
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


@contextlib.contextmanager
def commit_durably(connection: sqlite3.Connection) -> Generator[None]:
    """Make what is committed inside the block survive a power cut, on a connection that is not `durable`."""
    connection.execute("PRAGMA synchronous = FULL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = NORMAL")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    """All of the block or, when it raises, nothing of it; no other writer in between.

    Raise DatabaseUnusable when the file stays locked past the busy timeout, or the disk fails.
    """
    with _translate_errors(_get_database_name(connection)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def translate_read_errors(connection: sqlite3.Connection) -> contextlib.AbstractContextManager[None]:
    """Around reads outside a transaction: what the disk or a damaged file does to them raises DatabaseUnusable."""
    return _translate_errors(_get_database_name(connection))


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Apply the migrations this database has not had, in order, each whole or not at all.

    A database that has had others before is copied first, to `NAME.before-MIGRATION` beside it. Any number of processes
    may migrate at once. Raise DatabaseNewer when the database has had a migration that is not in the list, and
    DatabaseUnusable when it cannot be copied.
    """
    with _translate_errors(_get_database_name(connection)):
        connection.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) WITHOUT ROWID")
        applied = _read_applied_migrations(connection)
    if unknown := applied - {name for name, _ in migrations}:
        raise DatabaseNewer(
            f"{_format_subject(_get_database_name(connection))} was made by a newer version of this program.",
            hint="Install the newer version, or use another data folder.",
            migrations=sorted(unknown),
        )
    is_copied = not applied
    for name, change in migrations:
        if name in applied:
            continue
        with transaction(connection):
            if name in _read_applied_migrations(connection):
                continue
            if not is_copied:
                _copy_before_migration(connection, name)
                is_copied = True
            _apply_change(connection, change)
            connection.execute("INSERT INTO migrations VALUES (?)", (name,))


def list_migration_copies(path: Path) -> list[Path]:
    """Return the copies of the database at `path` that were made before migrations, unfinished ones included."""
    start = f"{path.name}.before-"
    return sorted(one for one in path.parent.iterdir() if one.name.removeprefix(".").startswith(start))


def _apply_change(connection: sqlite3.Connection, change: Change) -> None:
    if callable(change):
        change(connection)
        return
    for statement in _split_statements(change):
        connection.execute(statement)


def _copy_before_migration(connection: sqlite3.Connection, migration: str) -> None:
    """Copy what is committed, while the caller holds the write lock, unless an earlier attempt has copied it."""
    file = connection.execute("PRAGMA database_list").fetchone()[2]
    if not file:  # in memory
        return
    path = Path(file)
    target = path.with_name(f"{path.name}.before-{'-'.join(re.findall(r'[A-Za-z0-9_]+', migration))}")
    if target.is_file():
        return
    temporary = path.with_name(f".{target.name}.new")
    try:
        temporary.unlink(missing_ok=True)
        temporary.touch(mode=0o600)
        with (
            contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as source,
            contextlib.closing(sqlite3.connect(temporary)) as copy,
        ):
            source.backup(copy)
        temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(target)
        sync_folder(path.parent)
    except (OSError, sqlite3.Error) as exc:
        reason = (exc.strerror if isinstance(exc, OSError) else None) or str(exc)
        raise DatabaseUnusable(
            f"{_format_subject(path.name)} cannot be copied before it is brought up to date: {reason}.",
            hint="Make room beside it, and try again. Nothing was changed.",
        ) from exc
    finally:
        temporary.unlink(missing_ok=True)


def _read_applied_migrations(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM migrations")}


def _split_statements(sql: str) -> Iterator[str]:
    """Yield the statements one by one: `executescript` would commit the transaction."""
    statement = ""
    for piece in sql.split(";"):
        statement += f"{piece};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement:
        yield statement


@contextlib.contextmanager
def _translate_errors(name: str = "") -> Generator[None]:
    try:
        yield
    except sqlite3.DatabaseError as exc:
        if getattr(exc, "sqlite_errorcode", 0) & 0xFF not in _OUTSIDE_OUR_POWER:
            raise
        raise _make_unusable_error(name, str(exc)) from exc


class _Named(sqlite3.Connection):
    """A connection that knows the name of its file, for the errors."""

    name = ""


def _get_database_name(connection: sqlite3.Connection) -> str:
    return connection.name if isinstance(connection, _Named) else ""


def _format_subject(name: str) -> str:
    return f"The database '{name}'" if name else "The database"


def _make_unusable_error(name: str, reason: str) -> DatabaseUnusable:
    return DatabaseUnusable(
        f"{_format_subject(name)} cannot be used: {reason}.",
        hint="Check the disk, the permissions, and whether another process holds the file.",
    )
