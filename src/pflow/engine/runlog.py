"""The durable log of runs: their nodes, results and durations, in one SQLite file for all processes.

Methods that write raise `DatabaseUnusable` (the disk is full or read-only, or another process holds the file),
`DatabaseNewer` (a newer version of this program made the file) or `RunNotFound` (the run was not begun here). None of
them is a reason for a run to fail. Methods that read raise the first two as well.
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

from pflow.engine.progress_output import NodeStatus
from pflow.engine.runlog_file import RunLogFile
from pflow.errors import RunNotFound
from pflow.ir.model import DEFAULT_ACTION, ERROR_ACTION
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import make_printable, redact
from uraniborg.kernel.sqlite import DatabaseUnusable, commit_durably, transaction

Ending = Literal["success", "failed", "cancelled", "waiting"]
Plain = dict[str, Any]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_MAX_CHARS: Final = 100_000
"""Characters of JSON that one value may take; of a longer value only the beginning is stored."""
_RUNS_PER_PRUNE: Final = 100
_USUAL_ACTIONS: Final = (DEFAULT_ACTION, ERROR_ACTION)


class NodeRow(NamedTuple):
    """How one node of a run ended. `seq` is the position in the order of their ends; `error` is JSON."""

    seq: int
    node: str
    type: str
    status: NodeStatus
    action: str | None = None
    started_at: str | None = None
    duration_ms: float | None = None
    error: Any = None
    note: str | None = None
    params: Any = None
    """The parameters as the workflow has them, with templates; JSON."""
    outputs: Any = None
    """The outputs; instead of a large value its size. JSON."""

    def to_json(self) -> Plain:
        """Return the node as JSON; without parameters and outputs if the log does not have them."""
        return {
            name: value
            for name, value in self._asdict().items()
            if value is not None or name not in ("params", "outputs")
        }


def _replace_damaged_file_and_retry(
    method: Callable[Concatenate["RunLog", _P], _T],
) -> Callable[Concatenate["RunLog", _P], _T]:
    """Call the method again, on a new file, if the file turns out to be damaged."""

    @wraps(method)
    def call_method(log: "RunLog", *args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return method(log, *args, **kwargs)
        except DatabaseUnusable as exc:
            if not log.file.rename_file_if_damaged(exc):
                raise
            return method(log, *args, **kwargs)

    return call_method


_RECENT_TYPES: Final = (
    "SELECT type, count(*) FROM (SELECT type FROM nodes WHERE type != '' ORDER BY run DESC, seq DESC LIMIT 5000) "
    "GROUP BY type"
)


class RunLog:
    """The log in the file at `path`, which the first run creates. Threads may share it; each process has its own.

    Runs are returned as plain objects. The status of a run is how it ended, or `running`, or `interrupted` if its
    process is gone. Runs are in the order in which they began, whatever the clock showed.
    """

    def __init__(self, path: Path) -> None:
        self.file = RunLogFile(path)

    @property
    def notice(self) -> str | None:
        """A warning that a damaged log was renamed, or None."""
        return self.file.notice

    @_replace_damaged_file_and_retry
    def record_run_start(
        self,
        run_id: str,
        workflow: str,
        source: str,
        started_at: str,
        inputs: Mapping[str, Any],
        resumed_from: str | None = None,
        pid: int | None = None,
    ) -> None:
        """Record that a run begins, in this process unless `pid` is given."""
        pid = os.getpid() if pid is None else pid
        name = _replace_surrogates(workflow)
        row = (
            run_id,
            name,
            source,
            started_at,
            _format_masked_json(inputs),
            resumed_from,
            pid,
            _read_process_start_time(pid),
        )
        with self.file.open_or_reuse_connection(create=True) as connection, transaction(connection):
            connection.execute(_INSERT_RUN, row)
            (begun,) = connection.execute(_COUNT_EXECUTION, (name,)).fetchone()
        if begun % _RUNS_PER_PRUNE == 0:
            with suppress(DatabaseUnusable):  # the run has begun nevertheless
                self.delete_old_runs(workflow=name)

    @_replace_damaged_file_and_retry
    def record_nodes(self, run_id: str, rows: Iterable[NodeRow]) -> None:
        """Record nodes of the run that have ended. Many at once cost little more than one."""
        values = [_make_node_columns(row) for row in rows]
        with self.file.open_or_reuse_connection() as connection, transaction(connection):
            number = _get_run_number(connection, run_id)
            connection.executemany(_INSERT_NODE, ((number, *row) for row in values))

    @_replace_damaged_file_and_retry
    def record_run_end(
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
        """Record durably that the run has ended. A run that has ended before keeps its first status."""
        failed_node = failed_node and _replace_surrogates(failed_node)
        ending = (
            status,
            ended_at,
            duration_ms,
            failed_node,
            _format_masked_json(error),
            reused,
            _format_masked_json(outputs),
        )
        succeeded, failed = status == "success", status == "failed"
        with self.file.open_or_reuse_connection() as connection, commit_durably(connection), transaction(connection):
            number = _get_run_number(connection, run_id)
            if connection.execute(_UPDATE_RUN, (*ending, number)).rowcount:
                took = duration_ms if succeeded or failed else 0
                connection.execute(_COUNT_OUTCOME, (succeeded, failed, took, number))

    def has_succeeded(self, run_id: str) -> bool:
        """Return True if the run is logged as a success, False also if the log cannot be read."""
        query = "SELECT 1 FROM runs WHERE id = ? AND status = 'success'"
        try:
            with self.file.open_or_reuse_connection() as connection:
                return connection.execute(query, (_replace_surrogates(run_id),)).fetchone() is not None
        except UraniborgError:
            return False

    @_replace_damaged_file_and_retry
    def compute_statistics(self, workflow: str) -> Plain:
        """Return how often a workflow ran and how its runs ended, deleted runs included.

        Every run that began counts as an execution, but only success and failure are outcomes and make up the average.
        The last execution is the one that began last of those that have ended. The last error stays, however often the
        workflow has succeeded since.
        """
        with self.file.open_or_reuse_connection() as connection:
            tally = connection.execute(
                "SELECT * FROM tallies WHERE workflow = ?", (_replace_surrogates(workflow),)
            ).fetchone()
            last = next((run for run in _select_runs(connection, workflow) if run["status"] != "running"), None) or {}
            failure = _find_last_failure(connection, workflow) or {}
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
            "last_error": _get_error_message(failure.get("error")),
            "last_failed_node": failure.get("failed_node"),
        }

    @_replace_damaged_file_and_retry
    def count_runs(self) -> dict[str, int]:
        """Return the number of runs of each workflow."""
        with self.file.open_or_reuse_connection() as connection:
            return dict(connection.execute("SELECT workflow, executions FROM tallies"))

    @_replace_damaged_file_and_retry
    def count_recent_node_types(self) -> dict[str, int]:
        """Return how often each type of node ran among the last nodes in the log."""
        with self.file.open_or_reuse_connection() as connection:
            return dict(connection.execute(_RECENT_TYPES))

    @_replace_damaged_file_and_retry
    def find_last_failure(self, workflow: str) -> Plain | None:
        """Return the last run of the workflow that failed, without its nodes, or None."""
        with self.file.open_or_reuse_connection() as connection:
            return _find_last_failure(connection, workflow)

    @_replace_damaged_file_and_retry
    def list_runs(
        self, workflow: str | None = None, limit: int = 20, *, status: str | None = None, before: str | None = None
    ) -> list[Plain]:
        """Return the last runs of one workflow or of all, without their nodes, the latest first.

        With `status`, only runs that ended so; with `before`, only runs that began before the run of this id.
        """
        with self.file.open_or_reuse_connection() as connection:
            number = None if before is None else _get_run_number(connection, before)
            runs = _select_runs(connection, workflow, "" if number is None else "number < ?", *filter(None, [number]))
            return list(islice((run for run in runs if status in (None, run["status"])), max(0, limit)))

    @_replace_damaged_file_and_retry
    def get_run(self, id_prefix: str) -> Plain:
        """Return the run with its `nodes`. `id_prefix` may be the beginning of an id.

        Raise RunNotFound if no run, or several runs, have such an id.
        """
        start = _replace_surrogates(id_prefix)
        with self.file.open_or_reuse_connection() as connection:
            found = connection.execute(_SELECT_BY_PREFIX, (start,)).fetchall() if start else []
            found = [row for row in found if row[1] == start] or found
            if len(found) != 1:
                raise _make_not_found_error(id_prefix, [row[1] for row in found])
            rows = connection.execute("SELECT * FROM nodes WHERE run = ? ORDER BY seq", found[0][:1])
            nodes = [_parse_node_row(row).to_json() for row in rows]
            return {**_parse_run_row(found[0]), "nodes": nodes}

    @_replace_damaged_file_and_retry
    def find_resumed_run(self, run_id: str) -> str | None:
        """Return the id of the run that a run resumed, or None, also if the log no longer has either."""
        query = "SELECT earlier.id FROM runs JOIN runs AS earlier ON earlier.id = runs.resumed_from WHERE runs.id = ?"
        with self.file.open_or_reuse_connection() as connection:
            row = connection.execute(query, (_replace_surrogates(run_id),)).fetchone()
        return row[0] if row else None

    @_replace_damaged_file_and_retry
    def rename_workflow(self, old_name: str, new_name: str) -> None:
        """Give the runs and statistics of a workflow to its new name, which may have others already."""
        names = (_replace_surrogates(new_name), _replace_surrogates(old_name))
        if old_name == new_name:
            return
        with self.file.open_or_reuse_connection() as connection, transaction(connection):
            connection.execute("UPDATE runs SET workflow = ? WHERE workflow = ?", names)
            connection.execute(_JOIN_TALLIES, names)
            connection.execute("DELETE FROM tallies WHERE workflow = ?", names[1:])

    @_replace_damaged_file_and_retry
    def delete_old_runs(self, keep: int = 1_000, *, workflow: str | None = None) -> int:
        """Delete all but the last `keep` runs of the workflow, or of each, and return how many; statistics stay.

        Runs under way and the last failure of each workflow stay, too. `record_run_start` calls this from time to time.
        """
        pruned = 0
        for name in self.count_runs() if workflow is None else [workflow]:
            with self.file.open_or_reuse_connection() as connection:
                failure = _find_last_failure(connection, name) or {"id": None}
                older = list(islice(_select_runs(connection, name), keep, None))
            ids = [(run["id"],) for run in older if run["status"] != "running" and run["id"] != failure["id"]]
            for at in range(0, len(ids), 100):  # so that other processes can write in between
                with self.file.open_or_reuse_connection() as connection, transaction(connection):
                    pruned += connection.executemany("DELETE FROM runs WHERE id = ?", ids[at : at + 100]).rowcount
        return pruned

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self.file.close()


def _read_process_start_time(pid: int) -> str:
    """Return the start time of a process, which a later process with the same id does not share; "" if unknown."""
    try:
        state, *more = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return "" if state in "ZX" else more[18]


def _is_process_alive(pid: int, start_time: str) -> bool:
    """Return True if the process with this id and start time still runs."""
    if start_time or os.name == "nt":  # where `os.kill` would end it
        return not start_time or _read_process_start_time(pid) == start_time
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as exc:
        return not isinstance(exc, ProcessLookupError)
    return True


def _replace_surrogates(text: str) -> str:
    """Return the text without lone surrogates, which a database refuses."""
    return text.encode("utf-8", "replace").decode()


def _format_masked_json(value: Any) -> str | None:
    """Return the value as JSON, with secrets masked that the caller missed, cut if it is too long."""
    if value is None:
        return None
    text = json.dumps(redact(value), ensure_ascii=False, default=str)
    if len(text) > _MAX_CHARS:
        text = json.dumps({"characters": len(text), "beginning": text[:1_000]}, ensure_ascii=False)
    return _replace_surrogates(text)


def _parse_json(text: str | None) -> Any:
    return None if text is None else json.loads(text, parse_constant=lambda _: None)


def _parse_error(text: str | None) -> Any:
    """Return a stored error; of one that was cut, an error with the beginning of its text."""
    error: Plain | None = _parse_json(text)
    if error is not None and "beginning" in error and "message" not in error:
        return {"code": "error_cut", "message": error["beginning"]}
    return error


def _make_node_columns(row: NodeRow) -> tuple[Any, ...]:
    """Return the columns of a node, with secrets masked."""
    action, note, error = row.action, row.note, _format_masked_json(row.error)
    if action not in _USUAL_ACTIONS:
        action = action and _replace_surrogates(redact(action))
    note = note and _replace_surrogates(redact(note))
    return (
        row.seq,
        _replace_surrogates(row.node),
        _replace_surrogates(row.type),
        row.status,
        action,
        row.started_at,
        row.duration_ms,
        error,
        note,
        _format_masked_json(row.params),
        _format_masked_json(row.outputs),
    )


def _parse_node_row(row: tuple[Any, ...]) -> NodeRow:
    _, *columns, error, note, params, outputs = row
    return NodeRow(
        *columns, error=_parse_error(error), note=note, params=_parse_json(params), outputs=_parse_json(outputs)
    )


def _get_error_message(error: Any) -> Any:
    return cast("Plain", error).get("message", error) if isinstance(error, dict) else error


def _get_run_number(connection: sqlite3.Connection, run_id: str) -> int:
    row = connection.execute("SELECT number FROM runs WHERE id = ?", (_replace_surrogates(run_id),)).fetchone()
    if row is None:
        raise _make_not_found_error(run_id, [])
    return row[0]


def _select_runs(
    connection: sqlite3.Connection, workflow: str | None, extra_condition: str = "", *values: Any
) -> Iterator[Plain]:
    """Yield the runs of one workflow or of all that meet a condition, the latest first."""
    names = [] if workflow is None else [_replace_surrogates(workflow)]
    conditions = [*(["workflow = ?"] if names else []), *([extra_condition] if extra_condition else [])]
    chosen = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"SELECT * FROM runs {chosen} ORDER BY number DESC"  # noqa: S608 - it contains constants only
    return map(_parse_run_row, connection.execute(query, (*names, *values)))


def _find_last_failure(connection: sqlite3.Connection, workflow: str) -> Plain | None:
    return next(_select_runs(connection, workflow, "status = 'failed'"), None)


def _parse_run_row(row: tuple[Any, ...]) -> Plain:
    run = dict(zip(_COLUMNS, row[1:], strict=True))
    pid, birth = run.pop("pid"), run.pop("birth")
    if run["status"] == "running" and not _is_process_alive(pid, birth):
        run["status"] = "interrupted"
    return run | {
        "inputs": _parse_json(run["inputs"]),
        "error": _parse_error(run["error"]),
        "outputs": _parse_json(run["outputs"]),
    }


def _make_not_found_error(run_id: str, matching_ids: list[str]) -> RunNotFound:
    shown = make_printable(run_id[:80], keep="")
    if matching_ids:
        return RunNotFound(
            f"Several runs begin with '{shown}'.",
            hint=f"Give more of the id: {', '.join(matching_ids[:5])}.",
            run_id=shown,
            available=matching_ids,
        )
    return RunNotFound(f"There is no run '{shown}'.", hint="List the runs: pflow history", run_id=shown)


_COLUMNS: Final = (
    *("id", "workflow", "source", "status", "started_at", "ended_at", "duration_ms", "failed_node", "error"),
    *("reused", "resumed_from", "inputs", "outputs", "pid", "birth"),
)
_INSERT_RUN: Final = """
    INSERT INTO runs (id, workflow, source, started_at, inputs, resumed_from, pid, birth)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_COUNT_EXECUTION: Final = """
    INSERT INTO tallies (workflow, executions) VALUES (?, 1)
    ON CONFLICT DO UPDATE SET executions = executions + 1 RETURNING executions
"""
_INSERT_NODE: Final = "INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_UPDATE_RUN: Final = """
    UPDATE runs SET status = ?, ended_at = ?, duration_ms = ?, failed_node = ?, error = ?, reused = ?, outputs = ?
    WHERE number = ? AND status = 'running'
"""
_COUNT_OUTCOME: Final = """
    UPDATE tallies SET successes = successes + ?, failures = failures + ?, duration_ms = duration_ms + ?
    WHERE workflow = (SELECT workflow FROM runs WHERE number = ?)
"""
_SELECT_BY_PREFIX: Final = """
    SELECT * FROM runs WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) ORDER BY id != ?1, number LIMIT 5
"""
_JOIN_TALLIES: Final = """
    INSERT INTO tallies SELECT ?, executions, successes, failures, duration_ms FROM tallies WHERE workflow = ?
    ON CONFLICT DO UPDATE SET executions = executions + excluded.executions, successes = successes + excluded.successes,
        failures = failures + excluded.failures, duration_ms = duration_ms + excluded.duration_ms
"""
