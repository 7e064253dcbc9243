"""Log who wrote which text, cancelled which run, or scheduled which workflow."""

import sqlite3
from typing import Final, Literal, NamedTuple

from uraniborg.kernel.actors import Actor, decode_actor
from uraniborg.kernel.clock import SystemClock, format_iso
from uraniborg.kernel.sqlite import Migration

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
_INSERT: Final = "INSERT INTO changes (at, change, subject, revision, actor) VALUES (?, ?, ?, ?, ?)"
_FORGET: Final = """
    DELETE FROM changes WHERE change = ?1 AND subject = ?2 AND number NOT IN
    (SELECT number FROM changes WHERE change = ?1 AND subject = ?2 ORDER BY number DESC LIMIT 20)
"""
_SELECT: Final = "SELECT subject, revision, actor FROM changes WHERE change = ? ORDER BY number"
_SELECT_ALL: Final = "SELECT at, change, subject, actor FROM changes ORDER BY number"
_SELECT_LAST: Final = """
    SELECT actor FROM changes WHERE change = ? AND subject = ? AND revision = ? ORDER BY number DESC LIMIT 1
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
    connection.execute(_INSERT, (now, change, subject, revision, actor.model_dump_json()))
    connection.execute(_FORGET, (change, subject))


def select_changes(connection: sqlite3.Connection, change: Change) -> dict[tuple[str, str], Actor | None]:
    """Return who made the last change of this kind, by subject and revision, the last change last."""
    found: dict[tuple[str, str], Actor | None] = {}
    for subject, revision, actor in connection.execute(_SELECT, (change,)):
        found.pop((subject, revision), None)
        found[subject, revision] = decode_actor(actor)
    return found


def select_last_actor(connection: sqlite3.Connection, change: Change, subject: str, revision: str) -> Actor | None:
    """Return who made the last change of this subject and revision, or None if that is not known."""
    row = connection.execute(_SELECT_LAST, (change, subject, revision)).fetchone()
    return decode_actor(row[0]) if row else None


def select_all_changes(connection: sqlite3.Connection) -> list[StoredChange]:
    """Return the changes of all kinds that are stored, the last one last."""
    return [
        StoredChange(at, change, subject, decode_actor(actor))
        for at, change, subject, actor in connection.execute(_SELECT_ALL)
    ]
