"""Log what a run has beside nodes: items of batches, and messages of nodes that run; and who changed what."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pflow.engine.progress_output import NodeStatus
from pflow.engine.runlog_rows import format_masked_json, parse_error, parse_json, parse_texts
from uraniborg.kernel.actors import Actor, decode_actor
from uraniborg.kernel.clock import SystemClock, format_iso
from uraniborg.kernel.sqlite import Migration

if TYPE_CHECKING:
    from pflow.run_replies import RunItem, RunItemPage

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
