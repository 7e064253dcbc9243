"""Convert runs, nodes, items, messages and changes between rows of SQLite and plain objects, with secrets masked."""

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

import orjson

from pflow.domain.ir.model import DEFAULT_ACTION, ERROR_ACTION
from pflow.domain.run_events import NodeStatus
from pflow.errors import RunInterrupted
from uraniborg.kernel.actors import Actor, decode_actor, read_actor
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.clock import SystemClock, format_iso
from uraniborg.kernel.logging import redact
from uraniborg.kernel.store.sqlite import Migration

if TYPE_CHECKING:
    from pflow.service.run_replies import NodeResult, RunError, RunItem, RunItemPage, RunNode, RunSummary


Door = Literal["console", "terminal", "schedule", "mcp"]
"""The interface through which a run is started."""

_MAX_CHARS: Final = 100_000
"""Characters of JSON that one value may take; of a longer value only the beginning is stored."""
_USUAL_ACTIONS: Final = (DEFAULT_ACTION, ERROR_ACTION)
_NODE_VALUES: Final = ("params", "outputs", "inputs", "messages")
_PROCESS_ENDED: Final["RunError"] = {
    "code": RunInterrupted.code,
    "message": "The run was interrupted: its process has ended.",
    "hint": "Run it again to resume it.",
}
RUN_COLUMNS: Final = (
    "number",
    *("id", "workflow", "source", "status", "started_at", "ended_at", "duration_ms", "failed_node", "error"),
    *("reused", "resumed_from", "inputs", "outputs", "pid", "birth", "warnings", "starter", "actor"),
)
"""Selected by name, so that a run continues when a newer version adds a column to the file."""
END_COLUMNS: Final = ("seq", "node", "type", "status", "action", "started_at", "duration_ms", "note")
NODE_COLUMNS: Final = (*END_COLUMNS[:-1], "error", "note", *_NODE_VALUES)


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
    inputs: Any = None
    """The values of the parameters, if they differ from `params`; JSON."""
    messages: Any = None
    """The last messages of the node; JSON."""

    def to_json(self) -> "RunNode":
        """Return the node as JSON; without the values that the log does not have."""
        fields = self._asdict().items()
        node: Any = {name: value for name, value in fields if value is not None or name not in _NODE_VALUES}
        return node


def read_process_start_time(pid: int) -> str:
    """Return the start time of a process, which a later process with the same id does not share; "" if unknown."""
    try:
        state, *more = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (OSError, ValueError):
        return ""
    return "" if state in "ZX" else more[18]


def _is_process_alive(pid: int, start_time: str) -> bool:
    """Return True if the process with this id and start time still runs."""
    if start_time or os.name == "nt":  # where `os.kill` would end it
        return not start_time or read_process_start_time(pid) == start_time
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as exc:
        return not isinstance(exc, ProcessLookupError)
    return True


def format_masked_json(value: Any) -> str | None:
    """Return the value as JSON, with secrets masked that the caller missed, cut if it is too long."""
    if value is None:
        return None
    masked = redact(value)
    try:
        text = orjson.dumps(masked, default=str).decode()
    except TypeError:  # a key that is not a text, a very large number, or the path of a file
        text = make_encodable(json.dumps(masked, ensure_ascii=False, default=str))
    if len(text) > _MAX_CHARS:
        text = json.dumps({"characters": len(text), "beginning": text[:1_000]}, ensure_ascii=False)
    return text


def parse_json(text: str | None) -> Any:
    return None if text is None else json.loads(text, parse_constant=lambda _: None)


def parse_error(text: str | None) -> "RunError | None":
    """Return a stored error; of one that was cut, an error with the beginning of its text."""
    error = parse_json(text)
    if error is not None and "beginning" in error and "message" not in error:
        return {"code": "error_cut", "message": error["beginning"]}
    return error


def make_node_columns(row: NodeRow) -> tuple[Any, ...]:
    """Return the columns of a node, with secrets masked."""
    action, note, error = row.action, row.note, format_masked_json(row.error)
    if action not in _USUAL_ACTIONS:
        action = action and redact(action)
    note = note and redact(note)
    return (
        row.seq,
        row.node,
        row.type,
        row.status,
        action,
        row.started_at,
        row.duration_ms,
        error,
        note,
        *(format_masked_json(getattr(row, name)) for name in _NODE_VALUES),
    )


def parse_node_row(row: tuple[Any, ...]) -> NodeRow:
    columns = dict(zip(NODE_COLUMNS, row, strict=True))
    columns |= {name: parse_json(columns[name]) for name in _NODE_VALUES}
    return NodeRow(**columns)._replace(error=parse_error(columns["error"]))


def parse_node_end(row: tuple[Any, ...], failed_items: Mapping[str, int]) -> "NodeResult":
    *columns, error = row
    end: Any = dict(zip(END_COLUMNS, columns, strict=True))
    return end | {"error": parse_error(error), "failed_items": failed_items.get(end["node"])}


def parse_run_row(row: tuple[Any, ...]) -> "RunSummary":
    run: Any = dict(zip(RUN_COLUMNS[1:], row[1:], strict=True))
    pid, birth, starter = run.pop("pid"), run.pop("birth"), parse_json(run.pop("starter"))
    actor = read_actor(parse_json(run.pop("actor")))
    if run["status"] == "running" and not _is_process_alive(pid, birth):
        run["status"] = "interrupted"
    return run | {
        "inputs": parse_json(run["inputs"]),
        "error": parse_error(run["error"]) or (_PROCESS_ENDED if run["status"] == "interrupted" else None),
        "outputs": parse_json(run["outputs"]),
        "warnings": parse_texts(run["warnings"]),
        **({"starter": starter} if starter else {}),
        "actor": actor and actor.model_dump(),
    }


def format_starter(door: Door | None, actor: Actor | None) -> str | None:
    """Return the interface and the name of who started a run as JSON; None if there was no interface."""
    return format_masked_json({"door": door, "name": actor.name}) if door and actor else None


def parse_texts(text: str | None) -> list[str]:
    """Return stored warnings or messages; none for a run of an older version. Of texts that were cut, the beginning."""
    found: Any = parse_json(text) or []
    return cast("list[str]", found) if isinstance(found, list) else [found["beginning"]]


ITEMS_AND_MESSAGES: Final = (
    "items_and_messages",
    """
    CREATE TABLE items (
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, node TEXT NOT NULL, item INTEGER NOT NULL,
        status TEXT NOT NULL, duration_ms NUMERIC, error TEXT, value TEXT, outputs TEXT, PRIMARY KEY (run, node, item)
    ) WITHOUT ROWID;
    CREATE TABLE messages (
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, node TEXT NOT NULL, texts TEXT NOT NULL,
        PRIMARY KEY (run, node)
    ) WITHOUT ROWID;
    """,
)
Change = Literal["write", "cancel", "resume", "schedule", "unschedule", "connect", "disconnect"]
"""`write`: a text was stored. `cancel`, `resume`: a run, which a decision resumed. `schedule`, `unschedule`: a
workflow. The others: an MCP server."""

CHANGES: Final[Migration] = (
    "actors",
    """
    ALTER TABLE runs ADD COLUMN actor TEXT;
    CREATE TABLE changes (
        number INTEGER PRIMARY KEY, at TEXT NOT NULL, change TEXT NOT NULL, subject TEXT NOT NULL,
        revision TEXT NOT NULL, actor TEXT NOT NULL
    );
    CREATE INDEX changes_of_a_subject ON changes (change, subject);
    """,
)
_INSERT_CHANGE: Final = "INSERT INTO changes (at, change, subject, revision, actor) VALUES (?, ?, ?, ?, ?)"
_DROP_OLD_CHANGES: Final = """
    DELETE FROM changes WHERE change = ?1 AND subject = ?2 AND number NOT IN
    (SELECT number FROM changes WHERE change = ?1 AND subject = ?2 ORDER BY number DESC LIMIT 20)
"""
_SELECT_CHANGES: Final = "SELECT subject, revision, actor FROM changes WHERE change = ? ORDER BY number"
_SELECT_ALL_CHANGES: Final = "SELECT at, change, subject, actor FROM changes ORDER BY number"
_SELECT_LAST_ACTOR: Final = """
    SELECT actor FROM changes WHERE change = ? AND subject = ? AND revision = ? ORDER BY number DESC LIMIT 1
"""


class ItemRow(NamedTuple):
    """How one item of a batch ended. `item` is its index; values that are None are not stored."""

    node: str
    item: int
    status: NodeStatus
    duration_ms: float
    error: Any = None
    value: Any = None
    outputs: Any = None


def insert_items(connection: sqlite3.Connection, run_number: int, rows: Iterable[ItemRow]) -> None:
    """Store items, with secrets masked."""
    values = ((run_number, row.node, *row[1:4], *map(format_masked_json, row[4:])) for row in rows)
    connection.executemany(_INSERT_ITEM, values)


def select_items(
    connection: sqlite3.Connection, run_number: int, node: str, status: str | None, after: int, limit: int
) -> "RunItemPage":
    """Return items of a batch after the item with this index, and the number of items with each status.

    `next` is the index to continue after, or None if there are no more items yet.
    """
    batch = {"run": run_number, "node": node}
    counts = dict(connection.execute(_COUNT_ITEMS, batch))
    page = {**batch, "status": status, "after": after, "limit": limit}
    rows = connection.execute(_SELECT_ITEMS, page).fetchall()
    return {
        "items": [_parse_item(row) for row in rows],
        "next": rows[-1][0] if len(rows) == limit else None,
        "counts": counts,
    }


def count_failed_items(connection: sqlite3.Connection, run_number: int) -> dict[str, int]:
    """Return the number of failed items of each batch that has some."""
    query = "SELECT node, count(*) FROM items WHERE run = ? AND status = 'failed' GROUP BY node"
    return dict(connection.execute(query, (run_number,)))


def replace_messages(connection: sqlite3.Connection, run_number: int, messages: Mapping[str, Sequence[str]]) -> None:
    """Store the messages of nodes that run, with secrets masked. They replace earlier ones."""
    values = ((run_number, node, format_masked_json(texts)) for node, texts in messages.items())
    connection.executemany("INSERT OR REPLACE INTO messages (run, node, texts) VALUES (?, ?, ?)", values)


def delete_messages(connection: sqlite3.Connection, run_number: int, nodes: Iterable[str]) -> None:
    """Delete the messages of nodes that have ended: their rows have them."""
    values = ((run_number, node) for node in nodes)
    connection.executemany("DELETE FROM messages WHERE run = ? AND node = ?", values)


def select_messages(connection: sqlite3.Connection, run_number: int, node: str) -> list[str]:
    """Return the messages of a node that runs."""
    query = "SELECT texts FROM messages WHERE run = ? AND node = ?"
    row = connection.execute(query, (run_number, node)).fetchone()
    return parse_texts(row[0] if row else None)


def _parse_item(row: tuple[Any, ...]) -> "RunItem":
    item, status, duration_ms, error, value, outputs = row
    return {
        "item": item,
        "status": status,
        "duration_ms": duration_ms,
        "error": parse_error(error),
        "value": parse_json(value),
        "outputs": parse_json(outputs),
    }


_INSERT_ITEM: Final = """
    INSERT OR REPLACE INTO items (run, node, item, status, duration_ms, error, value, outputs)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_COUNT_ITEMS: Final = "SELECT status, count(*) FROM items WHERE run = :run AND node = :node GROUP BY status"
_SELECT_ITEMS: Final = """
    SELECT item, status, duration_ms, error, value, outputs FROM items
    WHERE run = :run AND node = :node AND item > :after AND (:status IS NULL OR status = :status)
    ORDER BY item LIMIT :limit
"""


class StoredChange(NamedTuple):
    """A change of the table: when, what, of what, and by whom if that can be read."""

    at: str
    change: str
    subject: str
    actor: Actor | None


def insert_change(connection: sqlite3.Connection, change: Change, subject: str, revision: str, actor: Actor) -> None:
    """Store a change, and drop all but the last changes of this kind and subject."""
    now = format_iso(SystemClock().now())
    connection.execute(_INSERT_CHANGE, (now, change, subject, revision, actor.model_dump_json()))
    connection.execute(_DROP_OLD_CHANGES, (change, subject))


def select_changes(connection: sqlite3.Connection, change: Change) -> dict[tuple[str, str], Actor | None]:
    """Return who made the last change of this kind, by subject and revision, the last change last."""
    found: dict[tuple[str, str], Actor | None] = {}
    for subject, revision, actor in connection.execute(_SELECT_CHANGES, (change,)):
        found.pop((subject, revision), None)
        found[subject, revision] = decode_actor(actor)
    return found


def select_last_actor(connection: sqlite3.Connection, change: Change, subject: str, revision: str) -> Actor | None:
    """Return who made the last change of this subject and revision, or None if that is not known."""
    row = connection.execute(_SELECT_LAST_ACTOR, (change, subject, revision)).fetchone()
    return decode_actor(row[0]) if row else None


def select_all_changes(connection: sqlite3.Connection) -> list[StoredChange]:
    """Return the changes of all kinds that are stored, the last one last."""
    return [
        StoredChange(at, change, subject, decode_actor(actor))
        for at, change, subject, actor in connection.execute(_SELECT_ALL_CHANGES)
    ]
