"""The inbox: questions that wait for the decision of a person, stored on disk and each decided once."""

import asyncio
import json
import sqlite3
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from uraniborg.kernel.actors import Actor, decode_actor, describe_actor
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.settings import secure_own_folder
from uraniborg.kernel.store.change_feed import FEED_FOLDER, ChangeFeed, NullPublisher, Publisher
from uraniborg.kernel.store.inbox_entries import (
    AlreadyDecided,
    DecisionNotFound,
    DecisionWithdrawn,
    EntryPage,
    InboxDecision,
    InboxEntry,
    Position,
    State,
    describe_decision,
)
from uraniborg.kernel.store.sqlite import (
    DatabaseUnusable,
    Migration,
    connect_or_read,
    migrate,
    transaction,
    translate_read_errors,
)

__all__ = [
    "AlreadyDecided",
    "DecisionNotFound",
    "DecisionWithdrawn",
    "EntryPage",
    "Inbox",
    "InboxDecision",
    "InboxEntry",
    "InboxPort",
    "MemoryInbox",
    "Position",
    "State",
    "describe_decision",
]


class InboxPort(Protocol):
    """The interface of an inbox. All methods but `wait_decided` may block: call them in a thread."""

    def put(self, entry_id: str, part: str, kind: str, subject: str, payload: Mapping[str, object]) -> InboxEntry: ...

    def get(self, entry_id: str) -> InboxEntry: ...

    def pending(self, part: str | None = None) -> list[InboxEntry]: ...

    def count_pending(self) -> dict[str, int]: ...

    def map_pending(self, part: str) -> dict[str, str]: ...

    def list_entries(
        self,
        state: State | None = None,
        part: str | None = None,
        before: Position | None = None,
        limit: int = 50,
        *,
        after: Position | None = None,
    ) -> EntryPage: ...

    def beginning_with(self, start: str) -> list[InboxEntry]: ...

    def settled(self, ids: Sequence[str]) -> list[InboxEntry]: ...

    def missing(self, ids: Sequence[str]) -> set[str]: ...

    def decide(self, entry_id: str, decision: InboxDecision, door: str, actor: Actor | None = None) -> InboxEntry: ...

    def withdraw(self, entry_id: str) -> InboxEntry: ...

    def reopen(self, entry_id: str) -> InboxEntry: ...

    def archive(self, entry_id: str) -> None: ...

    def forget(self, part: str, subject: str) -> None: ...

    def revision(self) -> tuple[int, int]: ...

    async def wait_decided(
        self, entry_id: str, timeout_s: float | None = None, poll_s: float = 0.05
    ) -> InboxEntry | None: ...

    def close(self) -> None: ...


class Inbox:
    """The inbox in a SQLite file, by default `inbox.db` in the data folder.

    Any number of processes and threads may use the same file at once, each process with its own Inbox. Every change is
    announced in `feed`, by default the feed beside the file.
    """

    def __init__(self, path: Path | None = None, clock: Clock | None = None, feed: Publisher | None = None) -> None:
        self._path = path or secure_own_folder("data") / "inbox.db"
        self._feed = feed or ChangeFeed(self._path.parent / FEED_FOLDER)
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._opened: sqlite3.Connection | None = None
        self._own_changes = 0

    def put(self, entry_id: str, part: str, kind: str, subject: str, payload: Mapping[str, object]) -> InboxEntry:
        """Add a question. Do not change an existing entry or its decision.

        Raise InvalidInput if the payload is not JSON.
        """
        text = _encode_json(payload, label="payload")
        now = self._clock.now().isoformat()
        with self._use_connection() as connection, transaction(connection):
            connection.execute(
                "INSERT INTO entries (id, part, kind, subject, payload, created_at, changed)"
                " VALUES (?, ?, ?, ?, ?, ?, (SELECT coalesce(max(changed), 0) + 1 FROM entries))"
                " ON CONFLICT (id) DO NOTHING",
                (entry_id, part, kind, subject, text, now),
            )
            entry = _read_entry(connection, entry_id)
        return self._announce(entry)

    def get(self, entry_id: str) -> InboxEntry:
        """Return the entry with this id, or the last one that was archived under it. Raise DecisionNotFound."""
        with self._use_connection() as connection, translate_read_errors(connection):
            try:
                return _read_entry(connection, entry_id)
            except DecisionNotFound:
                archived = _read_last_archived_entry(connection, entry_id)
                if archived is None:
                    raise
                return archived

    def pending(self, part: str | None = None) -> list[InboxEntry]:
        """Return the entries that wait for a decision, the oldest first."""
        with self._use_connection() as connection, translate_read_errors(connection):
            rows = connection.execute(
                "SELECT * FROM entries WHERE state = 'pending' AND part = coalesce(?, part) ORDER BY rowid", (part,)
            )
            return [_make_entry(row) for row in rows]

    def count_pending(self) -> dict[str, int]:
        """Return the number of entries that wait for a decision, by part."""
        with self._use_connection() as connection, translate_read_errors(connection):
            rows = connection.execute("SELECT part, count(*) FROM entries WHERE state = 'pending' GROUP BY part")
            return dict(rows.fetchall())

    def map_pending(self, part: str) -> dict[str, str]:
        """Return the id of an entry that waits for a decision for each subject that has one."""
        with self._use_connection() as connection, translate_read_errors(connection):
            rows = connection.execute("SELECT subject, id FROM entries WHERE state = 'pending' AND part = ?", (part,))
            return {row["subject"]: row["id"] for row in rows}

    def list_entries(
        self,
        state: State | None = None,
        part: str | None = None,
        before: Position | None = None,
        limit: int = 50,
        *,
        after: Position | None = None,
    ) -> EntryPage:
        """Return a page of the history: entries of a state and a part, or of all, the one that changed last first.

        `before` is `next` of the page before. Entries that had changed at the position `after` are left out.
        """
        conditions = {"state = ?": state, "part = ?": part, "changed < ?": before, "changed > ?": after}
        where = [condition for condition, value in conditions.items() if value is not None] or ["true"]
        values: list[Any] = [value for value in conditions.values() if value is not None]
        with self._use_connection() as connection, translate_read_errors(connection):
            rows = connection.execute(
                f"SELECT * FROM entries INDEXED BY entries_history WHERE {' AND '.join(where)}"  # noqa: S608 - constants
                " ORDER BY changed DESC LIMIT ?",
                (*values, limit),
            )
            found = rows.fetchall()
            return EntryPage([_make_entry(row) for row in found], found[-1]["changed"] if len(found) == limit else None)

    def beginning_with(self, start: str) -> list[InboxEntry]:
        """Return at most a hundred entries whose id starts with `start`, decided or not, the oldest first."""
        with self._use_connection() as connection, translate_read_errors(connection):
            rows = connection.execute(
                "SELECT * FROM entries WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 AND id <= ?1 || char(1114111)"
                " ORDER BY rowid LIMIT 100",
                (start,),
            )
            return [_make_entry(row) for row in rows]

    def settled(self, ids: Sequence[str]) -> list[InboxEntry]:
        """Return the entries with these ids that are decided or withdrawn."""
        with self._use_connection() as connection, translate_read_errors(connection):
            rows = connection.execute(
                "SELECT * FROM entries WHERE state <> 'pending' AND id IN (SELECT value FROM json_each(?))",
                (json.dumps(list(ids)),),
            )
            return [_make_entry(row) for row in rows]

    def missing(self, ids: Sequence[str]) -> set[str]:
        """Return the ids that have no entry."""
        with self._use_connection() as connection, translate_read_errors(connection):
            rows = connection.execute(
                "SELECT id FROM entries WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
            )
            return set(ids) - {row["id"] for row in rows}

    def decide(self, entry_id: str, decision: InboxDecision, door: str, actor: Actor | None = None) -> InboxEntry:
        """Store the decision, which is final. It is on disk when this method returns.

        `door` is the interface through which it came, and `actor` who decided, if that is known.
        Raise AlreadyDecided with the first decision, DecisionWithdrawn, DecisionNotFound, or InvalidInput if the data
        of the decision is not JSON.
        """
        unset = {"marks"} if decision.marks is None else None
        text = _encode_json(decision.model_dump(exclude=unset), label="decision")
        now = self._clock.now().isoformat()
        with self._use_connection() as connection, transaction(connection):
            entry = _read_entry(connection, entry_id)
            if entry.state == "decided":
                raise AlreadyDecided(entry)
            if entry.state == "withdrawn":
                raise DecisionWithdrawn(entry)
            connection.execute(
                "UPDATE entries SET state = 'decided', decision = ?, door = ?, decided_by = ?, decided_at = ?,"
                " actor = ?, changed = (SELECT max(changed) + 1 FROM entries) WHERE id = ?",
                (text, door, _name_decider(actor), now, actor and actor.model_dump_json(), entry_id),
            )
            self._own_changes += 1
            entry = _read_entry(connection, entry_id)
        return self._announce(entry)

    def withdraw(self, entry_id: str) -> InboxEntry:
        """Withdraw the question; a second time changes nothing. Raise AlreadyDecided or DecisionNotFound."""
        with self._use_connection() as connection, transaction(connection):
            entry = _read_entry(connection, entry_id)
            if entry.state == "decided":
                raise AlreadyDecided(entry)
            connection.execute("UPDATE entries SET state = 'withdrawn' WHERE id = ?", (entry_id,))
            self._own_changes += 1
            entry = _read_entry(connection, entry_id)
        return self._announce(entry)

    def reopen(self, entry_id: str) -> InboxEntry:
        """Delete a decision that cannot be used, so that the question waits again. Raise DecisionNotFound."""
        with self._use_connection() as connection, transaction(connection):
            _read_entry(connection, entry_id)
            connection.execute(
                "UPDATE entries SET state = 'pending', decision = NULL, door = NULL, decided_by = NULL,"
                " decided_at = NULL, actor = NULL, changed = (SELECT max(changed) + 1 FROM entries) WHERE id = ?",
                (entry_id,),
            )
            self._own_changes += 1
            entry = _read_entry(connection, entry_id)
        return self._announce(entry)

    def archive(self, entry_id: str) -> None:
        """Give a decided entry the id `ENTRY_ID:NUMBER`, so that the same question can be asked again."""
        with self._use_connection() as connection, transaction(connection):
            connection.execute(
                "UPDATE entries SET id = id || ':' || rowid WHERE id = ? AND state = 'decided'", (entry_id,)
            )
            self._own_changes += 1

    def forget(self, part: str, subject: str) -> None:
        """Delete all entries about this subject, decided or not."""
        with self._use_connection() as connection, transaction(connection):
            rows = connection.execute(
                "DELETE FROM entries WHERE part = ? AND subject = ? RETURNING id", (part, subject)
            )
            deleted = [row["id"] for row in rows]
            self._own_changes += 1
        for entry_id in deleted:
            self._feed.publish("inbox", entry_id, state="deleted", part=part, about=subject)

    def revision(self) -> tuple[int, int]:
        """Return a value that changes when any process decides, withdraws, reopens or deletes an entry.

        It is cheap: poll it to wait for many decisions, and read the entries only after a change.
        """
        with self._use_connection() as connection, translate_read_errors(connection):
            others_changes: int = connection.execute("PRAGMA data_version").fetchone()[0]
            return others_changes, self._own_changes

    async def wait_decided(
        self, entry_id: str, timeout_s: float | None = None, poll_s: float = 0.05
    ) -> InboxEntry | None:
        """Wait until any process decides or withdraws the entry, and return it; None after `timeout_s` seconds.

        Raise DecisionNotFound.
        """
        now = asyncio.get_running_loop().time
        deadline = float("inf") if timeout_s is None else now() + timeout_s
        while (entry := await asyncio.to_thread(self.get, entry_id)).state == "pending":
            remaining = deadline - now()
            if remaining <= 0:
                return None
            await asyncio.sleep(min(poll_s, remaining))
        return entry

    def close(self) -> None:
        """Close the file. The next call opens it again."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _announce(self, entry: InboxEntry) -> InboxEntry:
        self._feed.publish("inbox", entry.id, state=entry.state, part=entry.part, about=entry.subject)
        return entry

    @contextmanager
    def _use_connection(self) -> Generator[sqlite3.Connection]:
        """Yield the connection to one thread at a time.

        After DatabaseUnusable, open the file again: it may have been repaired or replaced.
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._open_connection()
                self._own_changes += 1  # the earlier state of the file is unknown
            try:
                yield self._opened
            except DatabaseUnusable:
                self._opened.close()
                self._opened = None
                raise

    def _open_connection(self) -> sqlite3.Connection:
        connection = connect_or_read(self._path, durable=True)
        try:
            migrate(connection, _MIGRATIONS)
        except BaseException:
            connection.close()
            raise
        connection.row_factory = sqlite3.Row
        return connection


class MemoryInbox(Inbox):
    """An inbox in memory, for tests and single searches."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(Path(":memory:"), clock, NullPublisher())


_CHANGED_AT = "coalesce(decided_at, created_at)"


def _number_changes(connection: sqlite3.Connection) -> None:
    """Store the order of changes, which times are not: clocks jump. Earlier versions ordered entries by time."""
    connection.execute("ALTER TABLE entries ADD COLUMN changed INTEGER NOT NULL DEFAULT 0")
    rows = connection.execute(f"SELECT rowid FROM entries ORDER BY {_CHANGED_AT}, id").fetchall()  # noqa: S608 - constants
    connection.executemany(
        "UPDATE entries SET changed = ? WHERE rowid = ?", [(number, row[0]) for number, row in enumerate(rows, 1)]
    )
    connection.execute("DROP INDEX entries_history")
    connection.execute("CREATE INDEX entries_history ON entries (changed, state, part)")


_MIGRATIONS: list[Migration] = [
    (
        "entries",
        """
        CREATE TABLE entries (
            id TEXT PRIMARY KEY, part TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, payload TEXT NOT NULL,
            created_at TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'pending', decision TEXT, door TEXT, decided_at TEXT
        );
        CREATE INDEX entries_pending ON entries (part) WHERE state = 'pending';
        """,
    ),
    (
        "decided_by",
        f"""
        ALTER TABLE entries ADD COLUMN decided_by TEXT;
        CREATE INDEX entries_history ON entries ({_CHANGED_AT}, id, state, part);
        """,
    ),
    ("actor", "ALTER TABLE entries ADD COLUMN actor TEXT"),
    ("changed", _number_changes),
]


def _read_last_archived_entry(connection: sqlite3.Connection, entry_id: str) -> InboxEntry | None:
    """Return the last entry with the id `ENTRY_ID:NUMBER`, which `archive` gave it, or None."""
    query = (
        "SELECT * FROM entries WHERE id > ?1 || ':' AND id < ?1 || ';'"  # ; follows : in the order of ids
        " AND substr(id, length(?1) + 2) NOT GLOB '*[^0-9]*' ORDER BY rowid DESC LIMIT 1"
    )
    row = connection.execute(query, (entry_id,)).fetchone()
    return _make_entry(row) if row else None


def _read_entry(connection: sqlite3.Connection, entry_id: str) -> InboxEntry:
    row = connection.execute("SELECT * FROM entries WHERE id = ?", (entry_id,)).fetchone()
    if row is None:
        waiting = connection.execute("SELECT count(*) FROM entries WHERE state = 'pending'").fetchone()[0]
        raise DecisionNotFound(entry_id, waiting)
    return _make_entry(row)


def _make_entry(row: sqlite3.Row) -> InboxEntry:
    stored = dict(row)
    del stored["changed"]
    stored["payload"] = json.loads(stored["payload"])
    stored["decision"] = stored["decision"] and json.loads(stored["decision"])
    stored["actor"] = actor = decode_actor(stored["actor"])
    if actor is not None:  # earlier versions stored the bare name, also of a program
        stored["decided_by"] = _name_decider(actor)
    return InboxEntry.model_validate(stored)


def _name_decider(actor: Actor | None) -> str | None:
    return describe_actor(actor) if actor and actor.name else None


def _encode_json(value: Any, *, label: str) -> str:
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False).encode().decode()
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            f"The {label} is not JSON.", hint="Use objects, lists, text, finite numbers, true, false and null."
        ) from None
