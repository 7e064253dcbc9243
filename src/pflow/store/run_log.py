"""Log runs durably: nodes, results and durations, in one SQLite file for all processes.

Methods that write raise `DatabaseUnusable` (the disk is full or read-only, or another process holds the file),
`DatabaseNewer` (a newer version of this program made the file) or `RunNotFound` (the run was not begun here). None of
them is a reason for a run to fail. Methods that read raise the first two as well.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, Literal, ParamSpec, TypeVar, cast

from pflow.errors import RunNotFound
from pflow.store.run_log_file import RunLogFile
from pflow.store.run_log_rows import (
    END_COLUMNS,
    NODE_COLUMNS,
    RUN_COLUMNS,
    Change,
    Door,
    ItemRow,
    NodeRow,
    StoredChange,
    count_failed_items,
    delete_messages,
    format_masked_json,
    format_starter,
    insert_change,
    insert_items,
    make_node_columns,
    parse_json,
    parse_node_end,
    parse_node_row,
    parse_run_row,
    read_process_start_time,
    replace_messages,
    select_all_changes,
    select_changes,
    select_items,
    select_last_actor,
    select_messages,
)
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import make_printable
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.sqlite import DatabaseUnusable, commit_durably, transaction

if TYPE_CHECKING:
    from pflow.service.run_replies import (
        LoggedProgress,
        RunDetails,
        RunError,
        RunGraph,
        RunItemPage,
        RunNode,
        RunSummary,
    )
    from pflow.service.workflow_replies import LoggedStatistics
    from uraniborg.kernel.json_values import Json

Ending = Literal["success", "failed", "cancelled", "waiting", "interrupted"]

_P = ParamSpec("_P")
_T = TypeVar("_T")
_RUNS_PER_PRUNE: Final = 100
_MAX_GRAPH_CHARS: Final = 2_000_000


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
        inputs: "Mapping[str, Json]",
        resumed_from: str | None = None,
        pid: int | None = None,
        graph: "RunGraph | None" = None,
        door: Door | None = None,
        actor: Actor | None = None,
    ) -> None:
        """Record that a run begins, in this process unless `pid` is given. `graph` has its nodes and edges.

        `actor` is who started it, through the interface `door`.
        """
        pid = os.getpid() if pid is None else pid
        row = (
            run_id,
            workflow,
            source,
            started_at,
            format_masked_json(inputs),
            resumed_from,
            pid,
            read_process_start_time(pid),
            format_starter(door, actor),
            format_masked_json(actor.model_dump()) if actor else None,
        )
        with self.file.open_or_reuse_connection(create=True) as connection, transaction(connection):
            number = connection.execute(_INSERT_RUN, row).lastrowid
            if graph is not None and len(text := json.dumps(graph, ensure_ascii=False)) <= _MAX_GRAPH_CHARS:
                connection.execute("INSERT INTO graphs (run, graph) VALUES (?, ?)", (number, text))
            (begun,) = connection.execute(_COUNT_EXECUTION, (workflow,)).fetchone()
        if begun % _RUNS_PER_PRUNE == 0:
            with suppress(DatabaseUnusable):  # the run has begun nevertheless
                self.delete_old_runs(workflow=workflow)

    @_replace_damaged_file_and_retry
    def record_nodes(self, run_id: str, rows: Sequence[NodeRow], items: Sequence[ItemRow] = ()) -> None:
        """Record nodes and items of batches that have ended. Many at once cost little more than one."""
        values = [make_node_columns(row) for row in rows]
        with self.file.open_or_reuse_connection() as connection, transaction(connection):
            number = _get_run_number(connection, run_id)
            connection.executemany(_INSERT_NODE, ((number, *row) for row in values))
            insert_items(connection, number, items)
            delete_messages(connection, number, (row.node for row in rows if row.messages))

    @_replace_damaged_file_and_retry
    def record_messages(self, run_id: str, messages: Mapping[str, Sequence[str]]) -> None:
        """Record the last messages of nodes that run."""
        with self.file.open_or_reuse_connection() as connection, transaction(connection):
            replace_messages(connection, _get_run_number(connection, run_id), messages)

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
        warnings: Any = None,
    ) -> None:
        """Record durably that the run has ended. A run that has ended before keeps its first status."""
        ending = (
            status,
            ended_at,
            duration_ms,
            failed_node,
            format_masked_json(error),
            reused,
            format_masked_json(outputs),
            format_masked_json(warnings),
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
                return connection.execute(query, (run_id,)).fetchone() is not None
        except UraniborgError:
            return False

    @_replace_damaged_file_and_retry
    def compute_statistics(self, workflow: str) -> "LoggedStatistics":
        """Return how often a workflow ran and how its runs ended, deleted runs included.

        Every run that began counts as an execution, but only success and failure are outcomes and make up the average.
        The last execution is the one that began last of those that have ended. The last error stays, however often the
        workflow has succeeded since.
        """
        with self.file.open_or_reuse_connection() as connection:
            tally = connection.execute(_SELECT_TALLY, (workflow,)).fetchone()
            last = next((run for run in _select_runs(connection, workflow) if run["status"] != "running"), None)
            failure = _find_last_failure(connection, workflow)
        executions, successes, failures, total_ms = tally or (0, 0, 0, 0)
        outcomes = successes + failures
        return {
            "execution_count": executions,
            "success_count": successes,
            "failure_count": failures,
            "last_execution_timestamp": last and last["started_at"],
            "last_execution_success": last and last["status"] == "success",
            "last_duration_ms": last and last["duration_ms"],
            "average_duration_ms": round(total_ms / outcomes, 3) if outcomes else None,
            "last_error": failure and _get_error_message(failure["error"]),
            "last_failed_node": failure and failure["failed_node"],
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
    def find_last_failure(self, workflow: str) -> "RunSummary | None":
        """Return the last run of the workflow that failed, without its nodes, or None."""
        with self.file.open_or_reuse_connection() as connection:
            return _find_last_failure(connection, workflow)

    @_replace_damaged_file_and_retry
    def list_runs(
        self, workflow: str | None = None, limit: int = 20, *, status: str | None = None, before: str | None = None
    ) -> "list[RunSummary]":
        """Return the last runs of one workflow or of all, without their nodes, the latest first.

        With `status`, only runs that ended so; with `before`, only runs that began before the run of this id.
        """
        with self.file.open_or_reuse_connection() as connection:
            number = None if before is None else _get_run_number(connection, before)
            runs = _select_runs(connection, workflow, "" if number is None else "number < ?", *filter(None, [number]))
            return list(islice((run for run in runs if status in (None, run["status"])), max(0, limit)))

    @_replace_damaged_file_and_retry
    def get_run(self, id_prefix: str) -> "RunDetails":
        """Return the run with its `nodes`. `id_prefix` may be the beginning of an id.

        Raise RunNotFound if no run, or several runs, have such an id.
        """
        with self.file.open_or_reuse_connection() as connection:
            run = _find_run_row(connection, id_prefix)
            rows = connection.execute(f"{_SELECT_NODES} ORDER BY seq", run[:1])
            return {**parse_run_row(run), "nodes": [parse_node_row(row).to_json() for row in rows]}

    @_replace_damaged_file_and_retry
    def get_progress(self, id_prefix: str, after: int = 0, limit: int = 1_000) -> "LoggedProgress":
        """Return the run, its graph, and the nodes that ended after the one with this `seq`, without their values.

        `failed_items` of a node is the number of items of a batch that failed, or None.
        `next` is the `seq` to continue after, or None if there are no more nodes yet. Raise RunNotFound.
        """
        with self.file.open_or_reuse_connection() as connection:
            run = _find_run_row(connection, id_prefix)
            rows = connection.execute(_SELECT_ENDS, (run[0], after, limit)).fetchall()
            graph = connection.execute("SELECT graph FROM graphs WHERE run = ?", run[:1]).fetchone()
            failed = count_failed_items(connection, run[0]) if rows else {}
        return {
            "run": parse_run_row(run),
            "graph": parse_json(graph[0]) if graph else None,
            "nodes": [parse_node_end(row, failed) for row in rows],
            "next": rows[-1][0] if len(rows) == limit else None,
        }

    @_replace_damaged_file_and_retry
    def get_node(self, id_prefix: str, seq: int) -> "RunNode":
        """Return a node of a run with its values. Raise RunNotFound, also if the run has no such node."""
        with self.file.open_or_reuse_connection() as connection:
            run = _find_run_row(connection, id_prefix)
            row = connection.execute(f"{_SELECT_NODES} AND seq = ?", (run[0], seq)).fetchone()
        if row is None:
            raise RunNotFound(f"The run has no node {seq}.", hint="List its nodes: pflow show RUN", run_id=run[1])
        return parse_node_row(row).to_json()

    @_replace_damaged_file_and_retry
    def list_items(
        self, id_prefix: str, node: str, *, status: str | None = None, after: int = -1, limit: int = 100
    ) -> "RunItemPage":
        """Return items of a batch in their order, see `select_items`. Raise RunNotFound."""
        with self.file.open_or_reuse_connection() as connection:
            return select_items(connection, _find_run_row(connection, id_prefix)[0], node, status, after, limit)

    @_replace_damaged_file_and_retry
    def list_messages(self, id_prefix: str, node: str) -> list[str]:
        """Return the last messages of a node that runs. Raise RunNotFound."""
        with self.file.open_or_reuse_connection() as connection:
            return select_messages(connection, _find_run_row(connection, id_prefix)[0], node)

    @_replace_damaged_file_and_retry
    def find_ended_nodes(self, run_id: str, nodes: Iterable[str]) -> set[str]:
        """Return those of the nodes that the log has as ended. Raise RunNotFound."""
        query = "SELECT DISTINCT node FROM nodes WHERE run = ? AND node IN (SELECT value FROM json_each(?))"
        with self.file.open_or_reuse_connection() as connection:
            number = _get_run_number(connection, run_id)
            return {node for (node,) in connection.execute(query, (number, json.dumps(list(nodes))))}

    @_replace_damaged_file_and_retry
    def find_resumed_run(self, run_id: str) -> str | None:
        """Return the id of the run that a run resumed, or None, also if the log no longer has either."""
        query = "SELECT earlier.id FROM runs JOIN runs AS earlier ON earlier.id = runs.resumed_from WHERE runs.id = ?"
        with self.file.open_or_reuse_connection() as connection:
            row = connection.execute(query, (run_id,)).fetchone()
        return row[0] if row else None

    @_replace_damaged_file_and_retry
    def find_later_run(self, run_id: str) -> str | None:
        """Return the id of the last run that resumed a run which did not succeed, or None."""
        query = """
            SELECT later.id FROM runs JOIN runs AS later ON later.workflow = runs.workflow
            WHERE runs.id = ? AND runs.status <> 'success'
            AND later.number > runs.number AND later.resumed_from = runs.id ORDER BY later.number DESC LIMIT 1
        """
        with self.file.open_or_reuse_connection() as connection:
            row = connection.execute(query, (run_id,)).fetchone()
        return row[0] if row else None

    @_replace_damaged_file_and_retry
    def record_change(self, change: Change, subject: str, revision: str, actor: Actor) -> None:
        """Record durably who makes a change."""
        with (
            self.file.open_or_reuse_connection(create=True) as connection,
            commit_durably(connection),
            transaction(connection),
        ):
            insert_change(connection, change, subject, revision, actor)

    @_replace_damaged_file_and_retry
    def list_change_actors(self, change: Change) -> dict[tuple[str, str], Actor | None]:
        """Return who made the last change of this kind, by subject and revision."""
        with self.file.open_or_reuse_connection() as connection:
            return select_changes(connection, change)

    @_replace_damaged_file_and_retry
    def list_changes(self) -> list[StoredChange]:
        """Return the changes that are stored: the last ones of each kind and subject, the last one last."""
        with self.file.open_or_reuse_connection() as connection:
            return select_all_changes(connection)

    @_replace_damaged_file_and_retry
    def find_change_actor(self, change: Change, subject: str, revision: str = "") -> Actor | None:
        """Return who made the last change of this subject and revision, or None if that is not known."""
        with self.file.open_or_reuse_connection() as connection:
            return select_last_actor(connection, change, subject, revision)

    @_replace_damaged_file_and_retry
    def rename_workflow(self, old_name: str, new_name: str) -> None:
        """Give the runs and statistics of a workflow to its new name, which may have others already."""
        if old_name == new_name:
            return
        names = (new_name, old_name)
        with self.file.open_or_reuse_connection() as connection, transaction(connection):
            connection.execute("UPDATE runs SET workflow = ? WHERE workflow = ?", names)
            connection.execute(_JOIN_TALLIES, names)
            connection.execute("DELETE FROM tallies WHERE workflow = ?", names[1:])

    @_replace_damaged_file_and_retry
    def delete_old_runs(self, keep: int = 1_000, *, workflow: str | None = None, actor: Actor | None = None) -> int:
        """Delete all but the last `keep` runs of the workflow, or of each, and return how many; statistics stay.

        Runs under way and the last failure of each workflow stay, too. `record_run_start` calls this from time to time.
        `actor` is who asks for it, by default the program that runs this process.
        """
        pruned = 0
        for name in self.count_runs() if workflow is None else [workflow]:
            with self.file.open_or_reuse_connection() as connection:
                failure = _find_last_failure(connection, name)
                older = list(islice(_select_runs(connection, name), keep, None))
            ids = [
                (run["id"],) for run in older if run["status"] != "running" and run["id"] != (failure and failure["id"])
            ]
            for at in range(0, len(ids), 100):  # so that other processes can write in between
                with self.file.open_or_reuse_connection() as connection, transaction(connection):
                    count = connection.executemany("DELETE FROM runs WHERE id = ?", ids[at : at + 100]).rowcount
                pruned += count
                record_change("runs deleted", name, actor, runs=count, reason=f"older than the last {keep:,}")
        return pruned

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        self.file.close()


def _find_run_row(connection: sqlite3.Connection, id_prefix: str) -> tuple[Any, ...]:
    """Return the row of the run with this id, or with an id that begins so. Raise RunNotFound."""
    found = connection.execute(_SELECT_BY_PREFIX, (id_prefix,)).fetchall() if id_prefix else []
    found = [row for row in found if row[1] == id_prefix] or found
    if len(found) != 1:
        raise _make_not_found_error(id_prefix, [row[1] for row in found])
    return found[0]


def _get_error_message(error: Any) -> Any:
    """Return the message of an error; of something else that a run recorded as its error, all of it."""
    return cast("RunError", error).get("message", error) if isinstance(error, dict) else error


def _get_run_number(connection: sqlite3.Connection, run_id: str) -> int:
    row = connection.execute("SELECT number FROM runs WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise _make_not_found_error(run_id, [])
    return row[0]


def _select_runs(
    connection: sqlite3.Connection, workflow: str | None, extra_condition: str = "", *values: Any
) -> "Iterator[RunSummary]":
    """Yield the runs of one workflow or of all that meet a condition, the latest first."""
    names = [] if workflow is None else [workflow]
    conditions = [*(["workflow = ?"] if names else []), *([extra_condition] if extra_condition else [])]
    chosen = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"{_SELECT_RUNS} {chosen} ORDER BY number DESC"
    return map(parse_run_row, connection.execute(query, (*names, *values)))


def _find_last_failure(connection: sqlite3.Connection, workflow: str) -> "RunSummary | None":
    return next(_select_runs(connection, workflow, "status = 'failed'"), None)


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


_SELECT_RUNS: Final = f"SELECT {', '.join(RUN_COLUMNS)} FROM runs"  # noqa: S608 - constants only
_SELECT_NODES: Final = f"SELECT {', '.join(NODE_COLUMNS)} FROM nodes WHERE run = ?"  # noqa: S608 - constants only
_SELECT_ENDS: Final = f"""
    SELECT {", ".join(END_COLUMNS)}, error FROM nodes WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?
"""  # noqa: S608 - constants only
_INSERT_RUN: Final = """
    INSERT INTO runs (id, workflow, source, started_at, inputs, resumed_from, pid, birth, starter, actor)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_COUNT_EXECUTION: Final = """
    INSERT INTO tallies (workflow, executions) VALUES (?, 1)
    ON CONFLICT DO UPDATE SET executions = executions + 1 RETURNING executions
"""
_INSERT_NODE: Final = """
    INSERT OR REPLACE INTO nodes
        (run, seq, node, type, status, action, started_at, duration_ms, error, note, params, outputs, inputs, messages)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE_RUN: Final = """
    UPDATE runs SET status = ?, ended_at = ?, duration_ms = ?, failed_node = ?, error = ?, reused = ?, outputs = ?,
        warnings = ?
    WHERE number = ? AND status = 'running'
"""
_COUNT_OUTCOME: Final = """
    UPDATE tallies SET successes = successes + ?, failures = failures + ?, duration_ms = duration_ms + ?
    WHERE workflow = (SELECT workflow FROM runs WHERE number = ?)
"""
_SELECT_BY_PREFIX: Final = f"""
    {_SELECT_RUNS} WHERE id >= ?1 AND id < ?1 || char(0x10FFFF) ORDER BY id != ?1, number LIMIT 5
"""
_SELECT_TALLY: Final = "SELECT executions, successes, failures, duration_ms FROM tallies WHERE workflow = ?"
_JOIN_TALLIES: Final = """
    INSERT INTO tallies (workflow, executions, successes, failures, duration_ms)
    SELECT ?, executions, successes, failures, duration_ms FROM tallies WHERE workflow = ?
    ON CONFLICT DO UPDATE SET executions = executions + excluded.executions, successes = successes + excluded.successes,
        failures = failures + excluded.failures, duration_ms = duration_ms + excluded.duration_ms
"""
