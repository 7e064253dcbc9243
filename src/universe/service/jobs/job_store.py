"""Store the jobs of a database of universes in an SQLite file beside it, which servers and workers write.

Jobs of a PostgreSQL database are stored in the data folder of the machine that computes them.
"""

import os
import sqlite3
import tempfile
import threading
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from universe.service.jobs.options_and_replies import (
    JobError,
    JobFacts,
    JobKind,
    JobState,
    JobSummary,
    TrajectoryLayout,
)
from universe.service.reply_encoding import dump_actor
from universe.store.interface import Store
from uraniborg.kernel.actors import Actor, decode_actor
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.store.files import Lease, make_folder
from uraniborg.kernel.store.sqlite import connect, migrate, transaction, translate_read_errors

if TYPE_CHECKING:
    from universe.service.jobs.measurement import Measurement

STATES: Final[tuple[JobState, ...]] = ("queued", "running", "done", "failed", "cancelled")
ACTIVE: Final = ("queued", "running")
NUMBERS: Final = 6
"""Of each body and time of a trajectory: x, y, z in AU, then their velocities in AU a day, as 32-bit floats."""

_MIGRATIONS: Final = [
    (
        "jobs-1",
        """
        CREATE TABLE jobs (
            id TEXT PRIMARY KEY, universe_id TEXT NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL,
            options BLOB NOT NULL, author TEXT NOT NULL, created_at TEXT NOT NULL, owner TEXT NOT NULL,
            state TEXT NOT NULL, progress REAL NOT NULL DEFAULT 0, started_at TEXT, ended_at TEXT,
            error BLOB, summary BLOB
        ) WITHOUT ROWID;
        CREATE INDEX jobs_by_universe ON jobs (universe_id, created_at, id);
        CREATE INDEX jobs_by_state ON jobs (state);
        CREATE TABLE results (
            job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
            reply BLOB NOT NULL, plot BLOB NOT NULL, layout BLOB, states BLOB
        );
        """,
    ),
    ("jobs-2", "ALTER TABLE jobs ADD COLUMN is_kept INTEGER NOT NULL DEFAULT 0;"),
    (
        "jobs-3",
        "CREATE TABLE series (job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE, chart BLOB NOT NULL);",
    ),
    ("jobs-4", "ALTER TABLE jobs ADD COLUMN actor TEXT; ALTER TABLE jobs ADD COLUMN cancelled_by TEXT;"),
    (
        "jobs-5",  # the orders of creation and of ending, which times are not: clocks jump
        """
        ALTER TABLE jobs ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE jobs ADD COLUMN ended INTEGER;
        UPDATE jobs SET number = numbers.number FROM
            (SELECT id, row_number() OVER (ORDER BY created_at, id) AS number FROM jobs) AS numbers
            WHERE jobs.id = numbers.id;
        UPDATE jobs SET ended = numbers.number FROM
            (SELECT id, row_number() OVER (ORDER BY ended_at, id DESC) AS number FROM jobs WHERE ended_at IS NOT NULL)
            AS numbers WHERE jobs.id = numbers.id;
        DROP INDEX jobs_by_universe;
        CREATE INDEX jobs_by_universe ON jobs (universe_id, number);
        CREATE INDEX jobs_by_number ON jobs (number);
        CREATE INDEX jobs_by_end ON jobs (ended);
        """,
    ),
]
_ENDS: Final = "ended_at = ?, ended = (SELECT coalesce(max(ended), 0) + 1 FROM jobs)"
_BEFORE: Final = """number < coalesce(
    (SELECT number FROM jobs WHERE id = ?2), (SELECT max(number) + 1 FROM jobs WHERE (created_at, id) < (?1, ?2)), 0
)"""
"""Jobs before the one with this time and id, which may have been deleted since it was listed."""
_COLUMNS: Final = (
    "id, universe_id, version, kind, options, author, created_at, owner, state, progress, started_at, ended_at, error,"
    " summary, is_kept, actor, cancelled_by"
)


@dataclass(frozen=True)
class StoredJob:
    """A job as stored: its universe at a version, its options, its state and, once it has ended, its outcome."""

    id: str
    universe_id: str
    version: int
    kind: JobKind
    options: JsonObject
    author: str
    created_at: str
    owner: str
    state: JobState = "queued"
    progress: float = 0.0
    started_at: str | None = None
    ended_at: str | None = None
    error: JobError | None = None
    summary: JobSummary | None = None
    is_kept: bool = False
    """True if something refers to the job, so that it is never deleted as an old one."""
    actor: Actor | None = None
    """Who started it; None if the release that stored the job did not record it."""
    cancelled_by: Actor | None = None

    @property
    def is_active(self) -> bool:
        """Return True until the job has ended."""
        return self.state in ACTIVE

    def describe(self) -> JobFacts:
        return {
            "id": self.id,
            "universeId": self.universe_id,
            "version": self.version,
            "kind": self.kind,
            "state": self.state,
            "progress": self.progress,
            "options": self.options,
            "author": self.author,
            "actor": dump_actor(self.actor),
            "cancelledBy": dump_actor(self.cancelled_by),
            "createdAt": self.created_at,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
            "summary": self.summary,
            "error": self.error,
        }


@dataclass
class JobStore:
    """The jobs in the file at `path`, which the first call opens. All methods block: call them in threads.

    Each process that computes jobs is an owner, and holds a lock until it ends. Jobs of an owner whose lock is free
    have lost their process.
    """

    path: Path
    _connection: sqlite3.Connection | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _temporary: "tempfile.TemporaryDirectory[str] | None" = None

    @classmethod
    def make_for(cls, store: Store) -> "JobStore":
        """Return the store of jobs of these universes; in a temporary folder if the universes are in memory."""
        if store.marks is not None:
            marks = store.marks.path
            return cls(marks.with_name(marks.name.removesuffix(".mark") + ".jobs"))
        folder = tempfile.TemporaryDirectory(prefix="universe-jobs-", ignore_cleanup_errors=True)
        return cls(Path(folder.name) / "universes.jobs", _temporary=folder)

    @property
    def exists(self) -> bool:
        """Return True if a job was ever stored."""
        return self.path.exists()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        if self._temporary is not None:
            self._temporary.cleanup()

    def add(self, job: StoredJob) -> bool:
        """Store a new job. Return False if there is a job with this id."""
        row = (
            *(job.id, job.universe_id, job.version, job.kind, orjson.dumps(job.options), job.author),
            *(job.created_at, job.owner, job.state, job.is_kept, job.actor and job.actor.model_dump_json()),
        )
        sql = (
            "INSERT OR IGNORE INTO jobs (id, universe_id, version, kind, options, author, created_at, owner, state,"
            " is_kept, actor, number) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
            " (SELECT coalesce(max(number), 0) + 1 FROM jobs))"
        )
        return self._execute_change(sql, row)

    def get(self, job_id: str) -> StoredJob | None:
        return next(iter(self._select_jobs("WHERE id = ?", (job_id,))), None)

    def find_by_prefix(self, text: str) -> list[StoredJob]:
        """Return the job with this id, or else up to five jobs whose ids begin with it."""
        exact = self.get(text)
        return [exact] if exact else self._select_jobs("WHERE substr(id, 1, ?) = ? LIMIT 5", (len(text), text))

    def list_jobs(
        self,
        universe_id: str | None = None,
        *,
        state: JobState | None = None,
        limit: int,
        before: tuple[str, str] | None = None,
    ) -> list[StoredJob]:
        """Return jobs of one universe or of all, newest first; with `before`, a time and an id, those before them."""
        where = [
            *([_BEFORE] if before else []),
            *(["universe_id = ?3"] if universe_id is not None else []),
            *(["state = ?4"] if state is not None else []),
        ]
        at, job_id = before or (None, None)
        return self._select_jobs(
            f"WHERE {' AND '.join(where) or '1'} ORDER BY number DESC LIMIT ?5", (at, job_id, universe_id, state, limit)
        )

    def start(self, job_id: str, at: str) -> bool:
        """Record that a worker computes the job. Return False unless it is queued."""
        sql = "UPDATE jobs SET state = 'running', started_at = ? WHERE id = ? AND state = 'queued'"
        return self._execute_change(sql, (at, job_id))

    def record_progress(self, job_id: str, progress: float) -> bool:
        """Record the fraction of a running job that is done. Return False if it was cancelled."""
        return self._execute_change(
            "UPDATE jobs SET progress = ? WHERE id = ? AND state = 'running'", (progress, job_id)
        )

    def fail(self, job_id: str, at: str, error: JobError) -> bool:
        """Record that a job failed. Return False if it has ended already."""
        sql = f"UPDATE jobs SET state = 'failed', {_ENDS}, error = ? WHERE id = ? AND state IN ('queued', 'running')"  # noqa: S608
        return self._execute_change(sql, (at, orjson.dumps(error), job_id))

    def cancel(self, job_id: str, at: str, actor: Actor) -> bool:
        """Record that an actor cancelled a job. Return False if it has ended already."""
        sql = (
            f"UPDATE jobs SET state = 'cancelled', {_ENDS}, cancelled_by = ?"  # noqa: S608 - constant texts
            " WHERE id = ? AND state IN ('queued', 'running')"
        )
        return self._execute_change(sql, (at, actor.model_dump_json(), job_id))

    def finish(self, job_id: str, at: str, found: "Measurement") -> bool:
        """Store the result of a job. Return False if it is not running any more, because it was cancelled."""
        reply = zlib.compress(orjson.dumps(found.reply, option=orjson.OPT_SERIALIZE_NUMPY), 6)
        plot = zlib.compress(found.render_svg().encode(), 6)
        chart = zlib.compress(orjson.dumps(found.chart.describe(), option=orjson.OPT_SERIALIZE_NUMPY), 6)
        layout, states = (
            (orjson.dumps(found.trajectory.layout), found.trajectory.states) if found.trajectory else (None, None)
        )
        with self._lock, transaction(self._get_connection()) as connection:
            ended = connection.execute(
                f"UPDATE jobs SET state = 'done', progress = 1, {_ENDS}, summary = ?"  # noqa: S608 - constant texts
                " WHERE id = ? AND state = 'running'",
                (at, orjson.dumps(found.summary), job_id),
            )
            if not ended.rowcount:
                return False
            connection.execute("INSERT INTO results VALUES (?, ?, ?, ?, ?)", (job_id, reply, plot, layout, states))
            connection.execute("INSERT INTO series VALUES (?, ?)", (job_id, chart))
        return True

    def delete(self, job_id: str) -> bool:
        """Delete a job that has ended, with its result. Return False if there is none."""
        return self._execute_change("DELETE FROM jobs WHERE id = ? AND state NOT IN ('queued', 'running')", (job_id,))

    def delete_of_universe(self, universe_id: str) -> None:
        sql = "DELETE FROM jobs WHERE universe_id = ? AND state NOT IN ('queued', 'running')"
        self._execute_change(sql, (universe_id,))

    def delete_oldest(self, limit: int) -> list[StoredJob]:
        """Delete the jobs that ended first, until `limit` ended jobs are left, and return them.

        Jobs that are kept neither count nor are deleted.
        """
        condition = "WHERE is_kept = 0 AND state NOT IN ('queued', 'running') ORDER BY ended DESC LIMIT -1 OFFSET ?"
        return [job for job in self._select_jobs(condition, (limit,)) if self.delete(job.id)]

    def read_reply(self, job_id: str) -> bytes | None:
        """Return the result as JSON, or None."""
        found = self._read_result("reply", job_id)
        return None if found is None else zlib.decompress(found[0])

    def read_plot(self, job_id: str) -> bytes | None:
        """Return the chart as SVG, or None."""
        found = self._read_result("plot", job_id)
        return None if found is None else zlib.decompress(found[0])

    def read_series(self, job_id: str) -> bytes | None:
        """Return the values of the chart as JSON, or None for a result of an earlier release."""
        found = self._read_result("chart", job_id, table="series")
        return None if found is None else zlib.decompress(found[0])

    def read_trajectory_layout(self, job_id: str) -> TrajectoryLayout | None:
        """Return the layout of the trajectory, or None if the job has none."""
        found = self._read_result("layout", job_id)
        return None if found is None or found[0] is None else orjson.loads(found[0])

    def read_trajectory_states(self, job_id: str, first: int, size: int) -> bytes:
        """Return `size` bytes of the states from the byte `first` on."""
        found = self._read_result("substr(states, ?, ?)", job_id, first + 1, size)
        return b"" if found is None or found[0] is None else found[0]

    def acquire_owner_lock(self, owner: str) -> Lease:
        """Hold the lock of an owner until the process ends or the lease is released."""
        make_folder(self._get_lock_folder())
        lease = Lease(self._get_lock_path(owner))
        if not lease.acquire():
            raise InvalidInput(f"The owner {owner} exists already.", hint="Use a new id.")
        return lease

    def release_owner_lock(self, owner: str, lease: Lease) -> None:
        """Release the lock of an owner that has no jobs any more."""
        lease.release()
        with suppress(OSError):
            self._get_lock_path(owner).unlink()

    def is_owner_alive(self, owner: str) -> bool:
        """Return True if the process of an owner exists."""
        path = self._get_lock_path(owner)
        if not path.exists():
            return False
        lease = Lease(path)
        if not lease.acquire():
            return True
        self.release_owner_lock(owner, lease)
        return False

    def list_active_owners(self) -> list[str]:
        """Return the owners of jobs that have not ended."""
        sql = "SELECT DISTINCT owner FROM jobs WHERE state IN ('queued', 'running')"
        with self._lock, translate_read_errors(self._get_connection()):
            return [owner for (owner,) in self._get_connection().execute(sql)]

    def list_active_of_owner(self, owner: str) -> list[StoredJob]:
        """Return the jobs of an owner that have not ended."""
        return self._select_jobs("WHERE owner = ? AND state IN ('queued', 'running')", (owner,))

    def _get_lock_folder(self) -> Path:
        return self.path.with_name(f"{self.path.name}-owners")

    def _get_lock_path(self, owner: str) -> Path:
        return self._get_lock_folder() / f"{owner}.lock"

    def _get_connection(self) -> sqlite3.Connection:
        """Return the connection; the caller holds the lock. Raise DatabaseUnusable."""
        if self._connection is None:
            self._connection = connect(self.path, durable=True)
            migrate(self._connection, _MIGRATIONS)
        return self._connection

    def _execute_change(self, sql: str, values: tuple[Any, ...]) -> bool:
        with self._lock, transaction(self._get_connection()) as connection:
            return connection.execute(sql, values).rowcount > 0

    def _select_jobs(self, rest: str, values: tuple[Any, ...]) -> list[StoredJob]:
        with self._lock, translate_read_errors(self._get_connection()):
            rows = self._get_connection().execute(f"SELECT {_COLUMNS} FROM jobs {rest}", values).fetchall()  # noqa: S608 - constant texts
        return [_make_job(row) for row in rows]

    def _read_result(self, columns: str, job_id: str, *values: Any, table: str = "results") -> tuple[Any, ...] | None:
        with self._lock, translate_read_errors(self._get_connection()):
            sql = f"SELECT {columns} FROM {table} WHERE job_id = ?"  # noqa: S608 - constant texts
            return self._get_connection().execute(sql, (*values, job_id)).fetchone()


def _make_job(row: tuple[Any, ...]) -> StoredJob:
    values = list(row)
    for index in (4, 12, 13):
        values[index] = None if values[index] is None else orjson.loads(values[index])
    values[14] = bool(values[14])
    values[15:17] = map(decode_actor, values[15:17])
    return StoredJob(*cast("Any", values))


def make_owner_id() -> str:
    """Return a new id for a process that computes jobs."""
    return f"{os.getpid()}-{os.urandom(8).hex()}"
