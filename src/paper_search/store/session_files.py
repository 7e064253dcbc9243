"""Store sessions: one SQLite file for each, with the results of its steps, and a lease beside it.

The steps are `session` (the request), the steps and decisions of the engine, `checkpoint-N`, and at the end `result`,
if there is one, and `ended`. Each is written once, before any reply depends on it. A file of an older version is copied
and migrated when it is opened; a file of a newer version is refused.
"""

import asyncio
import math
import os
import re
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from paper_search.errors import SessionInterrupted, SessionNotFound
from paper_search.workflow.step_journal import dump_in_parts
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.store.files import Lease, make_private_folder, sync_folder
from uraniborg.kernel.store.sqlite import (
    DatabaseMissing,
    Migration,
    connect,
    list_migration_copies,
    migrate,
    transaction,
    translate_read_errors,
)

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

REVIEWS: Final = "reviews"
"""The name of the folder with the marks of unfinished reviews, beside the folder of the sessions."""
_ID: Final = re.compile(r"[0-9a-f]{32}")
_MIGRATIONS: Final[list[Migration]] = [
    ("steps", "CREATE TABLE steps (step TEXT NOT NULL UNIQUE, value TEXT NOT NULL)"),
]
"""The format of a session file. Append a named migration when a step changes its shape; never edit an earlier one."""


class SessionLease(Protocol):
    """A lease on a session: until it is released, no other process runs the session."""

    def release(self) -> None:
        """Let other processes run the session."""
        ...


class SessionStore(Protocol):
    """A store of sessions. Its methods may block: call them in a thread from a coroutine.

    They raise SessionNotFound for an unknown session, unless stated otherwise.
    """

    def write(self, session_id: str, step: str, value: str, *, create_session: bool = False) -> None:
        """Store the result of a step, unless there is one. With `create_session` create the session first."""
        ...

    def read(self, session_id: str, step: str) -> str | None:
        """Return the result of a step, or None."""
        ...

    def list_steps(self, session_id: str) -> list[str]:
        """Return the names of the stored steps, in the order in which they were stored."""
        ...

    def has_session(self, session_id: str) -> bool:
        """Return whether the session is stored."""
        ...

    def acquire_lease(self, session_id: str) -> SessionLease | None:
        """Return a lease on the session, or None if another process holds it. Also touch the session."""
        ...

    def acquire_lease_if_unused(self, session_id: str, moment: datetime) -> SessionLease | None:
        """Return a lease on the session, or None if another process holds it or the session was used since then."""
        ...

    def touch(self, session_id: str) -> None:
        """Record that the session was used now."""
        ...

    def delete(self, session_id: str) -> None:
        """Delete the session permanently; an unknown session is ignored."""
        ...

    def list_unused_since(self, moment: datetime) -> list[str]:
        """Return the ids of the sessions that were not used since then."""
        ...

    def list_last_uses(self) -> dict[str, datetime]:
        """Return the time at which each session was last used, by session id, the latest first."""
        ...


class SessionFiles:
    """Sessions as files in `folder`, by default the folder `sessions` of the data folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or secure_own_folder("data", "paper_search", "sessions")

    def write(self, session_id: str, step: str, value: str, *, create_session: bool = False) -> None:
        path = self._get_path(session_id)
        if create_session and not path.exists():
            self._create_file(session_id, path, step, value)
            return
        with self._open_and_migrate_database(session_id) as connection:
            _insert_step(connection, step, value)

    def read(self, session_id: str, step: str) -> str | None:
        with self._open_and_migrate_database(session_id) as connection, translate_read_errors(connection):
            row: Any = connection.execute("SELECT value FROM steps WHERE step = ?", (step,)).fetchone()
        return row and row[0]

    def list_steps(self, session_id: str) -> list[str]:
        with self._open_and_migrate_database(session_id) as connection, translate_read_errors(connection):
            return [step for (step,) in connection.execute("SELECT step FROM steps ORDER BY rowid")]

    def has_session(self, session_id: str) -> bool:
        return self._get_path(session_id).exists()

    def acquire_lease(self, session_id: str) -> SessionLease | None:
        lease = self._acquire_lease_without_touch(session_id)
        if lease is not None:
            self.touch(session_id)
        return lease

    def acquire_lease_if_unused(self, session_id: str, moment: datetime) -> SessionLease | None:
        lease = self._acquire_lease_without_touch(session_id)
        if lease is not None and _get_modification_time(self._get_path(session_id)) >= moment.timestamp():
            lease.release()
            return None
        return lease

    def touch(self, session_id: str) -> None:
        with suppress(OSError):  # a file that cannot be written cannot be deleted for its age either
            os.utime(self._get_path(session_id))

    def delete(self, session_id: str) -> None:
        path = self._get_path(session_id)
        with _convert_os_errors_to_interruptions(session_id):
            for ending in (".db", ".db-wal", ".db-shm", ".new", ".new-wal", ".new-shm", ".lock"):
                path.with_suffix(ending).unlink(missing_ok=True)
            (self._folder.parent / REVIEWS / f"{session_id}.json").unlink(missing_ok=True)
            for copy in list_migration_copies(path) if path.parent.is_dir() else ():
                copy.unlink(missing_ok=True)

    def list_unused_since(self, moment: datetime) -> list[str]:
        files = [*self._folder.glob("*.db"), *self._folder.glob("*.new")]
        return [file.stem for file in files if _get_modification_time(file) < moment.timestamp()]

    def list_last_uses(self) -> dict[str, datetime]:
        times: dict[str, float] = {}
        with suppress(FileNotFoundError), os.scandir(self._folder) as files:
            for file in files:
                name, dot, ending = file.name.partition(".")
                if (dot, ending) == (".", "db") and _ID.fullmatch(name):
                    with suppress(FileNotFoundError):  # another process has just deleted it
                        times[name] = file.stat().st_mtime
        latest_first = sorted(times.items(), key=lambda item: (-item[1], item[0]))
        return {name: datetime.fromtimestamp(time, UTC) for name, time in latest_first}

    def _create_file(self, session_id: str, path: Path, step: str, value: str) -> None:
        """Create the file under another name and rename it, so that a session file always holds its first step."""
        with _convert_os_errors_to_interruptions(session_id):
            make_private_folder(path.parent)
            with closing(connect(path.with_suffix(".new"), durable=True)) as connection:
                migrate(connection, _MIGRATIONS)
                _insert_step(connection, step, value)
                with translate_read_errors(connection):  # closing does the same without reporting a failure
                    unfinished, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if unfinished:
                raise SessionInterrupted(session_id, "its file could not be written completely.")
            path.with_suffix(".new").replace(path)
            sync_folder(path.parent)

    def _acquire_lease_without_touch(self, session_id: str) -> Lease | None:
        path = self._get_path(session_id)
        if not path.is_file():  # a lease would leave a lock file behind
            raise SessionNotFound(session_id)
        lease = Lease(path.with_suffix(".lock"))
        with _convert_os_errors_to_interruptions(session_id):
            return lease if lease.acquire() else None

    def _get_path(self, session_id: str) -> Path:
        if not _ID.fullmatch(session_id):
            raise SessionNotFound(session_id)
        return self._folder / f"{session_id}.db"

    @contextmanager
    def _open_and_migrate_database(self, session_id: str) -> Generator[sqlite3.Connection]:
        try:
            connection = connect(self._get_path(session_id), create=False, durable=True)
        except DatabaseMissing:
            raise SessionNotFound(session_id) from None
        with closing(connection):
            _refuse_empty_journal(connection, session_id)
            migrate(connection, _MIGRATIONS)
            yield connection


def _insert_step(connection: sqlite3.Connection, step: str, value: str) -> None:
    with transaction(connection):
        connection.execute("INSERT INTO steps VALUES (?, ?) ON CONFLICT (step) DO NOTHING", (step, value))


def _refuse_empty_journal(connection: sqlite3.Connection, session_id: str) -> None:
    """Raise SessionInterrupted for a file without steps: such a session must not be started over."""
    with translate_read_errors(connection):
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'steps'").fetchone() is None:
            raise SessionInterrupted(session_id, "its journal is empty.")


@contextmanager
def _convert_os_errors_to_interruptions(session_id: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise SessionInterrupted(session_id, f"{error.strerror or 'the disk failed'}.") from error


def _get_modification_time(file: Path) -> float:
    """Return the time of the last write; infinity if another process has just deleted the file."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return math.inf


class MemorySessions:
    """A store in memory, for tests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[str, dict[str, str]] = {}
        self._leased: set[str] = set()

    def write(self, session_id: str, step: str, value: str, *, create_session: bool = False) -> None:
        with self._lock:
            if create_session:
                self._sessions.setdefault(session_id, {})
            self._get_steps(session_id).setdefault(step, value)

    def read(self, session_id: str, step: str) -> str | None:
        with self._lock:
            return self._get_steps(session_id).get(step)

    def list_steps(self, session_id: str) -> list[str]:
        with self._lock:
            return list(self._get_steps(session_id))

    def has_session(self, session_id: str) -> bool:
        with self._lock:
            return session_id in self._sessions

    def acquire_lease(self, session_id: str) -> SessionLease | None:
        with self._lock:
            self._get_steps(session_id)
            if session_id in self._leased:
                return None
            self._leased.add(session_id)
            return _MemoryLease(self._leased, session_id)

    def acquire_lease_if_unused(self, session_id: str, moment: datetime) -> SessionLease | None:
        """Return None: sessions in memory do not expire."""
        return None

    def touch(self, session_id: str) -> None:
        """Do nothing: sessions in memory do not expire."""

    def delete(self, session_id: str) -> None:
        with self._lock:
            self._sessions.pop(session_id, None)

    def list_unused_since(self, moment: datetime) -> list[str]:
        """Return nothing: sessions in memory do not expire."""
        return []

    def list_last_uses(self) -> dict[str, datetime]:
        with self._lock:
            return dict.fromkeys(reversed(self._sessions), datetime.now(UTC))

    def _get_steps(self, session_id: str) -> dict[str, str]:
        if session_id not in self._sessions:
            raise SessionNotFound(session_id)
        return self._sessions[session_id]


class _MemoryLease:
    def __init__(self, leased: set[str], session_id: str) -> None:
        self._leased = leased
        self._session_id = session_id

    def release(self) -> None:
        self._leased.discard(self._session_id)


class SessionJournal:
    """The journal of one session, in a store. Failures of the store raise SessionInterrupted."""

    def __init__(self, store: SessionStore, session_id: str) -> None:
        self._store = store
        self._session_id = session_id
        self._stored_steps: set[str] | None = None

    async def get_or_run_and_store(self, step: str, model: type[M], run: Callable[[], Awaitable[M]]) -> M:
        """Return the stored result of `step`; if there is none, run the step and store its result first."""
        store, session_id = self._store, self._session_id
        if self._stored_steps is None:
            self._stored_steps = set(await run_storage_call(session_id, lambda: store.list_steps(session_id)))
        if step in self._stored_steps:
            return await run_storage_call(session_id, lambda: read_step(store, session_id, step, model))
        result = await run()
        await self.write(step, result)
        return result

    async def write(self, step: str, value: BaseModel) -> None:
        """Store the result of a step, unless there is one."""
        store, session_id = self._store, self._session_id
        await run_storage_call(session_id, lambda: store.write(session_id, step, dump_in_parts(value)))
        if self._stored_steps is not None:
            self._stored_steps.add(step)


def read_step(store: SessionStore, session_id: str, step: str, model: type[M]) -> M:
    """Return the result of a step. Raise SessionInterrupted if it is missing or cannot be read."""
    try:
        return model.model_validate_json(store.read(session_id, step) or "")
    except ValidationError:
        raise SessionInterrupted(session_id, f"its journal is damaged, or of another version, at '{step}'.") from None


class StepCache:
    """The large steps that were read last. A stored step never changes; callers must not change the values."""

    def __init__(self, store: SessionStore, size: int = 4) -> None:
        self._store = store
        self._size = size
        self._values: dict[tuple[str, str], BaseModel] = {}
        self._lock = threading.Lock()

    def read(self, session_id: str, step: str, model: type[M]) -> M:
        """Return the result of a step, as `read_step` does."""
        key = (session_id, step)
        with self._lock:
            found = self._values.pop(key, None)
            if not isinstance(found, model):
                found = read_step(self._store, session_id, step, model)
            self._values[key] = found
            for oldest in list(self._values)[: -self._size]:
                del self._values[oldest]
        return found


async def run_storage_call(session_id: str, call: Callable[[], T]) -> T:
    """Run a call to the store or the inbox in a thread; its failures raise SessionInterrupted.

    A caller that is cancelled still waits for the thread, so that nothing is written after the lease is released.
    """
    running = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
    except SessionInterrupted:
        raise
    except UraniborgError as error:
        raise SessionInterrupted(session_id, error.message) from error
    except OSError as error:
        raise SessionInterrupted(session_id, f"{error.strerror or 'the disk failed'}.") from error
