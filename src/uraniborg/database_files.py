"""SQLite files of running servers: copied consistently, checked without a change, and found in use.

Use this module only in processes that have no connection to these files: closing a file releases all locks of the
process on it, also those of its connections.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

_MARK: Final = b"SQLite format 3\x00"
_WAL_VERSION: Final = b"\x02"
_BUSY: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_live_database(path: Path) -> bool:
    """Return True for a database with a write-ahead log, which a server may be writing. Raise OSError.

    The database of a shelf has none: it never changes after the build.
    """
    with path.open("rb") as stream:
        header = stream.read(len(_MARK) + 3)
    return header.startswith(_MARK) and header.endswith(_WAL_VERSION)


def copy_file(source: Path, target: Path) -> None:
    """Copy a file into the new file `target`; a database that is being written is copied as of one moment.

    Raise OSError or sqlite3.Error.
    """
    if not is_live_database(source):
        shutil.copyfile(source, target)
        return
    # Without a log nobody has it open, and a connection that may write removes the log that it creates.
    mode = "rw" if os.access(source, os.W_OK) and not _has_log(source) else "ro"
    with closing(_connect(source, f"mode={mode}")) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)


def find_database_damage(path: Path) -> str | None:
    """Return the first problem that SQLite finds in a database, or None. Change no file; servers may run."""
    is_in_use = _has_log(path)
    if not is_in_use and path.stat().st_size == 0:  # an empty file is a database without tables to SQLite
        return "the file is empty"
    # A connection that only reads would create a log and leave it.
    problem = _run_quick_check(path, "mode=ro" if is_in_use else "immutable=1")
    if problem and not is_in_use and _has_log(path):  # a server has opened it meanwhile
        return _run_quick_check(path, "mode=ro")
    return problem


def is_in_use(path: Path) -> bool:
    """Return True if another connection has the database open. Change no file."""
    try:
        with closing(_connect(path, "mode=rw", timeout_s=0)) as connection:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # takes the lock
    except sqlite3.Error as exc:
        return getattr(exc, "sqlite_errorcode", 0) & 0xFF in _BUSY
    return False


def _run_quick_check(path: Path, options: str) -> str | None:
    try:
        with closing(_connect(path, options)) as connection:
            (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as exc:
        return str(exc)
    return None if found == "ok" else " ".join(str(found).split())


def _has_log(path: Path) -> bool:
    return path.with_name(f"{path.name}-wal").exists()


def _connect(path: Path, options: str, timeout_s: float = 5) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?{options}", uri=True, timeout=timeout_s)
