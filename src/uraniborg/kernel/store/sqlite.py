"""SQLite databases for all stores: connections, transactions, and migrations that are applied once by name."""

import contextlib
import os
import re
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path

from uraniborg.kernel.errors import READ_ONLY_HINT, Conflict, NotFound, ReadOnlyFolder, Unavailable, as_error
from uraniborg.kernel.store.files import make_folder, make_private, open_private, sync_folder

Change = str | Callable[[sqlite3.Connection], None]
"""The change of a migration: SQL statements, or a function that is called inside the transaction."""
Migration = tuple[str, Change]
"""The name of a migration, which is never used again, and its change."""

_SIDE_FILE_ENDINGS = ("-wal", "-shm", "-journal")
_creating = threading.Lock()
_ENVIRONMENT_ERRORS = {
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
    """Return a connection in autocommit mode. Write inside `transaction`. Threads may share it, one at a time.

    Create the file and its folder, private to their owner, unless `readonly` is set or `create` is False. Make an
    existing file private unless `readonly` is set. With `durable`, commits survive a power cut; without it, the last
    commits may be lost, but the file stays consistent. Raise DatabaseMissing or DatabaseUnusable.
    """
    if (readonly or not create) and not path.is_file():
        raise DatabaseMissing(f"There is no database '{path.name}'.", hint="Check the path.", name=path.name)
    with _translate_errors(path.name):
        try:
            connection = _open_connection(path, readonly=readonly, create=create, timeout=busy_timeout_s)
        except OSError as exc:
            if isinstance(as_error(exc), ReadOnlyFolder):
                raise _make_read_only_error(path.name, exc.strerror or "permission denied") from exc
            raise _make_unusable_error(path.name, exc.strerror or "its folder cannot be created") from exc
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            connection.execute(
                "PRAGMA schema_version"
            )  # reads the file, so that a file of another format is refused here
            if not readonly:
                _switch_to_wal(connection, deadline=time.monotonic() + busy_timeout_s)
        except BaseException:
            connection.close()
            raise
    return connection


def connect_or_read(path: Path, *, durable: bool = False, busy_timeout_s: float = 5.0) -> sqlite3.Connection:
    """Return a connection as `connect` does, or one that can only read if the file or its folder is read-only."""
    # The file first: another process may create it after its permissions were looked at.
    readonly = path.is_file() and not all(os.access(one, os.W_OK) for one in (path, path.parent))
    return connect(path, durable=durable, readonly=readonly, busy_timeout_s=busy_timeout_s)


def read_without_files(path: Path, error: BaseException) -> sqlite3.Connection | None:
    """Return a connection that reads a database where no file can be created beside it, such as on a full disk.

    Return None if the error has another reason, or if another process may write the database.
    """
    code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF
    if code not in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN} or not path.is_file():
        return None
    beside = [path.with_name(f"{path.name}{ending}") for ending in _SIDE_FILE_ENDINGS]
    if any(side.exists() and side.stat().st_size for side in beside):
        return None
    address = f"{path.absolute().as_uri()}?immutable=1"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False, factory=_NamedConnection)


def _open_connection(path: Path, *, readonly: bool, create: bool, timeout: float) -> sqlite3.Connection:
    address = str(path) if path.name == ":memory:" else path.absolute().as_uri()
    if not readonly and create:
        create_database_file(path)
    elif readonly:
        # Reading a WAL database creates files beside it. If there are none and we cannot create them, nobody writes.
        is_unused = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
        address += "?immutable=1" if is_unused else "?mode=ro"
    else:
        address += "?mode=rw"
    if not readonly:
        for name in (path.name, *(f"{path.name}{ending}" for ending in _SIDE_FILE_ENDINGS)):
            make_private(path.with_name(name))
    connection = sqlite3.connect(
        address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False, factory=_NamedConnection
    )
    assert isinstance(connection, _NamedConnection)
    connection.name = path.name
    return connection


def create_database_file(path: Path) -> None:
    """Create an empty database, private to its owner, unless the file exists. Raise OSError.

    SQLite gives the files beside it the same permissions.
    """
    make_folder(path.parent)
    if path.name != ":memory:":
        # One at a time: closing a file releases all locks that this process has on it.
        with _creating, contextlib.suppress(FileExistsError):
            os.close(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))


def _switch_to_wal(connection: sqlite3.Connection, deadline: float) -> None:
    """Switch to WAL, and retry until `deadline`: SQLite does not wait while another process switches too."""
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
    """Make commits inside the block survive a power cut, on a connection that is not `durable`."""
    connection.execute("PRAGMA synchronous = FULL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous = NORMAL")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    """Commit the changes of the block together, or none of them if it raises. Other writers wait.

    Raise DatabaseUnusable if the file stays locked after the busy timeout, or if the disk fails.
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
    """Raise DatabaseUnusable if a read in the block, outside a transaction, fails because of the disk or the file."""
    return _translate_errors(_get_database_name(connection))


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    """Apply the migrations that this database does not have yet, in order, each in a transaction.

    A database with earlier migrations is first copied to `NAME.before-MIGRATION` beside it. Any number of processes
    may migrate at once. Raise DatabaseNewer if the database has a migration that is not in the list, and
    DatabaseUnusable if it cannot be copied.
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
    """Return the copies of the database at `path` from before migrations, including incomplete copies."""
    start = f"{path.name}.before-"
    return sorted(one for one in path.parent.iterdir() if one.name.removeprefix(".").startswith(start))


def _apply_change(connection: sqlite3.Connection, change: Change) -> None:
    if callable(change):
        change(connection)
        return
    for statement in _split_statements(change):
        connection.execute(statement)


def _copy_before_migration(connection: sqlite3.Connection, migration: str) -> None:
    """Copy the committed data while the caller holds the write lock, unless an earlier attempt copied it."""
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
            f"{_format_subject(path.name)} cannot be copied before its format is updated: {reason}.",
            hint="Free disk space in its folder, and try again. Nothing was changed.",
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
        code = getattr(exc, "sqlite_errorcode", 0) & 0xFF
        if code not in _ENVIRONMENT_ERRORS:
            raise
        if code == sqlite3.SQLITE_READONLY:
            raise _make_read_only_error(name, str(exc)) from exc
        raise _make_unusable_error(name, str(exc)) from exc


class _NamedConnection(sqlite3.Connection):
    """A connection with the name of its file, for error messages."""

    name = ""


def _get_database_name(connection: sqlite3.Connection) -> str:
    return connection.name if isinstance(connection, _NamedConnection) else ""


def _format_subject(name: str) -> str:
    return f"The database '{name}'" if name else "The database"


def _make_read_only_error(name: str, reason: str) -> DatabaseUnusable:
    message = f"{_format_subject(name)} cannot be written, as its folder or file is read-only: {reason}."
    return DatabaseUnusable(message, hint=READ_ONLY_HINT)


def _make_unusable_error(name: str, reason: str) -> DatabaseUnusable:
    return DatabaseUnusable(
        f"{_format_subject(name)} cannot be used: {reason}.",
        hint="Check the disk, the permissions, and whether another process holds the file.",
    )
