"""The durable log of runs: what ran, how it went and how long it took, in one SQLite file for all processes.

What writes raises a member of the error family when it cannot: `DatabaseUnusable` (the disk is full or read-only, or
another process holds the file), `DatabaseNewer` (a newer version of this program made it) or `RunNotFound` (the run
was not begun here). None of them is a reason for a run to fail. What reads raises the first two alike.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any, Concatenate, Final, Literal, NamedTuple, ParamSpec, TypeVar, cast

from pflow.engine.output import NodeStatus
from pflow.engine.runlog_file import RunLogFile
from pflow.errors import RunNotFound
from pflow.ir.model import DEFAULT_ACTION, ERROR_ACTION
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import printable, redact
from uraniborg.kernel.sqlite import DatabaseUnusable, durably, transaction

Ending = Literal["success", "failed", "cancelled", "waiting"]
Plain = dict[str, Any]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_LONGEST: Final = 100_000
"""Characters of JSON that one value may take; of a longer one the beginning is kept."""
_PRUNED_EVERY: Final = 100
_USUAL: Final = (DEFAULT_ACTION, ERROR_ACTION)


class NodeRow(NamedTuple):
    """How one node of a run went. `seq` says in which order they ended; `error` is JSON."""

    seq: int
    node: str
    type: str
    status: NodeStatus
    action: str | None = None
    started_at: str | None = None
    duration_ms: float | None = None
    error: Any = None
    note: str | None = None


def _again_if_damaged(method: Callable[Concatenate["RunLog", _P], _T]) -> Callable[Concatenate["RunLog", _P], _T]:
    """Once more, on a new file, when the file turns out to be damaged."""

    @wraps(method)
    def done(log: "RunLog", *args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return method(log, *args, **kwargs)
        except DatabaseUnusable as exc:
            if not log.file.is_replaced(exc):
                raise
            return method(log, *args, **kwargs)

    return done


_TYPES_LATELY: Final = (
    "SELECT type, count(*) FROM (SELECT type FROM nodes WHERE type != '' ORDER BY run DESC, seq DESC LIMIT 5000) "
    "GROUP BY type"
)


class RunLog:
    """The log in the file at `path`, which the first run makes. Threads may share it; each process has its own.

    A run is told of as a plain object. Its status is how it ended, or `running`, or `interrupted` when its process is
    gone; which comes first is a matter of when runs began here, whatever the clock said.
    """

    def __init__(self, path: Path) -> None:
        self.file = RunLogFile(path)

    @property
    def notice(self) -> str | None:
        """What whoever uses the log should be told: that a damaged one was moved aside."""
        return self.file.notice

    @_again_if_damaged
    def begin(
        self,
        run_id: str,
        workflow: str,
        source: str,
        started_at: str,
        inputs: Mapping[str, Any],
        resumed_from: str | None = None,
        pid: int | None = None,
    ) -> None:
        """A run begins, in this process unless told otherwise."""
        pid = os.getpid() if pid is None else pid
        name = _whole(workflow)
        row = (run_id, name, source, started_at, _json(inputs), resumed_from, pid, _birth_of(pid))
        with self.file.used(make=True) as connection, transaction(connection):
            connection.execute(_BEGIN, row)
            (begun,) = connection.execute(_COUNT_RUN, (name,)).fetchone()
        if begun % _PRUNED_EVERY == 0:
            with suppress(DatabaseUnusable):  # the run has begun all the same
                self.prune(workflow=name)

    @_again_if_damaged
    def add_nodes(self, run_id: str, rows: Iterable[NodeRow]) -> None:
        """Nodes of the run have ended. Many at once cost little more than one."""
        kept = [_kept(row) for row in rows]
        with self.file.used() as connection, transaction(connection):
            number = _number(connection, run_id)
            connection.executemany(_ADD_NODE, ((number, *row) for row in kept))

    @_again_if_damaged
    def finish(
        self,
        run_id: str,
        status: Ending,
        ended_at: str,
        duration_ms: float,
        failed_node: str | None = None,
        error: Any = None,
        reused: int = 0,
        outputs: Any = None,
    ) -> None:
        """Record durably that the run has ended. One that already had keeps its first ending."""
        failed_node = failed_node and _whole(failed_node)
        ending = (status, ended_at, duration_ms, failed_node, _json(error), reused, _json(outputs))
        succeeded, failed = status == "success", status == "failed"
        with self.file.used() as connection, durably(connection), transaction(connection):
            number = _number(connection, run_id)
            if connection.execute(_FINISH, (*ending, number)).rowcount:
                took = duration_ms if succeeded or failed else 0
                connection.execute(_COUNT_OUTCOME, (succeeded, failed, took, number))

    def has_succeeded(self, run_id: str) -> bool:
        """Return True if the run is logged as a success, False also if the log cannot be read."""
        query = "SELECT 1 FROM runs WHERE id = ? AND status = 'success'"
        try:
            with self.file.used() as connection:
                return connection.execute(query, (_whole(run_id),)).fetchone() is not None
        except UraniborgError:
            return False

    @_again_if_damaged
    def statistics(self, workflow: str) -> Plain:
        """How often and how well it ran, forgotten runs included.

        Every run that began counts as an execution, but only success and failure are outcomes and make up the average.
        The last execution is the last to begin of those that run no longer. The last error is the last there was,
        however often it succeeded since.
        """
        with self.file.used() as connection:
            tally = connection.execute("SELECT * FROM tallies WHERE workflow = ?", (_whole(workflow),)).fetchone()
            last = next((run for run in _runs(connection, workflow) if run["status"] != "running"), None) or {}
            failure = _last_failure(connection, workflow) or {}
        _, executions, successes, failures, total_ms = tally or ("", 0, 0, 0, 0)
        outcomes = successes + failures
        return {
            "execution_count": executions,
            "success_count": successes,
            "failure_count": failures,
            "last_execution_timestamp": last.get("started_at"),
            "last_execution_success": last["status"] == "success" if last else None,
            "last_duration_ms": last.get("duration_ms"),
            "average_duration_ms": round(total_ms / outcomes, 3) if outcomes else None,
            "last_error": _message(failure.get("error")),
            "last_failed_node": failure.get("failed_node"),
        }

    @_again_if_damaged
    def counts(self) -> dict[str, int]:
        """How often each workflow ran."""
        with self.file.used() as connection:
            return dict(connection.execute("SELECT workflow, executions FROM tallies"))

    @_again_if_damaged
    def type_counts(self) -> dict[str, int]:
        """How often each type of node ran lately."""
        with self.file.used() as connection:
            return dict(connection.execute(_TYPES_LATELY))

    @_again_if_damaged
    def last_failure(self, workflow: str) -> Plain | None:
        """The last run of the workflow that failed, without its nodes."""
        with self.file.used() as connection:
            return _last_failure(connection, workflow)

    @_again_if_damaged
    def history(self, workflow: str | None = None, limit: int = 20) -> list[Plain]:
        """The last runs, of one workflow or of all, without their nodes; the last to begin comes first."""
        with self.file.used() as connection:
            return list(islice(_runs(connection, workflow), max(0, limit)))

    @_again_if_damaged
    def run(self, run_id: str) -> Plain:
        """The run with its `nodes`. The beginning of its id will do; RunNotFound when none or several have it."""
        start = _whole(run_id)
        with self.file.used() as connection:
            found = connection.execute(_BEGINNING_WITH, (start,)).fetchall() if start else []
            found = [row for row in found if row[1] == start] or found
            if len(found) != 1:
                raise _not_found(run_id, [row[1] for row in found])
            rows = connection.execute("SELECT * FROM nodes WHERE run = ? ORDER BY seq", found[0][:1])
            nodes = [_node(row)._asdict() for row in rows]
            return {**_plain(found[0]), "nodes": nodes}

    @_again_if_damaged
    def rename(self, old: str, new: str) -> None:
        """The workflow has another name now. Its runs and figures join those that the new name may have."""
        names = (_whole(new), _whole(old))
        if old == new:
            return
        with self.file.used() as connection, transaction(connection):
            connection.execute("UPDATE runs SET workflow = ? WHERE workflow = ?", names)
            connection.execute(_JOIN_TALLIES, names)
            connection.execute("DELETE FROM tallies WHERE workflow = ?", names[1:])

    @_again_if_damaged
    def prune(self, keep: int = 1_000, *, workflow: str | None = None) -> int:
        """Forget all but the last `keep` runs of the workflow, or of each, and say how many; statistics stay.

        So does what runs now, and the last failure of each. Every so many runs of a workflow, it happens by itself.
        """
        pruned = 0
        for name in self.counts() if workflow is None else [workflow]:
            with self.file.used() as connection:
                failure = _last_failure(connection, name) or {"id": None}
                older = list(islice(_runs(connection, name), keep, None))
            ids = [(run["id"],) for run in older if run["status"] != "running" and run["id"] != failure["id"]]
            for at in range(0, len(ids), 100):  # so that others can write in between
                with self.file.used() as connection, transaction(connection):
                    pruned += connection.executemany("DELETE FROM runs WHERE id = ?", ids[at : at + 100]).rowcount
        return pruned

    def close(self) -> None:
        """Let go of the file. The next call opens it again."""
        self.file.close()


def _birth_of(pid: int) -> str:
    """What tells a process from a later one of the same number; "" where it is gone or the system does not say."""
    try:
        state, *more = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return "" if state in "ZX" else more[18]


def _is_alive(pid: int, birth: str) -> bool:
    if birth or os.name == "nt":  # where asking would end it
        return not birth or _birth_of(pid) == birth
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as exc:
        return not isinstance(exc, ProcessLookupError)
    return True


def _whole(text: str) -> str:
    """Without half characters, which no database takes."""
    return text.encode("utf-8", "replace").decode()


def _json(value: Any) -> str | None:
    """As it is kept. What the caller should have masked is masked."""
    if value is None:
        return None
    text = json.dumps(redact(value), ensure_ascii=False, default=str)
    if len(text) > _LONGEST:
        text = json.dumps({"characters": len(text), "beginning": text[:1_000]}, ensure_ascii=False)
    return _whole(text)


def _value(text: str | None) -> Any:
    return None if text is None else json.loads(text, parse_constant=lambda _: None)


def _kept(row: NodeRow) -> tuple[Any, ...]:
    action, note, error = row.action, row.note, _json(row.error)
    if action not in _USUAL:
        action = action and _whole(redact(action))
    note = note and _whole(redact(note))
    return row.seq, _whole(row.node), _whole(row.type), row.status, action, row.started_at, row.duration_ms, error, note


def _node(row: tuple[Any, ...]) -> NodeRow:
    _, *told, error, note = row
    return NodeRow(*told, error=_value(error), note=note)


def _message(error: Any) -> Any:
    return cast("Plain", error).get("message", error) if isinstance(error, dict) else error


def _number(connection: sqlite3.Connection, run_id: str) -> int:
    row = connection.execute("SELECT number FROM runs WHERE id = ?", (_whole(run_id),)).fetchone()
    if row is None:
        raise _not_found(run_id, [])
    return row[0]


def _runs(connection: sqlite3.Connection, workflow: str | None, more: str = "") -> Iterator[Plain]:
    """The last to begin first."""
    chosen, name = ("", ()) if workflow is None else ("WHERE workflow = ?", (_whole(workflow),))
    query = f"SELECT * FROM runs {chosen} {more} ORDER BY number DESC"  # noqa: S608 - nobody's words are in it
    return map(_plain, connection.execute(query, name))


def _last_failure(connection: sqlite3.Connection, workflow: str) -> Plain | None:
    return next(_runs(connection, workflow, "AND status = 'failed'"), None)


def _plain(row: tuple[Any, ...]) -> Plain:
    run = dict(zip(_COLUMNS, row[1:], strict=True))
    pid, birth = run.pop("pid"), run.pop("birth")
    if run["status"] == "running" and not _is_alive(pid, birth):
        run["status"] = "interrupted"
    return run | {name: _value(run[name]) for name in ("inputs", "error", "outputs")}


def _not_found(run_id: str, several: list[str]) -> RunNotFound:
    shown = printable(run_id[:80], keep="")
    if several:
        return RunNotFound(
            f"Several runs begin with '{shown}'.", hint="Give more of the id.", run_id=shown, available=several
        )
    return RunNotFound(f"There is no run '{shown}'.", hint="List them: pflow history", run_id=shown)


_COLUMNS: Final = (
    *("id", "workflow", "source", "status", "started_at", "ended_at", "duration_ms", "failed_node", "error"),
    *("reused", "resumed_from", "inputs", "outputs", "pid", "birth"),
)
_BEGIN: Final = """
    INSERT INTO runs (id, workflow, source, started_at, inputs, resumed_from, pid, birth)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_COUNT_RUN: Final = """
    INSERT INTO tallies (workflow, executions) VALUES (?, 1)
    ON CONFLICT DO UPDATE SET executions = executions + 1 RETURNING executions
"""
_ADD_NODE: Final = "INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FINISH: Final = """
    UPDATE runs SET status = ?, ended_at = ?, duration_ms = ?, failed_node = ?, error = ?, reused = ?, outputs = ?
    WHERE number = ? AND status = 'running'
"""
_COUNT_OUTCOME: Final = """
    UPDATE tallies SET successes = successes + ?, failures = failures + ?, duration_ms = duration_ms + ?
    WHERE workflow = (SELECT workflow FROM runs WHERE number = ?)
"""
_BEGINNING_WITH: Final = "SELECT * FROM runs WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) ORDER BY number LIMIT 5"
_JOIN_TALLIES: Final = """
    INSERT INTO tallies SELECT ?, executions, successes, failures, duration_ms FROM tallies WHERE workflow = ?
    ON CONFLICT DO UPDATE SET executions = executions + excluded.executions, successes = successes + excluded.successes,
        failures = failures + excluded.failures, duration_ms = duration_ms + excluded.duration_ms
"""
