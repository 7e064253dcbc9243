"""What every store of universes offers, with the errors and the broadcast of changes that all share."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple, Protocol

from universe.errors import StoreUnavailable
from universe.store.high_water_mark_file import MarkFile
from universe.store.high_water_marks import Head
from universe.store.log_encoding import find_actor
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import Conflict

EntryKind = Literal["command", "continued", "restore", "reference"]
"""`continued` is a command that took effect together with the one before it. `restore` has a whole state, `reference`
the version whose state is restored, or the universe and the version that a branch starts from."""

PAGE_BYTES: Final = 32 * 1024 * 1024
"""The most bytes of a log that are read at once."""


class UniverseRecord(NamedTuple):
    """A universe without its state. The version is the number of entries in its log.

    The actors are JSON; universes of releases that did not record them have None.
    """

    id: str
    name: str
    version: int
    created_at: str
    updated_at: str
    created_by: str | None = None
    renamed_by: str | None = None
    """Who gave it its present name, if it was renamed."""


class Deletion(NamedTuple):
    """A universe that was deleted, the time, and who deleted it as JSON."""

    universe_id: str
    created_at: str
    name: str
    version: int
    deleted_at: str
    deleted_by: str


class BranchSource(NamedTuple):
    """The version of a universe that a branch starts from."""

    universe_id: str
    created_at: str
    version: int


class StoredEntry(NamedTuple):
    """One entry of a log: a command with its events, or a restored state, both as JSON, and its author.

    A restored state is in the body, compressed if it is large, or the body refers to it.

    Entries of releases that did not record authors have None; their commands withdraw no citations. Those of releases
    that recorded a name only have no `identity`.
    """

    version: int
    kind: EntryKind
    body: bytes
    events: bytes
    at: str
    digest: bytes = b""
    author: str | None = None
    identity: str | None = None
    """How the author was established, as `make_author` writes it."""

    @classmethod
    def make_with_digest(
        cls,
        universe_id: str,
        version: int,
        kind: EntryKind,
        body: bytes,
        events: bytes,
        at: str,
        author: str | None = None,
        identity: str | None = None,
    ) -> "StoredEntry":
        """Return an entry with its digest."""
        hashed = _start_hash(author, identity).copy()  # a copy takes half the time of a new hash
        hashed.update(f"{universe_id}\0{version}\0{kind}\0{at}\0{len(body)}\0".encode())
        hashed.update(body)
        hashed.update(events)
        return cls(version, kind, body, events, at, hashed.digest(), author, identity)

    @property
    def actor(self) -> Actor | None:
        """Who made the change; None if the release that wrote the entry did not record it."""
        return find_actor(self.author, self.identity)

    @property
    def is_restore(self) -> bool:
        """True if the entry replaces the whole state."""
        return self.kind in ("restore", "reference")

    def is_intact(self, universe_id: str) -> bool:
        """Return True if the entry is as it was written."""
        version, kind, body, events, at, _, author, identity = self
        return self == StoredEntry.make_with_digest(universe_id, version, kind, body, events, at, author, identity)


@lru_cache(maxsize=1_000)
def _start_hash(author: str | None, identity: str | None) -> "hashlib.blake2b":
    if author is None and identity is None:
        return hashlib.blake2b(digest_size=16)
    if identity is None:
        return hashlib.blake2b(_encode_with_length(author), digest_size=16, person=b"author")
    return hashlib.blake2b(_encode_with_length(author) + _encode_with_length(identity), digest_size=16, person=b"actor")


def _encode_with_length(text: str | None) -> bytes:
    written = (text or "").encode()
    return len(written).to_bytes(4, "big") + written


class StoredSnapshot(NamedTuple):
    """The state after `version` entries, as `encode_state` encodes it."""

    version: int
    state: bytes
    digest: bytes

    @classmethod
    def make_with_digest(cls, universe_id: str, version: int, state: bytes) -> "StoredSnapshot":
        """Return a snapshot with its digest."""
        return cls(version, state, cls.compute_digest(universe_id, version, state))

    @staticmethod
    def compute_digest(universe_id: str, version: int, state: bytes) -> bytes:
        """Return the digest of a snapshot's content."""
        return hashlib.blake2b(b"%b\0%d\0%b" % (universe_id.encode(), version, state), digest_size=16).digest()

    def is_intact(self, universe_id: str) -> bool:
        """Return True if the snapshot is as it was written."""
        return self.digest == self.compute_digest(universe_id, self.version, self.state)


class KeyUse(NamedTuple):
    """The use of an idempotency key: the digest of the request, and its first and last log entry."""

    key: str
    request: bytes
    first: int
    last: int


class LogChange(NamedTuple):
    """A change of a universe by any process: its new version, or None if the universe was deleted."""

    universe_id: str
    version: int | None


class Superseded(Exception):
    """An append was too late: the log is already at another version."""

    def __init__(self, version: int) -> None:
        super().__init__(f"the log is at version {version}")
        self.version = version


class BranchesDepend(Exception):
    """A universe cannot be deleted yet, because branches need its log."""


class Store(Protocol):
    """A store of universes. A change is durable when its method returns, even if the process is killed.

    Every method raises StoreUnavailable when the database does not answer.
    """

    marks: MarkFile | None
    """The file outside the database with the last version of each log; None for a store that is not durable."""

    async def open(self) -> None:
        """Open the store for use."""
        ...

    async def close(self) -> None:
        """Close the store and end all iterations over `watch_changes`."""
        ...

    async def ping(self) -> None:
        """Raise StoreUnavailable unless the database can be read and written."""
        ...

    async def create(
        self, record: UniverseRecord, entries: Sequence[StoredEntry] = (), *, source: BranchSource | None = None
    ) -> None:
        """Add a universe; a branch with its source. Raise Conflict if a universe with this id exists.

        Raise UniverseNotFound if the source does not exist.
        """
        ...

    async def rename(self, universe_id: str, name: str, at: str, by: str | None = None) -> bool:
        """Rename a universe at a time, by an actor as JSON. Return False if there is no such universe."""
        ...

    async def delete(self, universe_id: str, at: str = "", by: str | None = None) -> bool:
        """Delete a universe with its log, and record the time and the actor. Return False if there is no such universe.

        Raise BranchesDepend while a branch of it has no snapshot of its version 1.
        """
        ...

    async def read_record(self, universe_id: str) -> UniverseRecord | None:
        """Return the record of a universe, or None."""
        ...

    async def list_deletions(self, *, limit: int) -> list[Deletion]:
        """Return the universes that an actor deleted, the last one first."""
        ...

    async def list_records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[UniverseRecord]:
        """Return records, newest first; with `before`, a creation time and an id, those before them."""
        ...

    async def append(
        self,
        universe_id: str,
        expected_version: int,
        entries: Sequence[StoredEntry],
        key_uses: Sequence[KeyUse] = (),
        *,
        created_at: str | None = None,
    ) -> None:
        """Add all of these entries, the first of which has the version `expected_version` + 1, or none.

        Raise Superseded if the log is at another version. Raise UniverseNotFound if there is no such universe, or only
        one of the same id that was made at another time than `created_at`.
        """
        ...

    async def read_entries(
        self, universe_id: str, *, after: int, limit: int, upto: int | None = None
    ) -> list[StoredEntry]:
        """Return entries with versions above `after`, in order, without a check for damage.

        Return fewer than `limit` if they are large, but at least one if there is one.
        """
        ...

    async def find_last_reference(self, universe_id: str, *, after: int, upto: int) -> StoredEntry | None:
        """Return the last entry of the kind `reference` above `after` and up to `upto`; None if there is none."""
        ...

    async def find_change_start(self, universe_id: str, version: int) -> StoredEntry | None:
        """Return the last entry up to a version that is not `continued`, without its body; None if there is none."""
        ...

    async def list_dependent_branches(self, universe_id: str) -> list[str]:
        """Return the ids of the branches that need the log of this universe."""
        ...

    async def find_key_use(self, universe_id: str, key: str) -> KeyUse | None:
        """Return the use of an idempotency key, or None."""
        ...

    async def find_latest_snapshot(self, universe_id: str, upto: int | None = None) -> StoredSnapshot | None:
        """Return the latest snapshot, or the latest at or before the version `upto`; None if there is none."""
        ...

    async def list_snapshot_versions(self, universe_id: str) -> list[int]:
        """Return the versions of the snapshots of a universe, in order."""
        ...

    async def put_snapshot(
        self,
        universe_id: str,
        snapshot: StoredSnapshot,
        versions_to_keep: Sequence[int] = (),
        *,
        created_at: str | None = None,
    ) -> None:
        """Add a snapshot and, if `versions_to_keep` names any, delete all others but those. Skip another universe.

        A branch with a snapshot of version 1 does not need the log of its source any more.
        """
        ...

    async def list_log_heads(self) -> list[Head]:
        """Return the last entry of every log."""
        ...

    def watch_changes(self) -> AsyncIterator[LogChange]:
        """Yield changes by all processes from now on, until the store is closed. None is lost; some may come twice."""
        ...


class ChangeBroadcast:
    """Changes of a store, sent to every current iteration over `watch_changes`."""

    def __init__(self) -> None:
        self._queues: set[asyncio.Queue[LogChange | None]] = set()

    def publish(self, change: LogChange) -> None:
        """Send a change to every listener."""
        for queue in self._queues:
            queue.put_nowait(change)

    def close(self) -> None:
        """End all iterations over `watch_changes`."""
        for queue in self._queues:
            queue.put_nowait(None)

    async def watch_changes(self) -> AsyncIterator[LogChange]:
        """Yield changes from now on until `close` is called."""
        queue: asyncio.Queue[LogChange | None] = asyncio.Queue()
        self._queues.add(queue)
        try:
            while (change := await queue.get()) is not None:
                yield change
        finally:
            self._queues.discard(queue)


def make_exists_error(universe_id: str) -> Conflict:
    """Return the error for a universe whose id is taken."""
    return Conflict(
        f"A universe with the id '{universe_id}' exists already.", hint="Choose another id.", universeId=universe_id
    )


def make_closed_error() -> StoreUnavailable:
    """Return the error for the use of a store that is not open."""
    return StoreUnavailable("The store is closed.", hint="Open it first.")
