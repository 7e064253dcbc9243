"""What a server leaves on disk. It is read from copies: looking at a database in its place can also mend it."""

import json
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    """What a query gives in a database as a killed server left it; nothing where the table is missing."""
    with tempfile.TemporaryDirectory() as scratch:
        for ending in ("", "-wal", "-journal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{database}{ending}", f"{scratch}/copy{ending}")
        with closing(sqlite3.connect(f"{scratch}/copy")) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            try:
                return connection.execute(query).fetchall()
            except sqlite3.OperationalError as exc:
                if "no such table" in str(exc):
                    return []
                raise


def sessions_in(folder: Path) -> Path:
    return folder / "data" / "paper_search" / "sessions"


def journal_of(folder: Path, session_id: str) -> dict[str, str]:
    """The steps of a session in the order they were written."""
    return dict(rows(sessions_in(folder) / f"{session_id}.db", "SELECT step, value FROM steps ORDER BY rowid"))


def pending_in(folder: Path) -> dict[str, str]:
    """The checkpoints that wait in the inbox, and their sessions."""
    return dict(rows(folder / "data" / "inbox.db", "SELECT id, subject FROM entries WHERE state = 'pending'"))


def inbox_in(folder: Path) -> dict[str, tuple[str, Any]]:
    """The state and the decision of every entry of the inbox, by the id of its checkpoint."""
    found = rows(folder / "data" / "inbox.db", "SELECT id, state, decision FROM entries")
    return {entry: (state, decision and json.loads(decision)) for entry, state, decision in found}
