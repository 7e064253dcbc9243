"""What the service asks of a store, and the values that go in and out of it."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from typing import Final, Literal, NamedTuple, Protocol

from universe.store.mark_file import MarkFile
from universe.store.marks import Head

EntryKind = Literal["command", "continued", "restore"]
"""`continued` is a command that took effect together with the one before it."""

PAGE_BYTES: Final = 32 * 1024 * 1024
"""How much is read from a log at once."""


class Record(NamedTuple):
    """A universe without its state. The version is the number of entries in its log."""

    id: str
    name: str
    version: int
    created_at: str
    updated_at: str


class Entry(NamedTuple):
    """One entry of a log: a command with its events, or a state that was put back, both as JSON, and its author.

    Entries of releases that did not record authors have None; their commands withdraw no citations.
    """

    version: int
    kind: EntryKind
    body: bytes
    events: bytes
    at: str
    digest: bytes = b""
    author: str | None = None

    @classmethod
    def sealed(
        cls,
        universe_id: str,
        version: int,
        kind: EntryKind,
        body: bytes,
        events: bytes,
        at: str,
        author: str | None = None,
    ) -> "Entry":
        """Return an entry with its digest."""
        entry = cls(version, kind, body, events, at, author=author)
        return entry._replace(digest=entry.digest_for(universe_id))

    def digest_for(self, universe_id: str) -> bytes:
        """Return the digest that the entry has if nothing of it has changed since it was written."""
        head = f"{universe_id}\0{self.version}\0{self.kind}\0{self.at}\0{len(self.body)}\0".encode()
        parts = (head, self.body, self.events)
        if self.author is None:
            return hashlib.blake2b(b"".join(parts), digest_size=16).digest()
        author = self.author.encode()
        length = len(author).to_bytes(4, "big")
        return hashlib.blake2b(b"".join((length, author, *parts)), digest_size=16, person=b"author").digest()

    def is_whole(self, universe_id: str) -> bool:
        return self.digest == self.digest_for(universe_id)


class Snapshot(NamedTuple):
    """The state after `version` entries, as JSON."""

    version: int
    state: bytes
    digest: bytes

    @staticmethod
    def digest_of(universe_id: str, version: int, state: bytes) -> bytes:
        return hashlib.blake2b(b"%b\0%d\0%b" % (universe_id.encode(), version, state), digest_size=16).digest()

    def is_whole(self, universe_id: str) -> bool:
        return self.digest == self.digest_of(universe_id, self.version, self.state)


class KeyUse(NamedTuple):
    """What an idempotency key was used for: the digest of the request, and the entries it made."""

    key: str
    request: bytes
    first: int
    last: int


class Change(NamedTuple):
    """Somebody, perhaps in another process, brought a universe to this version; None if it is gone."""

    universe_id: str
    version: int | None


class Superseded(Exception):
    """An append that came too late: the log is at another version already."""

    def __init__(self, version: int) -> None:
        super().__init__(f"the log is at version {version}")
        self.version = version


class Store(Protocol):
    """Keeps universes. What a method has returned from survives the end of the process at any instant.

    Every method raises StoreUnavailable when the database does not answer.
    """

    marks: MarkFile | None
    """The file, outside the database, that says how far each log was written; None if nothing outlasts the store."""

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def ping(self) -> None:
        """Raises StoreUnavailable unless the database can be read and written."""
        ...

    async def create(self, record: Record, entries: Sequence[Entry] = ()) -> None:
        """Raises Conflict if there is a universe of this id."""
        ...

    async def rename(self, universe_id: str, name: str, at: str) -> bool:
        """Whether there was such a universe."""
        ...

    async def delete(self, universe_id: str) -> bool:
        """Whether there was such a universe."""
        ...

    async def record(self, universe_id: str) -> Record | None: ...

    async def records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[Record]:
        """The newest first; those after the one made at `before[0]` with the id `before[1]`."""
        ...

    async def append(
        self,
        universe_id: str,
        expected: int,
        entries: Sequence[Entry],
        keys: Sequence[KeyUse] = (),
        *,
        made_at: str | None = None,
    ) -> None:
        """Add these entries, the first of which has the version `expected` + 1; all of them or none.

        Raises Superseded if the log is at another version, UniverseNotFound if there is no such universe, or only one
        of the same id that was made at another time than `made_at`.
        """
        ...

    async def entries(self, universe_id: str, *, after: int, limit: int, upto: int | None = None) -> list[Entry]:
        """Entries with versions above `after`, in order. None is checked for damage here.

        Where they are large there are fewer than asked for, but always one if there is any.
        """
        ...

    async def key(self, universe_id: str, key: str) -> KeyUse | None: ...

    async def snapshot(self, universe_id: str, upto: int | None = None) -> Snapshot | None:
        """The latest snapshot, or the latest at or before a version."""
        ...

    async def snapshot_versions(self, universe_id: str) -> list[int]: ...

    async def put_snapshot(
        self, universe_id: str, snapshot: Snapshot, keep: Sequence[int] = (), *, made_at: str | None = None
    ) -> None:
        """Add a snapshot and, if `keep` names any, drop all others but those. Nothing if the universe is another."""
        ...

    async def heads(self) -> list[Head]:
        """Return the last entry of every log."""
        ...

    def changes(self) -> AsyncIterator[Change]:
        """Changes by anybody, from now on, for as long as the store is open. Some may be told twice, none is lost."""
        ...
