"""The tables that hold universes in SQLite, and the work done in them inside a transaction."""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from universe.errors import LogDamaged, UniverseNotFound
from universe.store.mark_file import MarkFile
from universe.store.marks import Head
from universe.store.port import Entry, Record, Superseded
from uraniborg.kernel.errors import Conflict

_ROWS: Final = 100
_ROW: Final = "(?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT: Final = [f"INSERT INTO log VALUES {', '.join([_ROW] * rows)}" for rows in range(_ROWS + 1)]  # noqa: S608
HEADS: Final = """
    SELECT universes.id, created_at, universes.version, CAST(ifnull(digest, x'') AS BLOB) FROM universes
    LEFT JOIN log ON log.universe_id = universes.id AND log.version = universes.version
"""

MIGRATIONS: Final = [
    (
        "0001 universes",
        """
        CREATE TABLE universes (
          id TEXT PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL,
          created_at TEXT NOT NULL, updated_at TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX universes_by_age ON universes (created_at DESC, id DESC);
        CREATE TABLE log (
          universe_id TEXT NOT NULL, version INTEGER NOT NULL, kind TEXT NOT NULL,
          body BLOB NOT NULL, events BLOB NOT NULL, at TEXT NOT NULL, digest BLOB NOT NULL,
          PRIMARY KEY (universe_id, version)
        ) WITHOUT ROWID;
        CREATE TABLE snapshots (
          universe_id TEXT NOT NULL REFERENCES universes (id) ON DELETE CASCADE,
          version INTEGER NOT NULL, state BLOB NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (universe_id, version)
        );
        CREATE TABLE keys (
          universe_id TEXT NOT NULL REFERENCES universes (id) ON DELETE CASCADE,
          key TEXT NOT NULL, request BLOB NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
          PRIMARY KEY (universe_id, key)
        ) WITHOUT ROWID;
        """,
    ),
    ("0002 authors", "ALTER TABLE log ADD COLUMN author TEXT;"),
]


def create(connection: sqlite3.Connection, record: Record, entries: Sequence[Entry]) -> Head:
    taken = connection.execute("SELECT 1 FROM universes WHERE id = ?", (record.id,)).fetchone()
    if taken is not None:
        raise Conflict(f"There is a universe '{record.id}' already.", hint="Choose another id.", universeId=record.id)
    connection.execute("INSERT INTO universes VALUES (?, ?, ?, ?, ?)", record)
    _insert(connection, [(record.id, *entry) for entry in entries])
    return Head(record.id, record.created_at, record.version, entries[-1].digest if entries else b"")


def delete(connection: sqlite3.Connection, universe_id: str, marks: MarkFile | None) -> bool:
    there = connection.execute("SELECT created_at FROM universes WHERE id = ?", (universe_id,)).fetchone()
    if there and marks is not None:
        marks.forget(universe_id, there[0])
    # The log refers to no other table, which would be looked up for every entry written.
    connection.execute("DELETE FROM log WHERE universe_id = ?", (universe_id,))
    return connection.execute("DELETE FROM universes WHERE id = ?", (universe_id,)).rowcount == 1


def append(
    connection: sqlite3.Connection,
    universe_id: str,
    expected: int,
    rows: list[tuple[Any, ...]],
    uses: list[Any],
    made_at: str | None,
) -> Head:
    sql = (
        "UPDATE universes SET version = ?, updated_at = ? "
        "WHERE id = ? AND version = ? AND created_at = ifnull(?, created_at) RETURNING created_at"
    )
    values = (expected + len(rows), rows[-1][5], universe_id, expected, made_at)
    moved = connection.execute(sql, values).fetchall()
    if not moved:
        sql = "SELECT version FROM universes WHERE id = ? AND created_at = ifnull(?, created_at)"
        found = connection.execute(sql, (universe_id, made_at)).fetchone()
        raise Superseded(found[0]) if found else UniverseNotFound(universe_id)
    try:
        _insert(connection, rows)
    except sqlite3.IntegrityError as exc:
        raise LogDamaged(
            f"The log of universe {universe_id} goes on after version {expected}, where it should end.",
            hint="`universe verify` lists all damage.",
            universeId=universe_id,
            sequence=expected + 1,
        ) from exc
    if uses:
        connection.executemany("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?)", uses)
    return Head(universe_id, moved[0][0], expected + len(rows), rows[-1][6])


def _insert(connection: sqlite3.Connection, rows: list[tuple[Any, ...]]) -> None:
    """Insert many rows with each statement: between statements the interpreter may run another thread for long."""
    for first in range(0, len(rows), _ROWS):
        some = rows[first : first + _ROWS]
        connection.execute(_INSERT[len(some)], [value for row in some for value in row])
