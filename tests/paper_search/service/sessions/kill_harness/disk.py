"""Readers of the files of a server. They read copies: opening a database in place can repair it."""

import json
import shutil
import sqlite3
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any


def read_rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query in a copy of the database; [] if the table is missing."""
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


def get_sessions_folder(folder: Path) -> Path:
    return folder / "data" / "paper_search" / "sessions"


def read_journal(folder: Path, session_id: str) -> dict[str, str]:
    """Return the steps of a session in the order in which they were written."""
    return dict(
        read_rows(get_sessions_folder(folder) / f"{session_id}.db", "SELECT step, value FROM steps ORDER BY rowid")
    )


def read_pending(folder: Path) -> dict[str, str]:
    """Return the session of each pending checkpoint by checkpoint id."""
    return dict(read_rows(folder / "data" / "inbox.db", "SELECT id, subject FROM entries WHERE state = 'pending'"))


def read_inbox(folder: Path) -> dict[str, tuple[str, Any]]:
    """Return the state and the decision of every inbox entry by checkpoint id."""
    found = read_rows(folder / "data" / "inbox.db", "SELECT id, state, decision FROM entries")
    return {entry: (state, decision and json.loads(decision)) for entry, state, decision in found}
