"""From a log to a state: snapshot and tail, or every entry from the first."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import orjson

from universe.domain.mirror import Mirror
from universe.domain.provenance import Origin
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, Plain, State, Touched, trusted_state
from universe.errors import LogDamaged
from universe.store.port import Entry, Snapshot, Store

PAGE: Final = 1_000
_INLINE_BYTES: Final = 50_000
"""What is decoded and replayed on the loop; more goes to a thread."""


class Replica:
    """A universe as its log tells it up to a version."""

    def __init__(self, universe_id: str, *, state: State = EMPTY, plain: Plain | None = None, version: int = 0) -> None:
        self.id = universe_id
        self.state = state
        self.version = version
        self.mirror = Mirror(plain or {})

    def take(self, entries: Sequence[Entry]) -> None:
        """Follow these entries. Raises LogDamaged, and is then at the last entry before the damage."""
        for entry in entries:
            if entry.version != self.version + 1:
                raise _damaged(self.id, self.version + 1, "is missing")
            if not entry.is_whole(self.id):
                raise _damaged(self.id, entry.version, "is not what was written")
            body = orjson.loads(entry.body)
            if entry.kind == "restore":
                self.restore(body["state"], entry.version)
                continue
            origin = None if entry.author is None else Origin(entry.version, entry.author)
            outcome = reduce(self.state, body, origin)
            if outcome.is_refused:
                raise _damaged(self.id, entry.version, "cannot follow on the one before it")
            self.follow(outcome.state, entry.version, outcome.touched)

    def follow(self, state: State, version: int, touched: Touched) -> None:
        """Move on to a state in which only `touched` is different."""
        self.state, self.version = state, version
        self.mirror.follow(state, touched)

    def restore(self, plain: Plain, version: int) -> None:
        """Move on to another state altogether, which belongs to the replica from now on."""
        self.state, self.version = trusted_state(plain), version
        self.mirror.reset(plain)


async def rebuild(store: Store, universe_id: str, upto: int | None = None) -> Replica:
    """The universe at a version, or the latest. Raises LogDamaged."""
    if upto is None:
        record = await store.record(universe_id)
        upto = record.version if record else 0
    snapshot = await store.snapshot(universe_id, upto)
    replica = Replica(universe_id)
    if snapshot is not None and snapshot.is_whole(universe_id):  # if it is not, the log has it all
        replica = await offloaded(len(snapshot.state), _from_snapshot, universe_id, snapshot)
    async for entries in pages(store, universe_id, after=replica.version, upto=upto):
        await offloaded(sum(len(entry.body) for entry in entries), replica.take, entries)
    if replica.version < upto:
        raise _damaged(universe_id, replica.version + 1, "is missing")
    return replica


async def pages(
    store: Store, universe_id: str, *, after: int = 0, upto: int | None = None
) -> AsyncIterator[list[Entry]]:
    """The entries after a version, some at a time."""
    while upto is None or after < upto:
        entries = await store.entries(universe_id, after=after, limit=PAGE, upto=upto)
        if not entries:
            return
        yield entries
        after = entries[-1].version


async def offloaded(size: int, function: Any, *arguments: Any) -> Any:
    """What `function` returns; if there is much to do, it is done in a thread."""
    if size < _INLINE_BYTES:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


def _from_snapshot(universe_id: str, snapshot: Snapshot) -> Replica:
    plain = orjson.loads(snapshot.state)
    return Replica(universe_id, state=trusted_state(plain), plain=plain, version=snapshot.version)


def _damaged(universe_id: str, sequence: int, problem: str) -> LogDamaged:
    return LogDamaged(
        f"Entry {sequence} in the log of universe {universe_id} {problem}.",
        hint=f"Versions up to {sequence - 1} can still be read (version={sequence - 1}) and branched from; "
        "`universe verify` lists all damage.",
        universeId=universe_id,
        sequence=sequence,
    )
